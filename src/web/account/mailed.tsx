import type { Key } from '../../core/catalogue.js'
import * as service from '../../service/auth.js'
import { accept as acceptInvitation } from '../../service/invitationaccept.js'
import { linkOf, tokenOf } from './mailtokens.js'
import { withQuery } from '../kit/addresses.js'
import { action, page, Redirect, type View } from '../kit/page.js'
import { EmailField, NewPasswordField } from '../parts/credentials.js'
import { Field, Form, Hidden, Submit, Summary } from '../parts/form.js'
import { Empty } from '../parts/empty.js'
import { Accepted, noteTexts, SignupNote } from '../parts/signupnote.js'

export const resetPage = page({
  cache: 'visitor',
  isUnlisted: true,
  load: async () => ({}),
  title: ({ t }) => t('reset.title'),
  show: (view) =>
    view.sendsMail ? (
      <div class="narrow card">
        <h1>{view.t('reset.title')}</h1>
        <Summary view={view} />
        <p>{view.t('reset.explained')}</p>
        <Form view={view} to="/password-reset">
          <EmailField view={view} of={service.resetPassword} />
          <Submit>{view.t('reset.send')}</Submit>
        </Form>
      </div>
    ) : (
      <Empty title={view.t('reset.title')} isPage>
        <p>{view.t('reset.noMail')}</p>
        <a class="button primary" href={view.href('/login')}>
          {view.t('login.title')}
        </a>
      </Empty>
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
  const { t, href, mailPagesOnly } = view
  const isCut = tokenOf(view) === ''
  return (
    <Empty title={t(isCut ? 'token.broken' : 'token.spent')} isPage>
      <p>{t(isCut ? 'token.brokenNext' : spent)}</p>
      {mailPagesOnly && to === '/settings' ? null : (
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
  title: ({ t, mailPagesOnly }, { isInvitation }) =>
    t(isInvitation && !mailPagesOnly ? 'accept.title' : 'confirm.title'),
  show: (view, { isBroken, isInvitation }) =>
    isBroken ? (
      <Broken view={view} to="/password-reset" action="reset.again" spent="token.spentNext" />
    ) : isInvitation && !view.mailPagesOnly ? (
      <Accept view={view} />
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

/** Only for sites with all pages: a site that has only the pages behind mails has no sign-in. */
const Accept = ({ view }: { view: View }) => (
  <div class="narrow card">
    <h1>{view.t('accept.title')}</h1>
    <Summary view={view} />
    <p>{view.t('accept.explained')}</p>
    <Form view={view} to={withQuery('/invitation', { token: tokenOf(view) })}>
      <Hidden name="token" value={tokenOf(view)} />
      <Field
        view={view}
        of={acceptInvitation}
        name="name"
        label={view.t('field.name')}
        hint={view.t('field.nameHint')}
        autocomplete="nickname"
      />
      <NewPasswordField view={view} of={acceptInvitation} label={view.t('field.password')} />
      <SignupNote view={view} />
      <Accepted view={view} />
      <Submit>{view.t('accept.send')}</Submit>
    </Form>
  </div>
)

/** Shows the form with its errors, and again after a change of the language. */
export const acceptPage = page({
  cache: 'never',
  isUnlisted: true,
  async load(view) {
    const found = await linkOf(view, 'resetPassword')
    if (found.isInvitation === false) throw new Redirect(confirmOf(tokenOf(view)))
    return found
  },
  texts: noteTexts,
  title: ({ t }) => t('accept.title'),
  show: (view, { isBroken }) =>
    isBroken ? <Broken view={view} to="/login" action="login.title" spent="token.spentNext" /> : <Accept view={view} />,
})

export const accept = action({
  operation: acceptInvitation,
  page: async () => acceptPage,
  input: (_view, { token, name, password }) => ({ token, password, ...(name && { name }) }),
  done: () => ({ to: '/', flash: 'accepted' }),
  // The invitation was accepted or revoked meanwhile. The link still sets a password.
  treatAsDone: { INVITATION_NOT_FOUND: (_view, { token = '' }) => ({ to: confirmOf(token) }) },
})

const confirmOf = (token: string): string => withQuery('/password-reset/confirm', { token })

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
  treatAsDone: { EMAIL_VERIFIED: () => ({ to: '/', flash: 'verified' }) },
})
