import { quoted } from '../core/text.js'
import * as Type from 'typebox'
import { changesOf, type Recorded } from '../core/details.js'
import { AppError, type ErrorCode } from '../core/errors.js'
import { isId, newId } from '../core/ids.js'
import { PERMISSIONS, type Permission } from '../core/permissions.js'
import { stateBefore } from '../db/details.js'
import { LENGTHS } from '../core/lengths.js'
import {
  assignRole,
  deleteRole,
  findRoles,
  insertRole,
  listRoles,
  peopleOfRoles,
  permissionsOfRole,
  permissionsOfRoles,
  replacePermissions,
  roleTotal,
  rolesAfter,
  unassignRole,
  updateRole,
} from '../db/roles.js'
import type { Page, Period, Sorting } from '../db/paging.js'
import type { Db, RoleRow, UserRow } from '../db/tables.js'
import { can, refusedBy, type Actor, type Gated } from './lib/access.js'
import { change, type Change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { hasRolePermission } from './lib/names.js'
import { operation } from './lib/operation.js'
import { alias, pageFields, pageKeys, pageOf, sourceOf, type Listing } from './lib/paging.js'
import { findPerson } from './lib/people.js'
import { policy, runs } from './lib/policies.js'
import { fields, inPath, nullable, oneLine, someOf } from './lib/schemas.js'
import { allMatching, MOST_SEARCHED, textField, textMatcher } from './lib/textsearch.js'
import { isWithin, orderFields, periodFields, periodFrom } from './lib/times.js'
import { assertVersion, ifVersion, versionField, versionOf } from './lib/versions.js'

/** Whoever could change or take a stronger role could take away rights that are above their own. */
const onWeaker = (op: () => Gated) => (actor: Actor, role: Held) =>
  runs(op)(actor, role) ?? systemRole(role) ?? strongerRole(actor, role)

const rolePolicy = policy({
  update: onWeaker((): Gated => update),
  delete: onWeaker((): Gated => remove),
  assign: (actor: Actor, role: Held) => runs((): Gated => assign)(actor, role) ?? strongerRole(actor, role),
  unassign: (actor: Actor, role: Held) => runs((): Gated => unassign)(actor, role) ?? strongerRole(actor, role),
})

type Held = RoleRow & { permissions: readonly string[] }

const Role = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  description: nullable('string'),
  isSystem: Type.Boolean({ description: 'Built in; cannot be changed' }),
  require_totp: Type.Boolean({ description: 'Whether the role counts only for users with a second factor' }),
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
  may: rolePolicy.field,
})
export type Role = Type.Static<typeof Role>

const userCount = Type.Integer({ description: 'How many people have it' })

const Permissions = Type.Array(Type.String())

const roleName = Type.String({
  ...oneLine(LENGTHS.roleName),
  description: 'Name of up to 30 characters; several roles may share one',
})
const purpose = nullable('string', {
  maxLength: LENGTHS.purpose,
  trim: true,
  description: 'What it is for, in up to 50 characters',
})
const permissionList = someOf(PERMISSIONS, {
  minItems: 0,
  rule: 'a list of permissions, each of them one that GET /roles/permissions (feedbackctl roles permissions) names',
  description: 'Permissions of the role; you can give only those you have',
})
const requireTotp = (more = '') =>
  Type.Optional(Type.Boolean({ description: `Whether the role counts only for users with a second factor${more}` }))
export const roleId = Type.String({ description: 'Id of the role, or its name if no other role has it', names: 'role' })

const ListedRole = Type.Object({ ...Role.properties, user_count: userCount })

const ROLES: Listing<RoleRow> = { row: 'role', rows: 'Roles', id: 'id', alias: true }

export const list = operation({
  id: 'roles.list',
  summary: 'List roles, oldest first, with how many people have each',
  http: 'GET /roles 200',
  access: 'role:read',
  cache: 'actor',
  errors: [],
  input: fields({
    query: textField('roles', { within: 'name or description', most: MOST_SEARCHED }),
    ...orderFields('asc'),
    ...pageFields(ROLES),
    ...periodFields('roles created'),
  }),
  output: Type.Object({ roles: Type.Array(ListedRole), results: alias(ListedRole), ...pageKeys }),
  async run({ db, actor }, { query, created, since, until, ...page }) {
    const filter = { created, ...periodFrom({ since, until }) }
    const hasText = textMatcher(query)
    const read = (slice: Page<RoleRow>) => listRoles(db, filter, slice)
    const { rows: roles, keys } = await pageOf(ROLES, page, {
      ...(hasText
        ? sourceOf(ROLES, await allMatching(read, ({ name, description }) => hasText(name, description)))
        : await allRoles(db, filter)),
      async show(rows) {
        const ids = rows.map(({ id }) => id)
        const [held, people] = [await permissionsOfRoles(db, ids), await peopleOfRoles(db, ids)]
        return rows.map((role) => ({
          ...toRole(actor, { ...role, permissions: held.get(role.id) ?? [] }),
          user_count: people.get(role.id) ?? 0,
        }))
      },
    })
    return { roles, ...keys }
  },
})

const allRoles = async (db: Db, filter: Period & Sorting) => ({
  total: await roleTotal(db, filter),
  async find(after: string) {
    const [role] = isId(after) ? await findRoles(db, after) : []
    return role && isWithin(filter, role.created_at) ? role : undefined
  },
  countAfter: (cursor: RoleRow) => rolesAfter(db, filter, cursor),
  read: (slice: Page<RoleRow>) => listRoles(db, filter, slice),
})

export const permissions = operation({
  id: 'roles.permissions',
  summary: 'List the permissions that a role can have',
  http: 'GET /roles/permissions 200',
  access: 'role:read',
  errors: [],
  input: fields({}),
  output: Type.Object({ permissions: Permissions }),
  run: async () => ({ permissions: [...PERMISSIONS] }),
})

export const show = operation({
  id: 'roles.show',
  summary: 'Show a role with its permissions and how many people have it',
  http: 'GET /roles/:id 200',
  access: 'role:read',
  cache: 'actor',
  errors: ['ROLE_NOT_FOUND'],
  input: fields({ id: inPath('Id of the role, or its name if no other role has it', 'role') }),
  output: Type.Object({
    role: Type.Object({ ...ListedRole.properties, permissions: Permissions }),
    version: versionField,
  }),
  subject: roleOf,
  async run({ db, actor }, _, role) {
    const held = inOrder(await permissionsOfRole(db, role.id))
    const people = (await peopleOfRoles(db, [role.id])).get(role.id) ?? 0
    return {
      role: { ...toRole(actor, { ...role, permissions: held }), user_count: people, permissions: held },
      version: versionOf(changeable(role, held)),
    }
  },
})

/** The contract has no input here, and no rule that you must have the permissions you give. */
export const create = operation({
  id: 'roles.create',
  summary: 'Create a role with permissions that you have',
  http: 'POST /roles 201',
  access: 'role:create',
  errors: [],
  input: fields({
    name: Type.Optional({ ...roleName, default: 'new role' }),
    description: Type.Optional(purpose),
    permissions: Type.Optional(permissionList),
    require_totp: requireTotp(' (default: false)'),
  }),
  output: Type.Object({ role: Role }),
  async run(ctx, input) {
    const { name: title = '', permissions: given = [] } = input // `name` has a default
    assertOwn(ctx.actor, given)
    const now = ctx.now().toISOString()
    const row = {
      id: newId(),
      name: title,
      description: input.description || null,
      isSystem: 0,
      require_totp: input.require_totp ? 1 : 0,
      created_at: now,
      updated_at: now,
    }
    return change(ctx, async ({ db, actor, record }) => {
      const role = await insertRole(db, row)
      await replacePermissions(db, role.id, inOrder(given))
      record('role.created', role.id, role.name)
      return { role: toRole(actor, { ...role, permissions: given }) }
    })
  },
})

/** As in the contract, permissions that are not named are removed, unless the change is partial. */
export const update = operation({
  id: 'roles.update',
  summary: 'Change a role and replace its permissions; you must have both the old and the new permissions',
  http: 'PATCH /roles 200',
  access: 'role:update',
  changesOwnRights: true,
  errors: ['ROLE_NOT_FOUND', 'CANNOT_UPDATE_SYSTEM_ROLE', 'CONTENT_CHANGED'],
  input: fields(
    {
      id: roleId,
      name: Type.Optional(roleName),
      description: Type.Optional(purpose),
      permissions: Type.Optional(permissionList),
      require_totp: requireTotp(),
      partial: Type.Optional(
        Type.Boolean({
          description: 'Keep the permissions if none are given; otherwise all are removed',
        }),
      ),
      ifVersion,
    },
    ['isSystem', 'created_at', 'updated_at', 'may'],
  ),
  output: Type.Object({ role: Role, permissions: Permissions }),
  subject: roleOf,
  async run(ctx, input, subject) {
    assertNo(systemRole(subject))
    return change(ctx, async ({ db, actor, record }) => {
      const before = await stateBefore(db, 'role', subject.id)
      const role = await updateRole(db, subject.id, {
        ...(input.name !== undefined && { name: input.name }),
        ...(input.description !== undefined && { description: input.description || null }),
        ...(input.require_totp !== undefined && { require_totp: input.require_totp ? 1 : 0 }),
        updated_at: ctx.now().toISOString(),
      })
      if (!role) throw roleNotFound(input.id)
      const had = await permissionsOfRole(db, role.id) // after the update, which locks the role
      rolePolicy.assert('update', actor, { ...role, permissions: had })
      if (before) assertVersion(input.ifVersion, changeable(before, inOrder(had)))
      const wanted = inOrder(input.permissions ?? (input.partial ? had : []))
      const added = wanted.filter((permission) => !had.includes(permission))
      assertOwn(actor, added)
      await replacePermissions(db, role.id, wanted)
      record('role.updated', role.id, role.name, undefined, [
        ...(before ? changesOf('role', before, role) : []),
        ...(listed(had) === listed(wanted)
          ? []
          : [{ field: 'permissions', before: listed(had), after: listed(wanted) }]),
      ])
      return { role: toRole(actor, { ...role, permissions: wanted }), permissions: wanted }
    })
  },
})

/** Permissions as events have them. */
export const listed = (permissions: readonly string[]): string =>
  PERMISSIONS.filter((each) => permissions.includes(each)).join(' ')

/** What `update` sets. */
const changeable = (row: Recorded<'role'>, held: readonly string[]) => [
  row.name,
  row.description,
  row.require_totp,
  ...held,
]

export const remove = operation({
  id: 'roles.delete',
  summary: 'Delete a role and take it from all its users; you must have all its permissions',
  http: 'DELETE /roles 204',
  access: 'role:destroy',
  changesOwnRights: true,
  errors: ['ROLE_NOT_FOUND', 'CANNOT_UPDATE_SYSTEM_ROLE'],
  input: fields({ id: roleId }),
  output: Type.Undefined(),
  subject: roleOf,
  async run(ctx, input, subject) {
    assertNo(systemRole(subject))
    return change(ctx, async ({ db, actor, record }) => {
      const role = await updateRole(db, subject.id, {}) // locks it
      if (!role) throw roleNotFound(input.id)
      rolePolicy.assert('delete', actor, { ...role, permissions: await permissionsOfRole(db, role.id) })
      await deleteRole(db, role.id)
      record('role.deleted', subject.id, subject.name)
      return undefined
    })
  },
})

const assignment = {
  role_id: inPath('Id of the role, or its name if no other role has it', 'role'),
  user_id: inPath('Id, e-mail address or user name of the user', 'user'),
}

export const assign = operation({
  id: 'roles.assign',
  summary: 'Give a role to a user; you must have all its permissions',
  http: 'PUT /roles/:role_id/users/:user_id 200',
  access: 'role:assign',
  changesOwnRights: true,
  errors: ['INVALID_ROLE_ID', 'ROLE_NOT_FOUND', 'INVALID_USER_ID', 'USER_NOT_FOUND', 'ROLE_USER_CONFLICT'],
  input: fields(assignment),
  output: Type.Object({
    success: Type.Integer({ description: '1; 0 in the error if the user already has the role' }),
    ...Type.Pick(Role, ['id', 'name', 'isSystem']).properties,
    user_role_id: Type.String({ description: 'Same as id' }),
  }),
  subject: roleAndUser,
  run: (ctx, input, { role, user }) =>
    change(ctx, async ({ db, actor, record }) => {
      if (!(await updateRole(db, role.id, {}))) throw roleNotFound(input.role_id)
      assertOwn(actor, inOrder(await permissionsOfRole(db, role.id)))
      const outcome = await assignRole(db, role.id, user.userId)
      if (outcome === 'missing') throw userNotFound(input.user_id)
      if (outcome === 'unchanged')
        throw new AppError('ROLE_USER_CONFLICT', `This user already has the role "${role.name}".`)
      record('role.assigned', role.id, role.name, user.userId)
      return { success: 1, id: role.id, name: role.name, isSystem: role.isSystem === 1, user_role_id: role.id }
    }),
})

export const unassign = operation({
  id: 'roles.unassign',
  summary: 'Take a role from a user, if they have it; you must have all its permissions',
  http: 'DELETE /roles/:role_id/users/:user_id 204',
  access: 'role:unassign',
  changesOwnRights: true,
  errors: ['INVALID_ROLE_ID', 'ROLE_NOT_FOUND', 'INVALID_USER_ID', 'USER_NOT_FOUND'],
  input: fields(assignment),
  output: Type.Undefined(),
  subject: roleAndUser,
  run: (ctx, _, { role, user }) =>
    change(ctx, async ({ db, actor, record }) => {
      if (!(await updateRole(db, role.id, {}))) return undefined // deleted meanwhile, so nobody has it
      assertNo(strongerRole(actor, { ...role, permissions: await permissionsOfRole(db, role.id) }))
      if (await unassignRole(db, role.id, user.userId)) record('role.unassigned', role.id, role.name, user.userId)
      return undefined
    }),
})

/** Gives a role to new people. Refuses what `assign` refuses. */
export async function giverOf(ctx: Context, given: string): Promise<(tx: Change) => Promise<Give>> {
  assertNo(refusedBy('role:assign', ctx.actor))
  const role = await roleOf(ctx, { id: given })
  return async ({ db, actor, record }) => {
    if (!(await updateRole(db, role.id, {}))) throw roleNotFound(given)
    assertOwn(actor, inOrder(await permissionsOfRole(db, role.id)))
    return async (userId) => {
      if ((await assignRole(db, role.id, userId)) === 'assigned') record('role.assigned', role.id, role.name, userId)
    }
  }
}

type Give = (userId: string) => Promise<void>

function assertOwn(actor: Actor, given: readonly Permission[]): void {
  const lacking = given.find((permission) => !can(actor, permission))
  if (!lacking) return
  throw new AppError(
    'NOT_ENOUGH_PERMISSION',
    `You cannot give the permission ${lacking}, because you do not have it. Ask the owner of the site.`,
  )
}

function strongerRole(actor: Actor, { name, permissions: held }: Held): AppError | undefined {
  const lacking = inOrder(held).find((permission) => !can(actor, permission))
  return (
    lacking &&
    new AppError(
      'NOT_ENOUGH_PERMISSION',
      `The role "${name}" has the permission ${lacking}, which you do not have. Ask the owner of the site.`,
    )
  )
}

const systemRole = ({ name, isSystem }: RoleRow): AppError | undefined =>
  isSystem
    ? new AppError(
        'CANNOT_UPDATE_SYSTEM_ROLE',
        `"${name}" is a system role and cannot be changed. Create another role instead.`,
      )
    : undefined

function assertNo(refusal: AppError | undefined): void {
  if (refusal) throw refusal
}

const inOrder = (given: readonly string[]): Permission[] =>
  PERMISSIONS.filter((permission) => given.includes(permission))

/** By id, or by name for accounts with a role permission. Others do not learn which roles exist. */
async function roleOf(
  { db, actor }: Context,
  { id: given }: Record<string, unknown>,
  failure: ErrorCode = 'ROLE_NOT_FOUND',
): Promise<RoleRow> {
  if (typeof given !== 'string' || given === '') throw new AppError(failure, 'Which role? Give its id, or its name.')
  const [role, other] = isId(given) || hasRolePermission(actor) ? await findRoles(db, given) : []
  if (other) throw new AppError(failure, `More than one role has the name ${shown(given)}. Give the id.`)
  if (role) return role
  throw isId(given)
    ? roleNotFound(given)
    : new AppError(failure, `Role ${shown(given)} not found. Give its id, or its name.`)
}

async function roleAndUser(
  ctx: Context,
  { role_id: roleId, user_id: userId }: Record<string, unknown>,
): Promise<{ role: RoleRow; user: UserRow }> {
  const role = await roleOf(ctx, { id: roleId }, 'INVALID_ROLE_ID')
  if (typeof userId !== 'string' || userId === '')
    throw new AppError('INVALID_USER_ID', 'Which user? Give the e-mail address, the user name or the id.')
  const user = isId(userId) || hasRolePermission(ctx.actor) ? await findPerson(ctx, userId) : undefined
  if (user) return { role, user }
  if (isId(userId)) throw userNotFound(userId)
  throw new AppError('INVALID_USER_ID', `User ${shown(userId)} not found. Give their e-mail address, user name or id.`)
}

const shown = (given: string): string => quoted(given)

const roleNotFound = (given: string) => new AppError('ROLE_NOT_FOUND', `Role ${shown(given)} not found.`)

const userNotFound = (given: string) => new AppError('USER_NOT_FOUND', `User ${shown(given)} not found.`)

const toRole = (actor: Actor, role: Held): Role => {
  const { id, name, description, isSystem, require_totp, created_at, updated_at } = role
  return {
    id,
    name,
    description,
    isSystem: isSystem === 1,
    require_totp: require_totp === 1,
    created_at,
    updated_at,
    may: rolePolicy.may(actor, role),
  }
}
