import * as service from '../../service/account.js'
import { action, page, type View } from '../kit/page.js'
import type { Download } from '../kit/routes.js'
import { PasswordField } from '../parts/credentials.js'
import { linkOf, tokenOf } from './mailtokens.js'
import { Choice, Form, Hidden, Submit, Summary } from '../parts/form.js'
import { Empty } from '../parts/empty.js'

/** What the site stores about whoever is signed in. */
export const data: Download = { operation: service.exportData, input: () => ({}) }

export const deletePage = page({
  cache: 'never',
  signedIn: true,
  isUnlisted: true,
  load: async (view) => ({
    token: tokenOf(view),
    isBroken: tokenOf(view) !== '' && (await linkOf(view, 'deletion')).isBroken,
  }),
  title: ({ t }) => t('leave.title'),
  show(view, { token, isBroken }) {
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
    if (token === '' && !viewer.hasPassword) return <ByLink view={view} />
    if (isBroken)
      return (
        <Empty title={t('token.spent')} isPage>
          <p>{t('leave.spentNext')}</p>
          <a class="button primary" href={href('/settings/delete')}>
            {t('leave.title')}
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
          {token === '' ? (
            <PasswordField view={view} of={service.remove} label={t('field.currentPassword')} />
          ) : (
            <Hidden name="deletionToken" value={token} />
          )}
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

/** Who has no password proves by mail who they are. */
const ByLink = ({ view }: { view: View }) => (
  <div class="narrow">
    <h1>{view.t('leave.title')}</h1>
    <Summary view={view} />
    <p>{view.t('leave.explained')}</p>
    <p>{view.t('leave.byLink')}</p>
    <Form view={view} to="/settings/delete/link">
      <Submit kind="plain">{view.t('leave.sendLink')}</Submit>
    </Form>
  </div>
)

export const requestDeletion = action({
  operation: service.requestDeletion,
  page: async () => deletePage,
  input: () => ({}),
  done: () => ({ to: '/settings/delete', flash: 'mailSent' }),
})

export const remove = action({
  operation: service.remove,
  page: async () => deletePage,
  input: (_view, { password, deletionToken, posts }) => ({
    ...(deletionToken ? { deletionToken } : { password }),
    ...(posts && { posts }),
  }),
  done: () => ({ to: '/', session: null, flash: 'accountDeleted' }),
})
