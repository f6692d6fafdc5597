import * as service from '../../service/notificationsettings.js'
import { isolated } from '../kit/bidi.js'
import { action, page } from '../kit/page.js'
import { Form, Submit, Summary } from '../parts/form.js'
import { ChoiceFields, choicesIn } from '../parts/notificationways.js'
import { Time } from '../parts/time.js'

const PATH = '/settings/notifications'

/** How whoever is signed in is told of news. */
export const settings = page({
  cache: 'actor',
  signedIn: true,
  isUnlisted: true,
  load: (view) => view.call(service.settings, {}),
  title: ({ t }) => t('ways.title'),
  show(view, { settings: own }) {
    const { t, href, viewer } = view
    return (
      <div class="narrow wider">
        <h1>{t('ways.title')}</h1>
        <Summary view={view} />
        {own.mailStopped ? (
          <section class="note">
            <p>{t('ways.stopped', { email: isolated(viewer?.email) })}</p>
            <blockquote dir="auto">{own.mailStopped.reason}</blockquote>
            <p class="facts">
              {t('ways.since')} <Time view={view} at={own.mailStopped.since} />
            </p>
            <p>{t('ways.stoppedNext')}</p>
          </section>
        ) : null}
        {viewer?.isVerified ? null : <p class="note">{t('ways.unverified')}</p>}
        <Form view={view} to={PATH}>
          <ChoiceFields view={view} choices={own} />
          <div class="buttons">
            <Submit>{t('form.save')}</Submit>
            <a class="button plain" href={href('/notifications')}>
              {t('notifications.title')}
            </a>
          </div>
        </Form>
      </div>
    )
  },
})

export const save = action({
  operation: service.update,
  page: async () => settings,
  input: (_view, form) => choicesIn(form),
  done: () => ({ to: PATH, flash: 'saved' }),
})
