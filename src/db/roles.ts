import { sql, type Insertable, type Updateable } from 'kysely'
import { asStored, isId } from '../core/ids.js'
import type { Db, RoleRow, Tables } from './tables.js'

const following = (db: Db, cursor: RoleRow) =>
  db.selectFrom('roles').where((eb) => eb(eb.refTuple('created_at', 'id'), '>', eb.tuple(cursor.created_at, cursor.id)))

/** A page by age, by number of rows to skip, or by the role it comes after. */
export const listRoles = (db: Db, page: { limit: number; offset?: number; after?: RoleRow }): Promise<RoleRow[]> =>
  (page.after ? following(db, page.after) : db.selectFrom('roles'))
    .selectAll()
    .orderBy('created_at')
    .orderBy('id')
    .limit(page.limit)
    .$if(page.offset !== undefined, (query) => query.offset(page.offset ?? 0))
    .execute()

const count = sql<number>`count(*)`.as('count')

/** Counted anew: roles are few, and only who keeps the site asks. */
export const roleTotal = async (db: Db): Promise<number> =>
  (await db.selectFrom('roles').select(count).executeTakeFirstOrThrow()).count

export const rolesAfter = async (db: Db, cursor: RoleRow): Promise<number> =>
  (await following(db, cursor).select(count).executeTakeFirstOrThrow()).count

/** The role of an id, or those of a name, of which there may be several: two are enough to know. */
export const findRoles = (db: Db, idOrName: string): Promise<RoleRow[]> =>
  db
    .selectFrom('roles')
    .selectAll()
    .where(isId(idOrName) ? 'id' : 'name', '=', asStored(idOrName))
    .limit(2)
    .execute()

export async function permissionsOfRole(db: Db, id: string): Promise<string[]> {
  const rows = await db.selectFrom('role_permissions').select('permission').where('role_id', '=', id).execute()
  return rows.map((row) => row.permission)
}

export const insertRole = (db: Db, role: Insertable<Tables['roles']>): Promise<RoleRow> =>
  db.insertInto('roles').values(role).returningAll().executeTakeFirstOrThrow()

/** Returns undefined when there is no such role any more. Nobody else changes or deletes it until the transaction ends, even if nothing was to change. */
export const updateRole = (db: Db, id: string, change: Updateable<Tables['roles']>): Promise<RoleRow | undefined> =>
  db
    .updateTable('roles')
    .set((eb) => ({ name: eb.ref('name'), ...change }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()

export const deleteRole = (db: Db, id: string): Promise<RoleRow | undefined> =>
  db.deleteFrom('roles').where('id', '=', id).returningAll().executeTakeFirst()

/** Makes these the permissions of a role, and no others. */
export async function replacePermissions(db: Db, id: string, permissions: readonly string[]): Promise<void> {
  await db.deleteFrom('role_permissions').where('role_id', '=', id).execute()
  if (permissions.length === 0) return
  await db
    .insertInto('role_permissions')
    .values(permissions.map((permission) => ({ role_id: id, permission })))
    .execute()
}

/** Gives a role, whose row is held, to a person: 'gone' if there is no such person any more, 'had' if they have it already. */
export async function assignRole(db: Db, roleId: string, userId: string): Promise<'gone' | 'had' | 'given'> {
  const user = await db
    .updateTable('users')
    .set((eb) => ({ name: eb.ref('name') })) // so that the account is not deleted meanwhile
    .where('userId', '=', userId)
    .returning('userId')
    .executeTakeFirst()
  if (!user) return 'gone'
  const given = await db
    .insertInto('roles_users')
    .values({ role_id: roleId, user_id: userId })
    .onConflict((conflict) => conflict.columns(['user_id', 'role_id']).doNothing())
    .returning('role_id')
    .executeTakeFirst()
  return given ? 'given' : 'had'
}

/** Whether the person had it. */
export async function unassignRole(db: Db, roleId: string, userId: string): Promise<boolean> {
  const row = await db
    .deleteFrom('roles_users')
    .where('role_id', '=', roleId)
    .where('user_id', '=', userId)
    .returning('role_id')
    .executeTakeFirst()
  return row !== undefined
}
