import { sql, type Kysely } from 'kysely'
import { text } from '../dialect.js'
import type { Tables } from '../tables.js'

/** A user name that was made for a person without a name: `user_` and eight letters or digits. */
const ofNobody = sql`length(username) = 13 and substr(username, 1, 5) = 'user_' and substr(username, 6) not like '%!_%' escape '!'`

/** A user name that was made of the start of an address, and eight random characters. */
const fromAddress = sql`username like '%!_________' escape '!' and not (${ofNobody})`

/**
 * Gives new user names to people whose name tells of their e-mail address, and takes the pictures whose address was its
 * hash. The old names go on finding them, and are nobody else's, also once an account is deleted.
 */
export async function up(db: Kysely<Tables>): Promise<void> {
  const words = text(db)
  await db.schema
    .createTable('former_usernames')
    .addColumn('username', words, (column) => column.primaryKey())
    .addColumn('userId', words, (column) => column.references('users.userId').onDelete('set null'))
    .execute()
  await db.schema.createIndex('former_usernames_of_user').on('former_usernames').column('userId').execute()
  await sql`insert into former_usernames (username, "userId") select username, "userId" from users where ${fromAddress}`.execute(
    db,
  )
  // The second half of an id, which is random and public
  await sql`update users set username = 'user_' || substr(replace("userId", '-', ''), 17) where ${fromAddress}`.execute(
    db,
  )
  await sql`update users set avatar = '' where avatar <> ''`.execute(db)
}
