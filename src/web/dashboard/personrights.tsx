import { PERMISSIONS, type Permission } from '../../core/permissions.js'
import * as roles from '../../service/roles.js'
import type * as users from '../../service/users.js'
import { userSessions } from '../../service/usersessions.js'
import type { LiveView, View } from '../kit/page.js'
import { deviceOf } from '../parts/device.js'
import { Hour, latest, Time } from '../parts/time.js'

type User = Awaited<ReturnType<typeof users.show.run>>['user']

/** Roles whose permissions are looked up for one person. */
const MOST_ROLES = 20

/** What the roles of a person permit; undefined for readers who may not read roles. Those that wait for a second factor do not count. */
export async function permissionsOf(view: LiveView, user: User): Promise<readonly Permission[] | undefined> {
  if (!view.may(roles.show)) return undefined
  if (user.isOwner) return PERMISSIONS
  const found = new Set<string>()
  for (const { id } of user.roles.slice(0, MOST_ROLES)) {
    const { role } = await view.call(roles.show, { id })
    if (role.require_totp && user.hasTotp === false) continue
    for (const permission of role.permissions) found.add(permission)
  }
  return PERMISSIONS.filter((each) => found.has(each))
}

/** What the person may do, in the words of the roles. */
export function MayDo({ view, permissions }: { view: View; permissions: readonly Permission[] }) {
  const { t } = view
  return (
    <section>
      <h2>{t('user.mayDo')}</h2>
      {permissions.length === 0 ? (
        <p class="soft">{t('user.mayNothing')}</p>
      ) : (
        <details>
          <summary>{t('user.mayCount', { count: permissions.length })}</summary>
          <ul class="plain-list">
            {permissions.map((permission) => (
              <li>{t(`permission.${permission}`)}</li>
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}

type Session = Awaited<ReturnType<typeof userSessions.run>>['sessions'][number]

/** The sessions of a person whom the reader may sign out; undefined otherwise. */
export const sessionsOf = async (view: LiveView, user: User): Promise<readonly Session[] | undefined> =>
  user.may.includes('signOut') ? (await view.call(userSessions, { user: user.userId })).sessions : undefined

export const Sessions = ({ view, sessions }: { view: View; sessions: readonly Session[] }) => (
  <section>
    <h2>{view.t('settings.sessions')}</h2>
    {sessions.length === 0 ? (
      <p class="soft">{view.t('user.noSessions')}</p>
    ) : (
      <ul class="sessions">
        {sessions.map(({ userAgent, createdAt, lastUsedAt }) => (
          <li>
            <div>
              <bdi>{deviceOf(view, userAgent)}</bdi>
              <div class="soft">
                {view.t('user.signedIn')} <Time view={view} at={createdAt} />
                {lastUsedAt === null ? null : (
                  <>
                    {' · '}
                    {view.t('user.seen')} <Hour view={view} at={latest(createdAt, lastUsedAt)} />
                  </>
                )}
              </div>
            </div>
          </li>
        ))}
      </ul>
    )}
  </section>
)
