import type { Key } from '../../core/catalogue.js'
import * as service from '../../service/auth.js'
import { linkOf, tokenOf } from './mailtokens.js'
import { action, page, type View } from '../kit/page.js'
import { EmailField, NewPasswordField } from '../parts/credentials.js'
import { Form, Hidden, Submit, Summary } from '../parts/form.js'
import { Empty } from '../parts/empty.js'
import { noteTexts, SignupNote } from '../parts/signupnote.js'

export const resetPage = page({
  cache: 'visitor',
  isUnlisted: true,
  load: async () => ({}),
  title: ({ t }) => t('reset.title'),
  show: (view) => (
    <div class="narrow card">
      <h1>{view.t('reset.title')}</h1>
      <Summary view={view} />
      <p>{view.t('reset.explained')}</p>
      <Form view={view} to="/password-reset">
        <EmailField view={view} of={service.resetPassword} />
        <Submit>{view.t('reset.send')}</Submit>
      </Form>
    </div>
  ),
})

export const reset = action({
  operation: service.resetPassword,
  page: async () => resetPage,
  input: (_view, { email }) => ({ email }),
  done: () => ({ to: '/login', flash: 'resetSent' }),
})

/** Shown for mail links that are truncated or expired. */
function Broken({ view, to, action, spent }: { view: View; to: string; action: Key; spent: Key }) {
  const { t, href, isAlone } = view
  const isCut = tokenOf(view) === ''
  return (
    <Empty title={t(isCut ? 'token.broken' : 'token.spent')} isPage>
      <p>{t(isCut ? 'token.brokenNext' : spent)}</p>
      {isAlone && to === '/settings' ? null : (
        <a class="button primary" href={href(to)}>
          {t(action)}
        </a>
      )}
    </Empty>
  )
}

export const confirmPage = page({
  cache: 'never',
  isUnlisted: true,
  load: (view) => linkOf(view, 'resetPassword'),
  texts: noteTexts,
  title: ({ t }) => t('confirm.title'),
  show: (view, { isBroken }) =>
    isBroken ? (
      <Broken view={view} to="/password-reset" action="reset.again" spent="token.spentNext" />
    ) : (
      <div class="narrow card">
        <h1>{view.t('confirm.title')}</h1>
        <Summary view={view} />
        <Form view={view} to="/password-reset/confirm">
          <Hidden name="token" value={tokenOf(view)} />
          <NewPasswordField view={view} of={service.setPassword} label={view.t('field.newPassword')} />
          <SignupNote view={view} />
          <Submit>{view.t('confirm.send')}</Submit>
        </Form>
      </div>
    ),
})

export const confirm = action({
  operation: service.setPassword,
  page: async () => confirmPage,
  input: (_view, { token, password }) => ({ token, password }),
  done: () => ({ to: '/login', session: null, flash: 'passwordSet' }),
})

export const verifyPage = page({
  cache: 'never',
  isUnlisted: true,
  load: (view) => linkOf(view, 'emailVerification'),
  title: ({ t }) => t('verify.title'),
  show: (view, { isBroken }) =>
    view.viewer?.isVerified && isBroken ? (
      <Empty title={view.t('flash.verified')} isPage>
        <a class="button primary" href={view.href('/')}>
          {view.t('error.home')}
        </a>
      </Empty>
    ) : isBroken ? (
      <Broken view={view} to="/settings" action="settings.sendAgain" spent="verify.spentNext" />
    ) : (
      <div class="narrow card">
        <h1>{view.t('verify.title')}</h1>
        <Summary view={view} />
        <p>{view.t('verify.explained')}</p>
        <Form view={view} to="/email-verify">
          <Hidden name="token" value={tokenOf(view)} />
          <Submit>{view.t('verify.send')}</Submit>
        </Form>
      </div>
    ),
})

export const verify = action({
  operation: service.validate,
  page: async () => verifyPage,
  input: (_view, { token }) => ({ token }),
  done: () => ({ to: '/', flash: 'verified' }),
  settled: { EMAIL_VERIFIED: () => ({ to: '/', flash: 'verified' }) },
})
