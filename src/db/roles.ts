import type { Insertable, Updateable } from 'kysely'
import { asStored, isId } from '../core/ids.js'
import { countAfter, pageOf, type Page } from './paging.js'
import type { Db, RoleRow, Tables } from './tables.js'
import { holdUser } from './users.js'

const ORDER = { by: ['created_at', 'id'] } as const

export const listRoles = (db: Db, page: Page<RoleRow>): Promise<RoleRow[]> =>
  pageOf(db.selectFrom('roles'), ORDER, page).selectAll().execute()

/** Counted each time: roles are few, and few people list them. */
export async function roleTotal(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('roles')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

export const rolesAfter = async (db: Db, cursor: RoleRow): Promise<number> =>
  (await countAfter(db.selectFrom('roles'), ORDER, cursor).executeTakeFirstOrThrow()).count

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
  if (!(await holdUser(db, userId))) return 'gone'
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
