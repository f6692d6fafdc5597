import { renderSVG } from 'uqr'
import * as auth from '../../service/auth.js'
import * as identities from '../../service/identities.js'
import * as service from '../../service/profile.js'
import * as sessions from '../../service/sessions.js'
import * as totp from '../../service/totp.js'
import { within } from '../kit/addresses.js'
import { action, page, Redirect, type View } from '../kit/page.js'
import { AnswerTitle } from '../parts/answertitle.js'
import { languageGiven } from './auth.js'
import { Language, Name, Profile, Unverified } from './profilesections.js'
import { Password, SecondFactor, Sessions, Ways } from './signinsections.js'
import { Field, Form, Hidden, Submit, Summary } from '../parts/form.js'

/** Name, password, language, second factor and sessions of whoever is signed in. */
export const settings = page({
  cache: 'never',
  signedIn: true,
  isUnlisted: true,
  forms: [auth.verify],
  async load(view) {
    const { sessions: open } = await view.call(sessions.list, {})
    const { isEnabled, recoveryCodesLeft, isNeeded } = await view.call(totp.status, {})
    const { identities: ways } = await view.call(identities.list, {})
    const { user: shows } = await view.call(service.profile, {})
    return { sessions: open, ways, shows, codesLeft: isEnabled ? recoveryCodesLeft : undefined, isNeeded }
  },
  title: ({ t }) => t('settings.title'),
  show: (view, { sessions: open, ways, shows, codesLeft, isNeeded }) => (
    <div class="narrow">
      <h1>{view.t('settings.title')}</h1>
      <Summary view={view} />
      <Unverified view={view} />
      <Name view={view} />
      <Language view={view} />
      <Profile view={view} shows={shows} />
      <Password view={view} />
      <Ways view={view} ways={ways} />
      <SecondFactor view={view} codesLeft={codesLeft} isNeeded={isNeeded} />
      <Sessions view={view} open={open} />
      <section>
        <h2>{view.t('notifications.title')}</h2>
        <p class="next">
          <a href={view.href('/settings/notifications')}>{view.t('ways.title')}</a>
        </p>
      </section>
      <section>
        <h2>{view.t('settings.data')}</h2>
        <p class="next">
          <a href={view.href('/settings/data')}>{view.t('settings.download')}</a>
        </p>
        <p class="next">
          <a class="danger" href={view.href('/settings/delete')}>
            {view.t('leave.title')}
          </a>
        </p>
      </section>
    </div>
  ),
})

const again = async () => settings
const saved = (): { to: string; flash: 'saved' } => ({ to: '/settings', flash: 'saved' })

export const rename = action({
  operation: service.updateProfile,
  page: again,
  input: (_view, { name = '' }) => ({ name }),
  done: saved,
})

/** The profile settings of the form. Browsers do not send unticked boxes. */
export const changeProfile = action({
  operation: service.updateProfile,
  page: again,
  input: (_view, { showProfile, showVotes, showComments }) => ({
    showProfile: showProfile === 'true',
    showVotes: showVotes === 'true',
    showComments: showComments === 'true',
  }),
  done: saved,
})

export const changePassword = action({
  operation: service.changePassword,
  page: again,
  input: (_view, { currentPassword, password }) => ({ currentPassword, password }),
  done: () => ({ to: '/settings', flash: 'passwordSet' }),
})

/** To the own address: who has no password proves by mail who they are. */
export const sendPasswordLink = action({
  operation: auth.resetPassword,
  page: again,
  input: ({ viewer }) => ({ email: viewer?.email }),
  done: () => ({ to: '/settings', flash: 'mailSent' }),
})

export const removeWay = action({
  operation: identities.unlink,
  page: again,
  input: ({ params }) => ({ identityId: params.identity }),
  done: () => ({ to: '/settings', flash: 'wayRemoved' }),
})

export const sendVerification = action({
  operation: auth.verify,
  page: again,
  input: () => ({}),
  done: () => ({ to: '/settings', flash: 'mailSent' }),
})

export const endSession = action({
  operation: sessions.revoke,
  page: again,
  input: ({ params }) => ({ sessionId: params.session }),
  done: () => ({ to: '/settings', flash: 'sessionEnded' }),
})

export const endSessions = action({
  operation: sessions.revokeAll,
  page: again,
  input: () => ({}),
  done: () => ({ to: '/settings', flash: 'sessionEnded' }),
})

/** The code to scan is shown once; without the app's code nothing has changed. */
export const beginTotp = action({
  operation: totp.begin,
  page: again,
  input: () => ({}),
  done: (view, made) => ({
    to: '/settings',
    title: view.t('settings.totp'),
    show: <TotpSetup view={view} {...made} />,
  }),
})

function TotpSetup({ view, secret, uri }: { view: View; secret: string; uri: string }) {
  const { t } = view
  return (
    <div class="narrow">
      <AnswerTitle view={view}>{t('settings.totp')}</AnswerTitle>
      <Summary view={view} />
      <p>{t('totp.scan')}</p>
      <div class="qr" dangerouslySetInnerHTML={{ __html: renderSVG(uri) }} />
      <p>
        {t('totp.type')}
        <br />
        <code>{secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code>
      </p>
      <Form view={view} to="/settings/totp/enable">
        <Hidden name="secret" value={secret} />
        <Hidden name="uri" value={uri} />
        <Field
          view={view}
          of={totp.enable}
          name="code"
          label={t('field.code')}
          required
          autocomplete="one-time-code"
          inputMode="numeric"
        />
        <Submit>{t('settings.totpEnable')}</Submit>
      </Form>
    </div>
  )
}

/** A longer one fits in no QR code, and is none of ours. */
const MAX_URI = 1500

/** Shown again after a wrong code. The form carries the code to scan, which only this person was shown. */
const totpAgain = page({
  cache: 'never',
  signedIn: true,
  isUnlisted: true,
  async load(view) {
    const { secret, uri } = view.form.values
    if (!secret || !uri?.startsWith('otpauth://') || uri.length > MAX_URI) throw new Redirect('/settings')
    return { secret, uri }
  },
  title: ({ t }) => t('settings.totp'),
  show: (view, data) => <TotpSetup view={view} {...data} />,
})

/** They are shown once. */
const codesShown = (view: View, { recoveryCodes }: { recoveryCodes: string[] }) => ({
  to: '/settings',
  title: view.t('totp.codes'),
  show: (
    <div class="narrow">
      <AnswerTitle view={view}>{view.t('totp.codes')}</AnswerTitle>
      <p>{view.t('totp.codesHint')}</p>
      <ul class="codes">
        {recoveryCodes.map((code) => (
          <li>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <a class="button primary" href={view.href('/settings')}>
        {view.t('totp.done')}
      </a>
    </div>
  ),
})

export const enableTotp = action({
  operation: totp.enable,
  page: async () => totpAgain,
  input: (_view, { code }) => ({ code }),
  done: codesShown,
})

export const newCodes = action({
  operation: totp.recovery,
  page: again,
  input: (_view, { code }) => ({ code }),
  done: codesShown,
})

export const disableTotp = action({
  operation: totp.disable,
  page: again,
  input: (_view, { code }) => ({ code }),
  done: saved,
})

/** Of the account. The browser keeps it after signing out. */
export const changeLanguage = action({
  operation: service.updateProfile,
  page: again,
  input: (_view, { language: chosen = '' }) => ({ language: chosen }),
  done: (_view, { user }, form) => {
    const back = within(form.to)
    return { ...(back === undefined ? saved() : { to: back }), language: user.language ?? null }
  },
})

/** Of visitors: it changes no data, but a cookie of this browser. */
export const language = action({
  operation: null,
  input: () => ({}),
  done(_view, _output, form) {
    const chosen = languageGiven(form)
    return { to: within(form.to) ?? '/', ...(chosen !== undefined && { language: chosen }) }
  },
})
