import { pageOf } from './paging.js'
import { orderOf, usersOf, type UserOrder } from './users.js'
import type { Db, UserRow } from './tables.js'

/** What a search compares. */
type Named = Pick<UserRow, 'userId' | 'createdAt' | 'name' | 'username' | 'email'>

/** Of the users that a search finds, so many are listed. */
export const MOST_USERS = 1000
/** Rows per query, so that other requests run in between. */
const BATCH = 1000

/** The ids of the users that match, in this order. No index finds a part of a name, so it reads them in batches. */
export async function searchUsers(db: Db, order: UserOrder, matches: (user: Named) => boolean): Promise<string[]> {
  const found: string[] = []
  for (let last: Named | undefined; ;) {
    const page = { limit: BATCH, ...(last && { after: last as UserRow }) } // a cursor needs no more
    const query = usersOf(db, order.period).select(['userId', 'createdAt', 'name', 'username', 'email'])
    const rows = await pageOf(query, orderOf(order), page).execute()
    found.push(...rows.filter(matches).map(({ userId }) => userId))
    if (rows.length < BATCH || found.length >= MOST_USERS) return found.slice(0, MOST_USERS)
    last = rows.at(-1)
  }
}

/** These users, in the order of their ids here. */
export async function usersByIds(db: Db, ids: readonly string[]): Promise<UserRow[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('users')
    .selectAll()
    .where('userId', 'in', [...ids])
    .execute()
  const byId = new Map(rows.map((row) => [row.userId, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}
