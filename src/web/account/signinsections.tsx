import { links } from '../../core/pagelinks.js'
import type { Identity } from '../../service/lib/identities.js'
import * as service from '../../service/profile.js'
import type { Session } from '../../service/sessions.js'
import * as totp from '../../service/totp.js'
import type { View } from '../kit/page.js'
import { KnownEmail, NewPasswordField, PasswordField } from '../parts/credentials.js'
import { deviceOf } from '../parts/device.js'
import { Field, Form, Submit } from '../parts/form.js'
import { Hour, latest, Time } from '../parts/time.js'

/** The form for the password, or a button that mails a link to set one. */
export function Password({ view }: { view: View }) {
  const { t, viewer } = view
  return (
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
  )
}

/** The second factor. */
export function SecondFactor({
  view,
  codesLeft,
  isNeeded,
}: {
  view: View
  codesLeft: number | undefined
  isNeeded: boolean | undefined
}) {
  const { t, href } = view
  return (
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
  )
}

/** The list of sessions. */
export function Sessions({ view, open }: { view: View; open: readonly Session[] }) {
  const { t } = view
  return (
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
  )
}

/** The ways to sign in, with the time of their last use. */
export const Ways = ({ view, ways }: { view: View; ways: readonly Identity[] }) => (
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
