import { sql, type Kysely } from 'kysely'
import { searchKey } from '../../core/text.js'
import { isPostgres, text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** Users read at a time. */
const PAGE = 500

/**
 * Adds what a list of people needs: the text that it searches and sorts by, when each was last seen, and indexes of its
 * orders and states. A server of the version before that still runs leaves the text of its new accounts empty: they are
 * found by name again after their next change.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .alterTable('users')
    .addColumn('searchText', text(db), (column) => column.notNull().defaultTo(''))
    .execute()
  await fillTexts(db)
  await db.schema
    .createTable('user_uses')
    .addColumn('userId', text(db), (column) => column.primaryKey().references('users.userId').onDelete('cascade'))
    .addColumn('usedAt', text(db), (column) => column.notNull())
    .execute()
  await sql`
    insert into user_uses ("userId", "usedAt")
    select users."userId", coalesce(max(used."usedAt"), '1970-01-01T00:00:00.000Z')
    from users left join (
      select "userId", "createdAt" as "usedAt" from sessions
      union all select sessions."userId", session_uses."usedAt" from session_uses join sessions on sessions."sessionId" = session_uses."sessionId"
      union all select api_keys."userId", api_key_uses."usedAt" from api_key_uses join api_keys on api_keys."keyId" = api_key_uses."keyId"
    ) as used on used."userId" = users."userId"
    group by users."userId"`.execute(db)
  await db.schema.createIndex('user_uses_by_time').on('user_uses').columns(['usedAt', 'userId']).execute()
  await db.schema.createIndex('users_by_name').on('users').columns(['searchText', 'userId']).execute()
  await db.schema.createIndex('users_by_posts').on('users').columns(['post_count', 'userId']).execute()
  await db.schema.createIndex('users_by_votes').on('users').columns(['vote_count', 'userId']).execute()
  // One for each, as PostgreSQL does not read an index of an expression alone
  for (const state of ['owner', 'blocked', 'active', 'invited', 'unverified'])
    await sql`create index ${sql.id(`users_${state}_by_age`)} on users ("createdAt", "userId")
      where (case when "isOwner" = 1 then 'owner' when "isBlocked" = 1 then 'blocked'
        when "isVerified" = 1 then 'active' when coalesce(password, '!') = '!' then 'invited' else 'unverified' end) = ${sql.lit(state)}`.execute(
      db,
    )
}

async function fillTexts(db: Kysely<Tables>): Promise<void> {
  for (let last = ''; ;) {
    const { rows } = await sql<Record<'userId' | 'name' | 'username' | 'email', string>>`
      select "userId", name, username, email from users where "userId" > ${last} order by "userId" limit ${PAGE}`.execute(
      db,
    )
    const texts = rows.map(({ userId, name, username, email }) => ({
      userId,
      text: `${searchKey(name || username)}\n${username.toLowerCase()}\n${email}`,
    }))
    if (isPostgres(db))
      await sql`update users set "searchText" = given.text from unnest(${texts.map(({ userId }) => userId)}::text[],
        ${texts.map((each) => each.text)}::text[]) as given (id, text) where "userId" = given.id`.execute(db)
    else
      for (const each of texts)
        await sql`update users set "searchText" = ${each.text} where "userId" = ${each.userId}`.execute(db)
    const end = rows.at(-1)
    if (!end) return
    last = end.userId
  }
}
