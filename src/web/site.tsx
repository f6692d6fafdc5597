import * as boards from '../service/boards.js'
import * as service from '../service/site.js'
import type { ErrorPage } from './lib/routes.js'
import { action, page, Redirect, type View } from './lib/page.js'
import { signInFrom } from './lib/addresses.js'
import { Empty } from './parts/empty.js'
import { errorText, Field, Form, Submit, Summary } from './parts/form.js'

/** What went wrong, and where to go on. */
export const error: ErrorPage = {
  title: ({ t }, { status }) => (status === 404 ? t('error.missing') : t('error.title')),
  show(view, failure) {
    const { t, href, viewer, isAlone } = view
    const { status, code } = failure
    if (isAlone) return <Empty title={t('error.title')} children={<p>{errorText(view, failure)}</p>} isPage />
    return (
      <Empty title={status === 404 ? t('error.missing') : t('error.title')} isPage>
        <p>{status === 404 ? t('error.missingNext') : errorText(view, failure)}</p>
        {code === 'EMAIL_NOT_VERIFIED' ? (
          <a class="button primary" href={href('/settings')}>
            {t('settings.sendAgain')}
          </a>
        ) : (status === 401 || status === 403) && !viewer ? (
          <a class="button primary" href={href(signInFrom(view))}>
            {t('login.title')}
          </a>
        ) : null}
        <a class={`button ${status === 404 ? 'primary' : 'plain'}`} href={href('/')}>
          {t('error.home')}
        </a>
        {status === 404 && !viewer ? (
          <a class="button plain" href={href(signInFrom(view))}>
            {t('login.title')}
          </a>
        ) : null}
      </Empty>
    )
  },
}

async function assertNew(view: View): Promise<object> {
  if ((await view.call(service.status, {})).is_setup && !view.form.error) throw new Redirect('/')
  return {}
}

export const welcome = page({
  isUnlisted: true,
  isSetup: true,
  load: assertNew,
  title: ({ t }) => t('setup.welcome'),
  show: ({ t, href }) => (
    <div class="narrow">
      <h1>{t('setup.welcome')}</h1>
      <p>{t('setup.explained')}</p>
      <a class="button primary" href={href('/setup/create-account')}>
        {t('setup.begin')}
      </a>
    </div>
  ),
})

/** Few servers have one, and a server that has one says so first of all. */
const wantsToken = ({ form }: View): boolean => form.error?.code === 'INVALID_TOKEN'

export const accountPage = page({
  isUnlisted: true,
  isSetup: true,
  load: assertNew,
  title: ({ t }) => t('setup.account'),
  show: (view) => (
    <div class="narrow">
      <p class="soft">{view.t('setup.step', { step: 1, steps: 2 })}</p>
      <h1>{view.t('setup.account')}</h1>
      <Summary
        view={view}
        text={wantsToken(view) ? <a href="#field-setupToken">{view.t('setup.tokenNeeded')}</a> : undefined}
      />
      <Form view={view} to="/setup/create-account">
        <Field view={view} of={service.setup} name="siteTitle" label={view.t('setup.siteTitle')} required />
        <Field view={view} of={service.setup} name="name" label={view.t('field.name')} autocomplete="nickname" />
        <Field
          view={view}
          of={service.setup}
          name="email"
          type="email"
          label={view.t('field.email')}
          required
          autocomplete="username"
        />
        <Field
          view={view}
          of={service.setup}
          name="password"
          type="password"
          label={view.t('field.password')}
          hint={view.t('field.passwordHint')}
          required
          autocomplete="new-password"
        />
        {wantsToken(view) || view.form.values.setupToken ? (
          <Field
            view={view}
            of={service.setup}
            name="setupToken"
            type="password"
            label={view.t('setup.token')}
            hint={view.t('setup.tokenHint')}
            required
            autocomplete="off"
          />
        ) : null}
        <Submit>{view.t('setup.createAccount')}</Submit>
      </Form>
    </div>
  ),
})

export const createAccount = action({
  operation: service.setup,
  page: async () => accountPage,
  input: ({ words }, { siteTitle, name, email, password, setupToken }) => ({
    siteTitle,
    email,
    password,
    language: words.language,
    ...(name && { name }),
    ...(setupToken && { setupToken }),
  }),
  done: (_view, { user }) => ({ to: '/setup/create-board', session: user.authToken }),
})

export const boardPage = page({
  signedIn: true,
  isUnlisted: true,
  isSetup: true,
  load: async () => ({}),
  title: ({ t }) => t('setup.board'),
  show: (view) => (
    <div class="narrow">
      <p class="soft">{view.t('setup.step', { step: 2, steps: 2 })}</p>
      <h1>{view.t('setup.board')}</h1>
      <Summary view={view} />
      <p>{view.t('setup.boardExplained')}</p>
      <Form view={view} to="/setup/create-board">
        <Field
          view={view}
          of={boards.create}
          name="name"
          label={view.t('setup.boardName')}
          required
          value={view.t('setup.boardExample')}
        />
        <div class="buttons">
          <Submit>{view.t('setup.createBoard')}</Submit>
          <a class="button plain" href={view.href('/')}>
            {view.t('setup.skip')}
          </a>
        </div>
      </Form>
    </div>
  ),
})

export const createBoard = action({
  operation: boards.create,
  page: async () => boardPage,
  input: (_view, { name }) => ({ name, display: true }),
  done: (_view, { board: { url } }) => ({ to: `/boards/${encodeURIComponent(url)}`, flash: 'setUp' }),
})
