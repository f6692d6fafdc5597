import * as service from '../../service/account.js'
import { action, page } from '../kit/page.js'
import type { Download } from '../kit/routes.js'
import { PasswordField } from '../parts/credentials.js'
import { Choice, Form, Submit, Summary } from '../parts/form.js'
import { Empty } from '../parts/empty.js'

/** What the site stores about whoever is signed in. */
export const data: Download = { operation: service.exportData, input: () => ({}) }

export const deletePage = page({
  cache: 'actor',
  signedIn: true,
  isUnlisted: true,
  load: async () => ({}),
  title: ({ t }) => t('leave.title'),
  show(view) {
    const { t, href, viewer } = view
    if (!viewer?.may.includes('delete'))
      return (
        <Empty title={t('leave.title')} isPage>
          <p>{t('leave.owner')}</p>
          <a class="button plain" href={href('/settings')}>
            {t('settings.title')}
          </a>
        </Empty>
      )
    return (
      <div class="narrow">
        <h1>{t('leave.title')}</h1>
        <Summary view={view} />
        <p>{t('leave.explained')}</p>
        <p>
          <a href={href('/settings/data')}>{t('leave.downloadFirst')}</a>
        </p>
        <Form view={view} to="/settings/delete">
          <Choice
            view={view}
            name="posts"
            label={t('leave.posts')}
            options={[
              { value: 'keep', text: t('leave.keep') },
              { value: 'delete', text: t('leave.delete') },
            ]}
          />
          <PasswordField view={view} of={service.remove} label={t('field.currentPassword')} />
          <div class="buttons">
            <Submit kind="danger">{t('leave.send')}</Submit>
            <a class="button plain" href={href('/settings')}>
              {t('form.cancel')}
            </a>
          </div>
        </Form>
      </div>
    )
  },
})

export const remove = action({
  operation: service.remove,
  page: async () => deletePage,
  input: (_view, { password, posts }) => ({ password, ...(posts && { posts }) }),
  done: () => ({ to: '/', session: null, flash: 'accountDeleted' }),
})
