import { NOTIFICATION_TOPICS } from '../../core/notificationways.js'
import * as service from '../../service/notificationsettings.js'
import { action, page } from '../kit/page.js'
import { Form, Submit, Summary } from '../parts/form.js'
import { FormsScript } from '../parts/formsscript.js'
import { WaysByTopic } from '../parts/notificationways.js'
import { Top } from '../parts/top.js'
import { Version } from '../parts/version.js'

const PATH = '/dashboard/settings/notifications'

/** How people are told of news who did not choose. */
export const notifications = page({
  cache: 'never',
  section: 'notifications',
  load: (view) => view.call(service.site, {}),
  title: ({ t }) => t('notifications.title'),
  show(view, { ways, version }) {
    const { t } = view
    return (
      <>
        <Top view={view} title={t('notifications.title')} />
        <p>{t('ways.siteExplained')}</p>
        <FormsScript view={view} />
        <Summary view={view} />
        <Form view={view} to={PATH} class="settings-form" data-unsaved="">
          <Version view={view} version={version} fresh={PATH} />
          <WaysByTopic view={view} ways={ways} />
          <Submit>{t('form.save')}</Submit>
        </Form>
      </>
    )
  },
})

export const save = action({
  operation: service.updateSite,
  page: async () => notifications,
  input: (_view, form) => Object.fromEntries(NOTIFICATION_TOPICS.flatMap((topic) => (form[topic] === undefined ? [] : [[topic, form[topic]]]))), // prettier-ignore
  done: () => ({ to: PATH, flash: 'saved' }),
})
