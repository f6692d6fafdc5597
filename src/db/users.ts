import type { Insertable, Updateable } from 'kysely'
import { isId } from '../core/ids.js'
import type { Db } from './connect.js'
import { unlessTaken } from './dialect.js'
import type { Tables, UserRow } from './tables.js'

/** By id, e-mail address or user name: no two of these look alike. */
export const findUser = (db: Db, who: string): Promise<UserRow | undefined> =>
  db
    .selectFrom('users')
    .selectAll()
    .where(isId(who) ? 'userId' : who.includes('@') ? 'email' : 'username', '=', who.includes('@') ? who.toLowerCase() : who)
    .executeTakeFirst()

export const findUserByEmail = (db: Db, email: string): Promise<UserRow | undefined> =>
  db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst()

/** A person with everything their roles allow, or undefined: asked on every request, so that a change acts at once. */
export async function findActor(
  db: Db,
  userId: string,
): Promise<(Pick<UserRow, 'userId' | 'isOwner' | 'isBlocked' | 'sessions'> & { permissions: string[] }) | undefined> {
  const rows = await db
    .selectFrom('users')
    .leftJoin('roles_users', 'roles_users.user_id', 'users.userId')
    .leftJoin('role_permissions', 'role_permissions.role_id', 'roles_users.role_id')
    .select(['users.userId', 'users.isOwner', 'users.isBlocked', 'users.sessions', 'role_permissions.permission'])
    .distinct()
    .where('users.userId', '=', userId)
    .execute()
  const [user] = rows
  if (!user) return undefined
  const { permission: _, ...person } = user
  return { ...person, permissions: rows.flatMap((row) => row.permission ?? []) }
}

export const findOwner = (db: Db): Promise<Pick<UserRow, 'userId' | 'email'> | undefined> =>
  db.selectFrom('users').select(['userId', 'email']).where('isOwner', '=', 1).executeTakeFirst()

/** Returns undefined when the site has an owner, or when the address or the user name is taken. */
export const insertUser = (db: Db, user: Insertable<Tables['users']>): Promise<UserRow | undefined> =>
  db
    .insertInto('users')
    .values(user)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()

type UserChange = Updateable<Tables['users']> & { updatedAt: string }

/** Returns 'taken' when another person has the address or the user name, and undefined when there is no such person any more. */
export const updateUser = (db: Db, userId: string, change: UserChange, { endSessions = false } = {}): Promise<UserRow | 'taken' | undefined> =>
  unlessTaken(db, () =>
    db
      .updateTable('users')
      .set((eb) => ({ ...change, ...(endSessions && { sessions: eb('sessions', '+', 1) }) }))
      .where('userId', '=', userId)
      .returningAll()
      .executeTakeFirst(),
  )

/** Gives a person the system role that everyone has. */
export const assignEveryone = (db: Db, userId: string) =>
  db
    .insertInto('roles_users')
    .columns(['role_id', 'user_id'])
    .expression((eb) =>
      eb
        .selectFrom('roles')
        .select((select) => ['roles.id', select.val(userId).as('user_id')])
        .where('isSystem', '=', 1)
        .where('name', '=', '@everyone'),
    )
    .execute()
