import type { Insertable, Updateable } from 'kysely'
import { asStored, isId } from '../core/ids.js'
import { countAfter, pageOf, within, type Page, type Period, type Sorting } from './paging.js'
import type { Db, RoleRow, Tables } from './tables.js'
import { lockUser } from './users.js'

const orderOf = ({ created: direction }: Sorting) => ({ by: ['created_at', 'id'], direction }) as const

const filtered = (db: Db, period: Period) => within(db.selectFrom('roles'), 'created_at', period)

export const listRoles = (db: Db, filter: Period & Sorting, page: Page<RoleRow>): Promise<RoleRow[]> =>
  pageOf(filtered(db, filter), orderOf(filter), page).selectAll().execute()

/** Counts on each call: roles are few and rarely listed. */
export async function roleTotal(db: Db, period: Period): Promise<number> {
  const { count } = await filtered(db, period)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

export const rolesAfter = async (db: Db, filter: Period & Sorting, cursor: RoleRow): Promise<number> =>
  (await countAfter(filtered(db, filter), orderOf(filter), cursor).executeTakeFirstOrThrow()).count

/** The role with this id, or some with this name: two are enough to know that a name is ambiguous. */
export const findRoles = (db: Db, idOrName: string, most = 2): Promise<RoleRow[]> =>
  db
    .selectFrom('roles')
    .selectAll()
    .where(isId(idOrName) ? 'id' : 'name', '=', asStored(idOrName))
    .limit(most)
    .execute()

export async function permissionsOfRole(db: Db, id: string): Promise<string[]> {
  const rows = await db.selectFrom('role_permissions').select('permission').where('role_id', '=', id).execute()
  return rows.map((row) => row.permission)
}

/** The permissions of each of these roles, by its id. */
export async function permissionsOfRoles(db: Db, ids: readonly string[]): Promise<Map<string, string[]>> {
  const found = new Map(ids.map((id) => [id, [] as string[]]))
  if (ids.length === 0) return found
  const rows = await db
    .selectFrom('role_permissions')
    .select(['role_id', 'permission'])
    .where('role_id', 'in', ids)
    .execute()
  for (const { role_id: id, permission } of rows) found.get(id)?.push(permission)
  return found
}

/** How many people have each of these roles, by its id. */
export async function peopleOfRoles(db: Db, ids: readonly string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('roles_users')
    .select((eb) => ['role_id', eb.fn.countAll<number>().as('count')])
    .where('role_id', 'in', ids)
    .groupBy('role_id')
    .execute()
  return new Map(rows.map(({ role_id: id, count }) => [id, count]))
}

export const insertRole = (db: Db, role: Insertable<Tables['roles']>): Promise<RoleRow> =>
  db.insertInto('roles').values(role).returningAll().executeTakeFirstOrThrow()

/**
 * Locks the row until the transaction ends, even if nothing changes. Returns undefined if the role has been deleted.
 */
export const updateRole = (db: Db, id: string, change: Updateable<Tables['roles']>): Promise<RoleRow | undefined> =>
  db
    .updateTable('roles')
    .set((eb) => ({ name: eb.ref('name'), ...change }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()

export const deleteRole = (db: Db, id: string): Promise<RoleRow | undefined> =>
  db.deleteFrom('roles').where('id', '=', id).returningAll().executeTakeFirst()

export async function replacePermissions(db: Db, id: string, permissions: readonly string[]): Promise<void> {
  await db.deleteFrom('role_permissions').where('role_id', '=', id).execute()
  if (permissions.length === 0) return
  await db
    .insertInto('role_permissions')
    .values(permissions.map((permission) => ({ role_id: id, permission })))
    .execute()
}

/**
 * Assigns a role, whose row the transaction has locked. 'missing': the user has been deleted. 'unchanged': the user has
 * the role.
 */
export async function assignRole(
  db: Db,
  roleId: string,
  userId: string,
): Promise<'missing' | 'unchanged' | 'assigned'> {
  if (!(await lockUser(db, userId))) return 'missing'
  const row = await db
    .insertInto('roles_users')
    .values({ role_id: roleId, user_id: userId })
    .onConflict((conflict) => conflict.columns(['user_id', 'role_id']).doNothing())
    .returning('role_id')
    .executeTakeFirst()
  return row ? 'assigned' : 'unchanged'
}

/** Returns false if the user did not have the role. */
export async function unassignRole(db: Db, roleId: string, userId: string): Promise<boolean> {
  const row = await db
    .deleteFrom('roles_users')
    .where('role_id', '=', roleId)
    .where('user_id', '=', userId)
    .returning('role_id')
    .executeTakeFirst()
  return row !== undefined
}
