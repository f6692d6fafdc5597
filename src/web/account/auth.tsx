import { isLanguage } from '../../core/language.js'
import * as service from '../../service/auth.js'
import * as sessions from '../../service/sessions.js'
import { within, withQuery } from '../kit/addresses.js'
import { action, page, Redirect, type Fields, type View } from '../kit/page.js'
import { PENDING } from '../kit/pending.js'
import { WISH_WORDS, wishOf, type Wish } from './wish.js'
import { EmailField, KnownEmail, NewPasswordField, PasswordField } from '../parts/credentials.js'
import { Field, Form, Hidden, Pending, Submit, Summary } from '../parts/form.js'
import { Empty } from '../parts/empty.js'
import { Accepted, noteTexts, SignupNote } from '../parts/signupnote.js'

/** Where a form to sign in or up leads, and what it goes on with. */
const nextOf = (view: View): string | undefined => within(view.form.values.redirect ?? view.query.redirect)

const Next = ({ view }: { view: View }) => (
  <>
    <Hidden name="redirect" value={nextOf(view)} />
    <Pending view={view} />
  </>
)

export const loginPage = page({
  cache: 'visitor',
  isUnlisted: true,
  async load(view) {
    if (view.viewer && !view.form.error) throw new Redirect(nextOf(view) ?? '/')
    return wishOf(view)
  },
  title: ({ t }) => t('login.title'),
  show(view, wish) {
    const { t, settings, sendsMail } = view
    const token = passwordTokenOf(view)
    if (token !== undefined) return <CodeForm view={view} wish={wish} token={token} />
    return (
      <div class="narrow card">
        <h1>{t('login.title')}</h1>
        <Summary view={view} text={view.form.error?.code === 'INVALID_TOKEN' ? t('login.late') : undefined} />
        <Wanted view={view} wish={wish} on="login" />
        <Form view={view} to="/login">
          <Next view={view} />
          <EmailField view={view} of={service.login} />
          <PasswordField view={view} of={service.login} label={t('field.password')} />
          <Submit>{t('login.send')}</Submit>
        </Form>
        <p class="next">
          <a href={view.href('/password-reset')}>{t('login.forgot')}</a>
        </p>
        {settings.allowSignup && sendsMail ? <Other view={view} to="/join" text={t('login.join')} /> : null}
      </div>
    )
  },
})

/** Stands for a password that was right, where the code of the second factor is still to come. */
function passwordTokenOf({ form: { error, values } }: View): string | undefined {
  if (error?.code === 'TOTP_REQUIRED') return error.passwordToken
  return error === undefined || error.code === 'INVALID_TOKEN' ? undefined : values.passwordToken
}

/** The second step of signing in. */
function CodeForm({ view, wish, token }: { view: View; wish: Wish | undefined; token: string }) {
  const { t, form } = view
  const isAsked = form.error?.code === 'TOTP_REQUIRED' && form.values.code === undefined
  return (
    <div class="narrow card">
      <h1>{t('login.title')}</h1>
      {isAsked ? (
        <p class="note" role="status">
          {t('login.codeNeeded')}
        </p>
      ) : (
        <Summary view={view} />
      )}
      <Wanted view={view} wish={wish} on="login" />
      <Form view={view} to="/login">
        <Next view={view} />
        <Hidden name="passwordToken" value={token} />
        <KnownEmail email={form.values.email} />
        <Field
          view={view}
          of={service.login}
          name="code"
          label={t('field.code')}
          hint={t('field.codeHint')}
          required
          autocomplete="one-time-code"
          autofocus={isAsked}
        />
        <Submit>{t('login.send')}</Submit>
      </Form>
      <Other view={view} to="/login" text={t('login.restart')} />
    </div>
  )
}

/** What the form goes on with. */
const Wanted = ({ view, wish, on }: { view: View; wish: Wish | undefined; on: 'login' | 'join' }) =>
  wish ? <p class="note">{view.t(WISH_WORDS[on][wish.kind], { title: wish.title })}</p> : null

/** The way from signing in to signing up, and back, with what the visitor wanted. */
const Other = ({ view, to, text }: { view: View; to: string; text: string }) =>
  view.form.values[PENDING.route] === undefined ? (
    <p class="next">
      <a href={view.href(withQuery(to, { redirect: nextOf(view) }))}>{text}</a>
    </p>
  ) : (
    <Form view={view} to={`${to}/first`}>
      <Next view={view} />
      <button type="submit" class="link">
        {text}
      </button>
    </Form>
  )

export const login = action({
  operation: service.login,
  page: async () => loginPage,
  input: (_view, { email, password, passwordToken, code }) => ({
    email,
    ...(passwordToken ? { passwordToken } : { password }),
    ...(code && { code }),
  }),
  done: (view) => ({ to: nextOf(view) ?? '/' }),
})

export const joinPage = page({
  cache: 'visitor',
  isUnlisted: true,
  texts: noteTexts,
  async load(view) {
    if (view.viewer && !view.form.error) throw new Redirect(nextOf(view) ?? '/')
    return wishOf(view)
  },
  title: ({ t }) => t('join.title'),
  show(view, wish) {
    const { t, settings, sendsMail } = view
    if (!settings.allowSignup || !sendsMail)
      return (
        <Empty title={t('join.closed')} isPage>
          <p>{t(settings.allowSignup ? 'join.noMail' : 'join.closedNext')}</p>
          <a class="button primary" href={view.href('/login')}>
            {t('login.title')}
          </a>
        </Empty>
      )
    return (
      <div class="narrow card">
        <h1>{t('join.title')}</h1>
        <Summary view={view} />
        <Wanted view={view} wish={wish} on="join" />
        <Form view={view} to="/join">
          <Next view={view} />
          <Field
            view={view}
            of={service.signup}
            name="name"
            label={t('field.name')}
            hint={t('field.nameHint')}
            autocomplete="nickname"
          />
          <EmailField view={view} of={service.signup} />
          <NewPasswordField view={view} of={service.signup} label={t('field.password')} />
          <SignupNote view={view} />
          <Accepted view={view} />
          <Submit>{t('join.send')}</Submit>
        </Form>
        <Other view={view} to="/login" text={t('join.login')} />
      </div>
    )
  },
})

export const join = action({
  operation: service.signup,
  page: async () => joinPage,
  input: ({ words }, { email, password, name }) => ({
    email,
    password,
    ...(name && { name }),
    language: words.language,
  }),
  done: (view) => ({ to: nextOf(view) ?? '/', flash: 'joined' }),
})

export const logout = action({
  operation: sessions.revoke,
  input: () => ({ sessionId: 'current' }),
  done: () => ({ to: '/', session: null, flash: 'loggedOut' }),
  treatAsDone: { SESSION_NOT_FOUND: () => ({ to: '/', session: null, flash: 'loggedOut' }) },
})

/** The same form, with what the visitor wanted to do. */
const first = (shown: typeof loginPage) =>
  action({ operation: null, input: () => ({}), done: () => ({ to: '/', again: shown }) })

export const loginFirst = first(loginPage)
export const joinFirst = first(joinPage)

/** The language that a form asks for, if it is one of ours. */
export const languageGiven = ({ language = '' }: Fields): string | undefined =>
  isLanguage(language) ? language : undefined
