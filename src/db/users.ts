import { sql, type Insertable, type Updateable } from 'kysely'
import { asStored, isId } from '../core/ids.js'
import { searchKey } from '../core/text.js'
import { deleteUnusedOf } from './images.js'
import type { Db, RoleRow, Tables, UserRow } from './tables.js'
import { compiled } from './cache/compiled.js'
import { isAmong, isPostgres, unlessTaken } from './dialect.js'
import { within, type Period } from './paging.js'
import { eraseNames, formerContentOf } from './seals.js'
import { deleteSessionsOf } from './sessions.js'
import { deleteOneTimeTokensOf } from './tokens.js'

/** By id, e-mail address or user name, which never look alike; also by a user name that they had. */
export async function findUser(db: Db, who: string): Promise<UserRow | undefined> {
  const found = await findPresent(db, who)
  if (found || isId(who) || who.includes('@')) return found
  return db
    .selectFrom('users')
    .innerJoin('former_usernames', 'former_usernames.userId', 'users.userId')
    .selectAll('users')
    .where('former_usernames.username', '=', who)
    .executeTakeFirst()
}

/** Whether somebody had this user name, other than this person. */
export async function isFormerUsername(db: Db, username: string, userId?: string): Promise<boolean> {
  const row = await db
    .selectFrom('former_usernames')
    .select('userId')
    .where('username', '=', username)
    .executeTakeFirst()
  return row !== undefined && (row.userId === null || row.userId !== userId)
}

const findPresent = (db: Db, who: string): Promise<UserRow | undefined> =>
  db
    .selectFrom('users')
    .selectAll()
    .where(
      isId(who) ? 'userId' : who.includes('@') ? 'email' : 'username',
      '=',
      who.includes('@') ? who.toLowerCase() : asStored(who),
    )
    .executeTakeFirst()

const usersOf = (db: Db, period: Period) => within(db.selectFrom('users'), 'createdAt', period)

/** How many there are: from a count that the database keeps, or, of a period, from the index. */
export async function userTotal(db: Db, period: Period = {}): Promise<number> {
  if (period.since !== undefined || period.until !== undefined) {
    const some = usersOf(db, period).select((eb) => eb.fn.countAll<number>().as('count'))
    return (await some.executeTakeFirstOrThrow()).count
  }
  const { value } = await db
    .selectFrom('counters')
    .select('value')
    .where('name', '=', 'users')
    .executeTakeFirstOrThrow()
  return value
}

/** The roles of some users, in no particular order. */
export const rolesOf = (
  db: Db,
  userIds: string[],
): Promise<(Pick<RoleRow, 'id' | 'name' | 'isSystem'> & { user_id: string })[]> =>
  db
    .selectFrom('roles_users')
    .innerJoin('roles', 'roles.id', 'roles_users.role_id')
    .select(['roles_users.user_id', 'roles.id', 'roles.name', 'roles.isSystem'])
    .where('roles_users.user_id', 'in', userIds)
    .execute()

export const findUserByEmail = (db: Db, email: string): Promise<UserRow | undefined> =>
  db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst()

/** A user with the permissions of their roles. Read on every request, so that changes take effect at once. */
export async function findActor(
  db: Db,
  userId: string,
): Promise<
  | (Pick<UserRow, 'userId' | 'isOwner' | 'isBlocked' | 'isVerified' | 'sessions' | 'createdAt'> & {
      permissions: string[]
    })
  | undefined
> {
  const rows = await compiled(
    db,
    'findActor',
    { userId },
    (given) =>
      db
        .selectFrom('users')
        .leftJoin('roles_users', 'roles_users.user_id', 'users.userId')
        .leftJoin('roles', 'roles.id', 'roles_users.role_id')
        .leftJoin('totp', (join) => join.onRef('totp.userId', '=', 'users.userId').on('totp.enabledAt', 'is not', null))
        .leftJoin('role_permissions', (join) =>
          join
            .onRef('role_permissions.role_id', '=', 'roles.id')
            .on((on) => on.or([on('roles.require_totp', '=', 0), on('totp.userId', 'is not', null)])),
        )
        .select([
          'users.userId',
          'users.isOwner',
          'users.isBlocked',
          'users.isVerified',
          'users.sessions',
          'users.createdAt',
          'role_permissions.permission',
        ])
        .where('users.userId', '=', given.userId),
    { users: [userId], roles_users: [userId], totp: [userId], posts: [], votes: [] },
  )
  const [user] = rows
  if (!user) return undefined
  const { permission: _, ...actor } = user
  return { ...actor, permissions: rows.flatMap((row) => row.permission ?? []) }
}

/** The index has the owner alone, so the plan must see the 1: a generic plan does not see a parameter's value. */
export const findOwner = (db: Db): Promise<Pick<UserRow, 'userId' | 'email'> | undefined> =>
  db.selectFrom('users').select(['userId', 'email']).where('isOwner', '=', sql.lit(1)).executeTakeFirst()

/** Returns undefined if the address or user name is taken, or if a second owner is inserted. */
export const insertUser = (db: Db, user: Insertable<Tables['users']>): Promise<UserRow | undefined> =>
  db
    .insertInto('users')
    .values({ ...user, searchText: searchTextOf(user) })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()

/** Inserts users, and returns the ids of those whose address and user name nobody has. */
export async function insertUsers(db: Db, users: readonly Insertable<Tables['users']>[]): Promise<Set<string>> {
  if (users.length === 0) return new Set()
  const rows = await db
    .insertInto('users')
    .values(users.map((user) => ({ ...user, searchText: searchTextOf(user) })))
    .onConflict((conflict) => conflict.doNothing())
    .returning('userId')
    .execute()
  return new Set(rows.map(({ userId }) => userId))
}

/** Returns those of the user names that somebody had before. */
export async function formerUsernames(db: Db, usernames: readonly string[]): Promise<Set<string>> {
  const rows = await db.selectFrom('former_usernames').select('username').where(isAmong(db, 'username', usernames)).execute() // prettier-ignore
  return new Set(rows.map(({ username }) => username))
}

type UserChange = Updateable<Tables['users']> & { updatedAt: string }

/** Returns 'taken' if another user has the address or user name, and undefined if the user has been deleted. */
export const updateUser = (db: Db, userId: string, change: UserChange): Promise<UserRow | 'taken' | undefined> =>
  unlessTaken(db, async () => {
    const user = await put(db, userId, change)
    const searchText = user && searchTextOf(user)
    return searchText === user?.searchText ? user : put(db, userId, { searchText })
  })

const put = (db: Db, userId: string, change: Updateable<Tables['users']>): Promise<UserRow | undefined> =>
  db.updateTable('users').set(change).where('userId', '=', userId).returningAll().executeTakeFirst()

/** What lists of people search and sort by: the name first, as people see it. */
export const searchTextOf = ({ name, username, email }: Pick<UserRow, 'name' | 'username' | 'email'>): string =>
  `${searchKey(name || username)}\n${username.toLowerCase()}\n${email}`

/**
 * Ends the sessions of a user, or all but one. Counting up ends those of tokens that name no session, and the sign-ins
 * that are under way, and a link to sign in. Returns undefined if the user has been deleted.
 */
export async function endSessions(db: Db, userId: string, except?: string): Promise<UserRow | undefined> {
  const user = await db
    .updateTable('users')
    .set((eb) => ({ sessions: eb('sessions', '+', 1) }))
    .where('userId', '=', userId)
    .returningAll()
    .executeTakeFirst()
  await deleteSessionsOf(db, userId, except) // after the update, which waits for sign-ins
  await deleteOneTimeTokensOf(db, userId, 'signIn')
  return user
}

/**
 * Whether no sessions were ended since the row was read. If so, none end until the transaction does: on PostgreSQL whoever
 * ends them waits, and SQLite has one write transaction at a time.
 */
export async function holdSessions(
  db: Db,
  { userId, sessions }: Pick<UserRow, 'userId' | 'sessions'>,
): Promise<boolean> {
  const held = await db
    .selectFrom('users')
    .select('sessions')
    .where('userId', '=', userId)
    .$if(isPostgres(db), (query) => query.forShare())
    .executeTakeFirst()
  return held?.sessions === sessions
}

/** Replaces the hash of an unchanged password. Sessions stay. */
export async function renewPassword(
  db: Db,
  { userId, password: former }: Pick<UserRow, 'userId' | 'password'>,
  password: string,
): Promise<void> {
  await db.updateTable('users').set({ password }).where('userId', '=', userId).where('password', '=', former).execute()
}

/** The highest cost among the bcrypt hashes of all users, as two digits. */
export async function highestBcryptCost(db: Db): Promise<string | undefined> {
  const row = await db
    .selectFrom('users')
    .select(bcryptCost.as('cost'))
    .where(sql<boolean>`password like '$2%'`)
    .orderBy(bcryptCost, 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.cost
}

const bcryptCost = sql<string>`substr(password, 5, 2)`

/** Locks the row until the transaction ends. Returns undefined if the user has been deleted. */
export const lockUser = (db: Db, userId: string): Promise<UserRow | undefined> =>
  db
    .updateTable('users')
    .set((eb) => ({ sessions: eb.ref('sessions') }))
    .where('userId', '=', userId)
    .returningAll()
    .executeTakeFirst()

/** Returns undefined if nothing changes. */
export const setBlocked = (db: Db, userId: string, isBlocked: 0 | 1, updatedAt: string): Promise<UserRow | undefined> =>
  db
    .updateTable('users')
    .set({ isBlocked, updatedAt })
    .where('userId', '=', userId)
    .where('isBlocked', '<>', isBlocked)
    .returningAll()
    .executeTakeFirst()

/** Deletes a user with votes, roles and mails. Posts and comments stay, without an author. */
export async function deleteUser(db: Db, { userId, email }: Pick<UserRow, 'userId' | 'email'>): Promise<boolean> {
  await db.deleteFrom('deliveries').where('kind', '=', 'mail').where('recipient', '=', email).execute()
  await db.deleteFrom('views').where('userId', '=', userId).where('isShared', '=', 0).execute()
  await deleteUnusedOf(db, userId)
  const { numDeletedRows } = await db.deleteFrom('users').where('userId', '=', userId).executeTakeFirst()
  return numDeletedRows > 0n
}

/**
 * Deletes the posts and comments of a user, erases the titles of the posts in the events, also of those that were deleted
 * before, and returns the ids of what it deleted. Comments on these posts are deleted too.
 */
export async function deleteContentOf(db: Db, userId: string): Promise<{ posts: string[]; comments: string[] }> {
  const own = await db
    .selectFrom('posts')
    .leftJoin('comments', 'comments.post_id', 'posts.postId')
    .select(['posts.postId', 'comments.id'])
    .where('posts.userId', '=', userId)
    .execute()
  const ids = new Set(own.flatMap((row) => [row.postId, ...(row.id === null ? [] : [row.id])]))
  await eraseNames(db, [...ids, ...(await formerContentOf(db, userId))])
  const comments = await db.deleteFrom('comments').where('author_id', '=', userId).returning('id').execute()
  const posts = await db.deleteFrom('posts').where('userId', '=', userId).returning('postId').execute()
  return { posts: posts.map((post) => post.postId), comments: comments.map((comment) => comment.id) }
}

/** Assigns the system role @everyone. */
export const assignEveryone = (db: Db, ...userIds: readonly string[]) =>
  db
    .insertInto('roles_users')
    .columns(['role_id', 'user_id'])
    .expression((eb) =>
      eb
        .selectFrom('users')
        .innerJoin('roles', (join) => join.on('isSystem', '=', 1).on('roles.name', '=', '@everyone'))
        .select(['roles.id', 'users.userId'])
        .where(isAmong(db, 'users.userId', userIds)),
    )
    .execute()
