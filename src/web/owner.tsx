import * as service from '../service/owner.js'
import { action, page, type View } from './lib/page.js'
import { Empty } from './parts/empty.js'
import { Form, Hidden, Submit, Summary } from './parts/form.js'

const tokenOf = (view: View): string => view.form.values.token ?? view.query.token ?? ''

/** Opening the page uses no token: a program that previews links follows it too. */
export const linkPage = page({
  isUnlisted: true,
  isSecret: true,
  load: async () => ({}),
  title: ({ t }) => t('login.title'),
  show: (view) =>
    tokenOf(view) === '' || view.form.error?.code === 'INVALID_TOKEN' ? (
      <Empty title={view.t(tokenOf(view) === '' ? 'token.broken' : 'token.spent')} isPage>
        <p>{view.t('link.brokenNext')}</p>
        <a class="button primary" href={view.href('/login')}>
          {view.t('login.title')}
        </a>
      </Empty>
    ) : (
      <div class="narrow">
        <h1>{view.t('login.title')}</h1>
        <Summary view={view} />
        <p>{view.t('link.explained')}</p>
        <Form view={view} to="/login/link">
          <Hidden name="token" value={tokenOf(view)} />
          <Submit>{view.t('login.send')}</Submit>
        </Form>
      </div>
    ),
})

export const useLink = action({
  operation: service.useLink,
  page: async () => linkPage,
  input: (_view, { token }) => ({ token }),
  done: (_view, { user }) => ({ to: '/', session: user.authToken }),
})
