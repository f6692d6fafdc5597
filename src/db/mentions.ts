import type { Insertable } from 'kysely'
import type { Db, Tables } from './tables.js'

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

/** Those of some people whom a text mentions as far as is recorded. */
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
