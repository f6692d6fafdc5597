import { AppError } from '../../core/errors.js'
import { isPlaceholder, lacksAddress } from '../../core/placeholders.js'
import { PERMISSIONS } from '../../core/permissions.js'
import { peopleWithIdentity } from '../../db/identities.js'
import { permissionsOfRoles } from '../../db/roles.js'
import type { Db, UserRow } from '../../db/tables.js'
import { rolesOf } from '../../db/users.js'
import { can, refusedBy, type Actor } from './access.js'
import { needs, policy } from './policies.js'

/** Without what `isPlaceholder` looks at, it cannot be merged. */
type Account = Pick<UserRow, 'userId' | 'isOwner'> &
  Partial<Pick<UserRow, 'email' | 'password'>> & { hasIdentity?: boolean }

/** An account with what its roles permit, also those that wait for a second factor. System roles, which everybody has, do not count. */
export type Holder = Account & { permissions: readonly string[] }

/** The rule for everybody, the owner and the command line too. */
const notOwner =
  (done: string) =>
  (_actor: Actor, { isOwner }: Pick<Account, 'isOwner'>): AppError | undefined =>
    isOwner ? new AppError('CANNOT_CHANGE_OWNER', `The owner of the site cannot be ${done}.`) : undefined

/** Whoever could shut out the owner, or a person with other rights, could take away rights above their own. */
const onWeaker =
  (done: string) =>
  (actor: Actor, person: Holder): AppError | undefined =>
    needs('user:block')(actor, person) ?? (actor.isOwner ? undefined : tooStrong(actor, person, done))

/** What refuses to take something from the owner, or from a person with rights above one's own. */
export function tooStrong(actor: Actor, person: Holder, done: string): AppError | undefined {
  if (person.isOwner) return new AppError('CANNOT_CHANGE_OWNER', `The owner of the site cannot be ${done} by others.`)
  const lacking = PERMISSIONS.find((permission) => person.permissions.includes(permission) && !can(actor, permission))
  return (
    lacking &&
    new AppError(
      'NOT_ENOUGH_PERMISSION',
      `This user has the permission ${lacking}, which you do not have, so they cannot be ${done} by you. Ask the owner of the site.`,
    )
  )
}

const notOneself = (actor: Actor, { userId }: Account): AppError | undefined =>
  !actor.isOwner && userId === actor.userId
    ? new AppError('NOT_ENOUGH_PERMISSION', 'You cannot block your own account.')
    : undefined

/** Nobody loses an account that they can sign in to. */
const notOthers = (person: Account): AppError | undefined =>
  isPlaceholder(person)
    ? undefined
    : new AppError(
        'MERGE_REFUSED',
        'Only people whom an import brought without an address can be merged. Whoever has this account can sign in to it.',
      )

const ownerOnly = (actor: Actor) => refusedBy('owner', actor)

/** What may be done with an account. */
export const userPolicy = policy({
  block: (actor: Actor, person: Holder) =>
    onWeaker('blocked')(actor, person) ?? notOwner('blocked')(actor, person) ?? notOneself(actor, person),
  unblock: onWeaker('unblocked'),
  signOut: onWeaker('signed out'),
  delete: (actor: Actor, person: Holder) => ownerOnly(actor) ?? notOwner('deleted')(actor, person),
  merge: (actor: Actor, person: Holder) => ownerOnly(actor) ?? notOthers(person),
})

/** What people may do with their own, which no API key may. */
export const accountPolicy = policy({
  delete: (actor: Actor, user: Pick<Account, 'isOwner'>) =>
    refusedBy('session', actor) ?? notOwner('deleted')(actor, user),
})

/** The same account with its permissions. */
export async function holderOf<Row extends Account>(db: Db, row: Row): Promise<Row & Holder> {
  const [permissions = []] = await permissionsOf(db, [row.userId])
  return { ...row, permissions, hasIdentity: (await recognised(db, [row])).has(row.userId) }
}

/** The accounts that have an identity. Only accounts without an address are looked up: others cannot be placeholders. */
export const recognised = (db: Db, rows: readonly Account[]): Promise<Set<string>> =>
  peopleWithIdentity(
    db,
    rows.filter(lacksAddress).map(({ userId }) => userId),
  )

/** What their roles permit, for each of these people. */
export async function permissionsOf(db: Db, userIds: readonly string[]): Promise<string[][]> {
  if (userIds.length === 0) return []
  const roles = (await rolesOf(db, [...new Set(userIds)])).filter(({ isSystem }) => !isSystem)
  const held = await permissionsOfRoles(db, [...new Set(roles.map(({ id }) => id))])
  return userIds.map((userId) => roles.flatMap((role) => (role.user_id === userId ? (held.get(role.id) ?? []) : [])))
}
