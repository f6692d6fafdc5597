import { sql } from 'kysely'
import { TEAM } from '../core/permissions.js'
import { compiled } from './cache/compiled.js'
import type { Db } from './tables.js'

/** Who of some people is of the team: the owner, and who holds its permission by a role, whether or not it asks them for a second factor. */
export async function teamAmong(db: Db, people: readonly (string | null)[]): Promise<ReadonlySet<string>> {
  const ids = [...new Set(people.filter((id) => id !== null))]
  if (ids.length === 0) return new Set()
  const rows = await compiled(
    db,
    'teamAmong',
    { ids },
    (given) =>
      db
        .selectFrom('users')
        .select('users.userId')
        .where('users.userId', 'in', given.ids)
        .where('users.isBlocked', '=', 0)
        .where((eb) =>
          eb.or([
            eb('users.isOwner', '=', 1),
            eb.exists(
              eb
                .selectFrom('roles_users')
                .innerJoin('role_permissions', 'role_permissions.role_id', 'roles_users.role_id')
                .select(sql.lit(1).as('one'))
                .whereRef('roles_users.user_id', '=', 'users.userId')
                .where('role_permissions.permission', '=', sql.lit(TEAM)),
            ),
          ]),
        ),
    { users: ids, roles_users: ids, posts: [], votes: [] },
  )
  return new Set(rows.map(({ userId }) => userId))
}
