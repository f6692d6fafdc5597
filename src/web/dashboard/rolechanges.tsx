import { PERMISSIONS } from '../../core/permissions.js'
import type { View } from '../kit/page.js'

interface ChangesProps {
  view: View
  before: ReadonlySet<string>
  after: ReadonlySet<string>
  /** How many have the role. */
  people: number
  /** Whether the change makes the role need a second factor. */
  needsTotp: boolean
}

/** What a role would gain and lose, in words, before it is saved. */
export function RoleChanges({ view, before, after, people, needsTotp }: ChangesProps) {
  const { t } = view
  const gains = PERMISSIONS.filter((each) => after.has(each) && !before.has(each))
  const loses = PERMISSIONS.filter((each) => before.has(each) && !after.has(each))
  return (
    <section class="note" role="status" aria-labelledby="changes" tabIndex={-1} autofocus>
      <h2 id="changes">{t('role.changes')}</h2>
      {needsTotp ? <p>{t('role.requireTotpHint')}</p> : null}
      {gains.length + loses.length === 0 && !needsTotp ? <p>{t('role.changesNothing')}</p> : null}
      {[['role.gains', gains] as const, ['role.loses', loses] as const].map(([label, permissions]) =>
        permissions.length === 0 ? null : (
          <>
            <p>{t(label, { count: permissions.length })}</p>
            <ul>
              {permissions.map((permission) => (
                <li>{t(`permission.${permission}`)}</li>
              ))}
            </ul>
          </>
        ),
      )}
      <p class="soft">{t('role.have', { count: people })}</p>
    </section>
  )
}
