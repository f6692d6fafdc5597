import { renderSVG } from 'uqr'
import { AUTO, LANGUAGES, languageName } from '../../core/language.js'
import { links } from '../../core/pagelinks.js'
import * as auth from '../../service/auth.js'
import * as identities from '../../service/identities.js'
import type { Identity } from '../../service/lib/identities.js'
import * as service from '../../service/profile.js'
import * as sessions from '../../service/sessions.js'
import * as totp from '../../service/totp.js'
import { within } from '../kit/addresses.js'
import { action, page, Redirect, type View } from '../kit/page.js'
import { AnswerTitle } from '../parts/answertitle.js'
import { languageGiven } from './auth.js'
import { KnownEmail, NewPasswordField, PasswordField } from '../parts/credentials.js'
import { Check, Choice, Field, Form, Hidden, Submit, Summary } from '../parts/form.js'
import { Refused } from '../parts/refused.js'
import { deviceOf } from '../parts/device.js'
import { Hour, latest, Time } from '../parts/time.js'

/** Name, password, language, second factor and sessions of whoever is signed in. */
export const settings = page({
  cache: 'never',
  signedIn: true,
  isUnlisted: true,
  forms: [auth.verify],
  async load(view) {
    const { sessions: open } = await view.call(sessions.list, {})
    const { isEnabled, recoveryCodesLeft, isNeeded } = await view.call(totp.status, {})
    const { identities: ways } = await view.call(identities.list, {})
    const { user: shows } = await view.call(service.profile, {})
    return { sessions: open, ways, shows, codesLeft: isEnabled ? recoveryCodesLeft : undefined, isNeeded }
  },
  title: ({ t }) => t('settings.title'),
  show(view, { sessions: open, ways, shows, codesLeft, isNeeded }) {
    const { t, href, viewer } = view
    return (
      <div class="narrow">
        <h1>{t('settings.title')}</h1>
        <Summary view={view} />
        {viewer?.isVerified ? null : view.refusals.has(auth.verify.id) ? (
          <Refused view={view} of={auth.verify} />
        ) : (
          <section class="note">
            <p>{t('settings.unverified', { email: viewer?.email ?? '' })}</p>
            <Form view={view} to="/settings/verify">
              <Submit kind="plain">{t('settings.sendAgain')}</Submit>
            </Form>
          </section>
        )}
        <section>
          <h2>{t('settings.account')}</h2>
          <p class="soft">{viewer?.email}</p>
          <Form view={view} to="/settings/name">
            <Field
              view={view}
              of={service.updateProfile}
              name="name"
              label={t('field.name')}
              required
              value={viewer?.name}
              autocomplete="nickname"
            />
            <Submit>{t('form.save')}</Submit>
          </Form>
        </section>
        <section>
          <h2>{t('settings.language')}</h2>
          <Form view={view} to="/settings/language">
            <Choice
              view={view}
              name="language"
              label={t('settings.languageOf')}
              value={viewer?.language ?? AUTO}
              options={[
                { value: AUTO, text: t('settings.languageAuto') },
                ...LANGUAGES.map((code) => ({ value: code, text: languageName(code) })),
              ]}
            />
            <Submit>{t('form.save')}</Submit>
          </Form>
        </section>
        <section id="profile">
          <h2>{t('settings.profile')}</h2>
          <p class="soft">{t('settings.profileHint')}</p>
          <Form view={view} to="/settings/profile">
            <Check view={view} name="showProfile" label={t('settings.showProfile')} checked={shows.showProfile} />
            <Check view={view} name="showVotes" label={t('settings.showVotes')} checked={shows.showVotes} />
            <Check view={view} name="showComments" label={t('settings.showComments')} checked={shows.showComments} />
            <div class="buttons">
              <Submit>{t('form.save')}</Submit>
              <a class="button plain" href={href(links.profile(shows.username))}>
                {t('settings.seeProfile')}
              </a>
            </div>
          </Form>
        </section>
        <section>
          <h2>{t('settings.password')}</h2>
          {viewer?.hasPassword ? (
            <Form view={view} to="/settings/password">
              <KnownEmail email={viewer?.email} />
              <PasswordField
                view={view}
                of={service.changePassword}
                name="currentPassword"
                label={t('field.currentPassword')}
              />
              <NewPasswordField
                view={view}
                of={service.changePassword}
                label={t('field.newPassword')}
                hint={t('settings.passwordHint')}
              />
              <Submit>{t('settings.changePassword')}</Submit>
            </Form>
          ) : (
            <Form view={view} to="/settings/password/link">
              <p>{t('settings.noPassword')}</p>
              <Submit kind="plain">{t('settings.sendPasswordLink')}</Submit>
            </Form>
          )}
        </section>
        <Ways view={view} ways={ways} />
        <section>
          <h2 id="second-factor">{t('settings.totp')}</h2>
          {isNeeded ? (
            <p class="note" role="status">
              {t('settings.totpNeeded')}
            </p>
          ) : null}
          {codesLeft !== undefined ? (
            <Form view={view} to="/settings/totp/recovery">
              <p>{t('settings.totpOn', { count: codesLeft })}</p>
              <Field
                view={view}
                of={totp.disable}
                name="code"
                label={t('field.code')}
                hint={t('field.codeHint')}
                required
                autocomplete="one-time-code"
              />
              <div class="buttons">
                <Submit kind="plain">{t('settings.newCodes')}</Submit>
                <button type="submit" class="button danger" formaction={href('/settings/totp/disable')}>
                  {t('settings.totpDisable')}
                </button>
              </div>
            </Form>
          ) : (
            <Form view={view} to="/settings/totp">
              <p>{t('settings.totpOff')}</p>
              <Submit kind="plain">{t('settings.totpEnable')}</Submit>
            </Form>
          )}
        </section>
        <section>
          <h2>{t('settings.sessions')}</h2>
          <ul class="sessions">
            {open.map((session) => (
              <li>
                <div>
                  <bdi>{deviceOf(view, session.userAgent)}</bdi>
                  {session.isCurrent ? <span class="mark">{t('settings.thisDevice')}</span> : null}
                  <div class="soft">
                    {session.address ? `${session.address} · ` : ''}
                    {t('user.signedIn')} <Time view={view} at={session.createdAt} />
                    {session.isCurrent || session.lastUsedAt === null ? null : (
                      <>
                        {' · '}
                        {t('user.seen')} <Hour view={view} at={latest(session.createdAt, session.lastUsedAt)} />
                      </>
                    )}
                  </div>
                </div>
                {session.isCurrent ? null : (
                  <Form view={view} to={links.endSession(session.sessionId)}>
                    <button type="submit" class="link">
                      {t('settings.endSession')}
                    </button>
                  </Form>
                )}
              </li>
            ))}
          </ul>
          {open.length > 1 ? (
            <Form view={view} to="/settings/sessions">
              <Submit kind="plain">{t('settings.endOthers')}</Submit>
            </Form>
          ) : null}
        </section>
        <section>
          <h2>{t('notifications.title')}</h2>
          <p class="next">
            <a href={href('/settings/notifications')}>{t('ways.title')}</a>
          </p>
        </section>
        <section>
          <h2>{t('settings.data')}</h2>
          <p class="next">
            <a href={view.href('/settings/data')}>{t('settings.download')}</a>
          </p>
          <p class="next">
            <a class="danger" href={view.href('/settings/delete')}>
              {t('leave.title')}
            </a>
          </p>
        </section>
      </div>
    )
  },
})

/** How the person can sign in, and when they last did so. */
const Ways = ({ view, ways }: { view: View; ways: readonly Identity[] }) => (
  <section>
    <h2>{view.t('settings.ways')}</h2>
    {ways.length === 0 ? <p>{view.t('settings.noWays')}</p> : null}
    <ul class="sessions">
      {ways.map((way) => (
        <li>
          <div>
            <bdi>{wayOf(view, way)}</bdi>
            <div class="soft">
              {way.email === null ? null : (
                <>
                  <bdi>{way.email}</bdi> ·{' '}
                </>
              )}
              {way.lastUsedAt === null ? view.t('settings.neverUsed') : <Time view={view} at={way.lastUsedAt} />}
            </div>
          </div>
          {way.may.includes('unlink') ? (
            <Form view={view} to={links.removeWay(way.identityId)}>
              <button type="submit" class="link">
                {view.t('settings.removeWay')}
              </button>
            </Form>
          ) : null}
        </li>
      ))}
    </ul>
  </section>
)

function wayOf({ t }: View, { provider }: Identity): string {
  if (provider === 'password') return t('settings.wayPassword')
  return provider === 'link' ? t('settings.wayLink') : provider
}

const again = async () => settings
const saved = (): { to: string; flash: 'saved' } => ({ to: '/settings', flash: 'saved' })

export const rename = action({
  operation: service.updateProfile,
  page: again,
  input: (_view, { name = '' }) => ({ name }),
  done: saved,
})

/** The profile settings of the form. Browsers do not send unticked boxes. */
export const changeProfile = action({
  operation: service.updateProfile,
  page: again,
  input: (_view, { showProfile, showVotes, showComments }) => ({
    showProfile: showProfile === 'true',
    showVotes: showVotes === 'true',
    showComments: showComments === 'true',
  }),
  done: saved,
})

export const changePassword = action({
  operation: service.changePassword,
  page: again,
  input: (_view, { currentPassword, password }) => ({ currentPassword, password }),
  done: () => ({ to: '/settings', flash: 'passwordSet' }),
})

/** To the own address: who has no password proves by mail who they are. */
export const sendPasswordLink = action({
  operation: auth.resetPassword,
  page: again,
  input: ({ viewer }) => ({ email: viewer?.email }),
  done: () => ({ to: '/settings', flash: 'mailSent' }),
})

export const removeWay = action({
  operation: identities.unlink,
  page: again,
  input: ({ params }) => ({ identityId: params.identity }),
  done: () => ({ to: '/settings', flash: 'wayRemoved' }),
})

export const sendVerification = action({
  operation: auth.verify,
  page: again,
  input: () => ({}),
  done: () => ({ to: '/settings', flash: 'mailSent' }),
})

export const endSession = action({
  operation: sessions.revoke,
  page: again,
  input: ({ params }) => ({ sessionId: params.session }),
  done: () => ({ to: '/settings', flash: 'sessionEnded' }),
})

export const endSessions = action({
  operation: sessions.revokeAll,
  page: again,
  input: () => ({}),
  done: () => ({ to: '/settings', flash: 'sessionEnded' }),
})

/** The code to scan is shown once; without the app's code nothing has changed. */
export const beginTotp = action({
  operation: totp.begin,
  page: again,
  input: () => ({}),
  done: (view, made) => ({
    to: '/settings',
    title: view.t('settings.totp'),
    show: <TotpSetup view={view} {...made} />,
  }),
})

function TotpSetup({ view, secret, uri }: { view: View; secret: string; uri: string }) {
  const { t } = view
  return (
    <div class="narrow">
      <AnswerTitle view={view}>{t('settings.totp')}</AnswerTitle>
      <Summary view={view} />
      <p>{t('totp.scan')}</p>
      <div class="qr" dangerouslySetInnerHTML={{ __html: renderSVG(uri) }} />
      <p>
        {t('totp.type')}
        <br />
        <code>{secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code>
      </p>
      <Form view={view} to="/settings/totp/enable">
        <Hidden name="secret" value={secret} />
        <Hidden name="uri" value={uri} />
        <Field
          view={view}
          of={totp.enable}
          name="code"
          label={t('field.code')}
          required
          autocomplete="one-time-code"
          inputMode="numeric"
        />
        <Submit>{t('settings.totpEnable')}</Submit>
      </Form>
    </div>
  )
}

/** A longer one fits in no QR code, and is none of ours. */
const MAX_URI = 1500

/** Shown again after a wrong code. The form carries the code to scan, which only this person was shown. */
const totpAgain = page({
  cache: 'never',
  signedIn: true,
  isUnlisted: true,
  async load(view) {
    const { secret, uri } = view.form.values
    if (!secret || !uri?.startsWith('otpauth://') || uri.length > MAX_URI) throw new Redirect('/settings')
    return { secret, uri }
  },
  title: ({ t }) => t('settings.totp'),
  show: (view, data) => <TotpSetup view={view} {...data} />,
})

/** They are shown once. */
const codesShown = (view: View, { recoveryCodes }: { recoveryCodes: string[] }) => ({
  to: '/settings',
  title: view.t('totp.codes'),
  show: (
    <div class="narrow">
      <AnswerTitle view={view}>{view.t('totp.codes')}</AnswerTitle>
      <p>{view.t('totp.codesHint')}</p>
      <ul class="codes">
        {recoveryCodes.map((code) => (
          <li>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <a class="button primary" href={view.href('/settings')}>
        {view.t('totp.done')}
      </a>
    </div>
  ),
})

export const enableTotp = action({
  operation: totp.enable,
  page: async () => totpAgain,
  input: (_view, { code }) => ({ code }),
  done: codesShown,
})

export const newCodes = action({
  operation: totp.recovery,
  page: again,
  input: (_view, { code }) => ({ code }),
  done: codesShown,
})

export const disableTotp = action({
  operation: totp.disable,
  page: again,
  input: (_view, { code }) => ({ code }),
  done: saved,
})

/** Of the account. The browser keeps it after signing out. */
export const changeLanguage = action({
  operation: service.updateProfile,
  page: again,
  input: (_view, { language: chosen = '' }) => ({ language: chosen }),
  done: (_view, { user }, form) => {
    const back = within(form.to)
    return { ...(back === undefined ? saved() : { to: back }), language: user.language ?? null }
  },
})

/** Of visitors: it changes no data, but a cookie of this browser. */
export const language = action({
  operation: null,
  input: () => ({}),
  done(_view, _output, form) {
    const chosen = languageGiven(form)
    return { to: within(form.to) ?? '/', ...(chosen !== undefined && { language: chosen }) }
  },
})
