import { sql, type Insertable } from 'kysely'
import { TEAM } from '../core/permissions.js'
import type { Db, Tables, UserRow } from './tables.js'
import { findOwner } from './users.js'

/** The ids of those who have these user names, without the blocked. */
export async function namedPeople(db: Db, usernames: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('users')
    .select('userId')
    .where('username', 'in', usernames)
    .where('isBlocked', '=', 0)
    .execute()
  return rows.map(({ userId }) => userId)
}

/** Which of some people are recorded as mentioned in a text. */
export async function mentionedIn(db: Db, textId: string, userIds: readonly string[]): Promise<Set<string>> {
  if (userIds.length === 0) return new Set()
  const rows = await db
    .selectFrom('mentions')
    .select('userId')
    .where('textId', '=', textId)
    .where('userId', 'in', userIds)
    .execute()
  return new Set(rows.map(({ userId }) => userId))
}

/** Records whom texts mention. Returns the ids of those who were not recorded before. */
export async function insertMentions(db: Db, rows: Insertable<Tables['mentions']>[]): Promise<Set<string>> {
  const inserted = await db
    .insertInto('mentions')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .returning('userId')
    .execute()
  return new Set(inserted.map(({ userId }) => userId))
}

/** Comments whose authors are looked for, the newest. */
const MOST_COMMENTS = 500
/** Members of the team. */
const MOST_MEMBERS = 100

/** The owner, and who holds `dashboard:read` by a role, whether or not it asks them for a second factor. */
export async function membersOf(db: Db): Promise<string[]> {
  const { rows } = await sql<{ userId: string }>`
    select roles_users.user_id as "userId" from role_permissions cross join roles_users
    where role_permissions.permission = ${TEAM} and roles_users.role_id = role_permissions.role_id
    limit ${MOST_MEMBERS}`.execute(db)
  const owner = await findOwner(db)
  return [...new Set([...(owner ? [owner.userId] : []), ...rows.map(({ userId }) => userId)])]
}

/** Who commented on a post, the last first, who wrote it, and the team, without the blocked. */
export async function peopleAround(
  db: Db,
  { postId, author, internal }: { postId: string; author: string | null; internal: boolean },
): Promise<Named[]> {
  const comments = await db
    .selectFrom('comments')
    .select('author_id')
    .where('post_id', '=', postId)
    .where('is_spam', '=', 0)
    .$if(!internal, (query) => query.where('is_internal', '=', 0))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MOST_COMMENTS)
    .execute()
  return peopleOf(db, [...comments.map(({ author_id }) => author_id), author, ...(await membersOf(db))])
}

type Named = Pick<UserRow, 'userId' | 'name' | 'username' | 'avatar'>

/** Whom somebody may mention where nobody wrote yet: the team. */
export const teamOf = async (db: Db): Promise<Named[]> => peopleOf(db, await membersOf(db))

/** Some people by their ids, each once, in that order. Blocked ones are left out. */
async function peopleOf(db: Db, all: readonly (string | null)[]): Promise<Named[]> {
  const ids = [...new Set(all.filter((id) => typeof id === 'string'))]
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('users')
    .select(['userId', 'name', 'username', 'avatar'])
    .where('userId', 'in', ids)
    .where('isBlocked', '=', 0)
    .execute()
  const place = new Map(ids.map((id, index) => [id, index]))
  return rows.toSorted((one, other) => (place.get(one.userId) ?? 0) - (place.get(other.userId) ?? 0))
}
