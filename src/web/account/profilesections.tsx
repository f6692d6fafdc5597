import { AUTO, LANGUAGES, languageName } from '../../core/language.js'
import { links } from '../../core/pagelinks.js'
import * as auth from '../../service/auth.js'
import * as service from '../../service/profile.js'
import type { View } from '../kit/page.js'
import { Check, Choice, Field, Form, Submit } from '../parts/form.js'
import { Refused } from '../parts/refused.js'

/** The visibility settings of a profile. */
interface Shows {
  username: string
  showProfile: boolean
  showVotes: boolean
  showComments: boolean
}

/** Asks the person to confirm their address. */
export function Unverified({ view }: { view: View }) {
  const { t, viewer } = view
  if (viewer?.isVerified) return null
  return view.refusals.has(auth.verify.id) ? (
    <Refused view={view} of={auth.verify} />
  ) : (
    <section class="note">
      <p>{t('settings.unverified', { email: viewer?.email ?? '' })}</p>
      <Form view={view} to="/settings/verify">
        <Submit kind="plain">{t('settings.sendAgain')}</Submit>
      </Form>
    </section>
  )
}

/** The form for the name. It shows the address, which cannot be changed here. */
export function Name({ view }: { view: View }) {
  const { t, viewer } = view
  return (
    <section>
      <h2>{t('settings.account')}</h2>
      <p class="soft">{viewer?.email}</p>
      <Form view={view} to="/settings/name">
        <Field
          view={view}
          of={service.updateProfile}
          name="name"
          label={t('field.name')}
          required
          value={viewer?.name}
          autocomplete="nickname"
        />
        <Submit>{t('form.save')}</Submit>
      </Form>
    </section>
  )
}

/** The language of pages and mails. */
export function Language({ view }: { view: View }) {
  const { t, viewer } = view
  return (
    <section>
      <h2>{t('settings.language')}</h2>
      <Form view={view} to="/settings/language">
        <Choice
          view={view}
          name="language"
          label={t('settings.languageOf')}
          value={viewer?.language ?? AUTO}
          options={[
            { value: AUTO, text: t('settings.languageAuto') },
            ...LANGUAGES.map((code) => ({ value: code, text: languageName(code) })),
          ]}
        />
        <Submit>{t('form.save')}</Submit>
      </Form>
    </section>
  )
}

/** The form for the visibility of the profile. */
export function Profile({ view, shows }: { view: View; shows: Shows }) {
  const { t, href } = view
  return (
    <section id="profile">
      <h2>{t('settings.profile')}</h2>
      <p class="soft">{t('settings.profileHint')}</p>
      <Form view={view} to="/settings/profile">
        <Check view={view} name="showProfile" label={t('settings.showProfile')} checked={shows.showProfile} />
        <Check view={view} name="showVotes" label={t('settings.showVotes')} checked={shows.showVotes} />
        <Check view={view} name="showComments" label={t('settings.showComments')} checked={shows.showComments} />
        <div class="buttons">
          <Submit>{t('form.save')}</Submit>
          <a class="button plain" href={href(links.profile(shows.username))}>
            {t('settings.seeProfile')}
          </a>
        </div>
      </Form>
    </section>
  )
}
