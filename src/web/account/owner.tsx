import * as service from '../../service/owner.js'
import { linkOf, tokenOf } from './mailtokens.js'
import { action, page } from '../kit/page.js'
import { Empty } from '../parts/empty.js'
import { Form, Hidden, Submit, Summary } from '../parts/form.js'

export const linkPage = page({
  cache: 'never',
  isUnlisted: true,
  load: (view) => linkOf(view, 'signIn'),
  title: ({ t }) => t('login.title'),
  show: (view, { isBroken }) =>
    isBroken ? (
      <Empty title={view.t(tokenOf(view) === '' ? 'token.broken' : 'token.spent')} isPage>
        <p>{view.t('link.brokenNext')}</p>
        <a class="button primary" href={view.href('/login')}>
          {view.t('login.title')}
        </a>
      </Empty>
    ) : (
      <div class="narrow card">
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
  done: () => ({ to: '/' }),
})
