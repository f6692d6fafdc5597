import { AppError } from '../../core/errors.js'
import type { Permission } from '../../core/permissions.js'

/** Who may: everybody; whoever is signed in; the owner alone; or whoever has the permission, or one of those listed. The owner has all. */
export type Access = 'public' | 'signed-in' | 'owner' | Permission | readonly Permission[]

/** Who asks. A visitor carries the error that says why the request is not signed in, for operations that need it. */
export interface Actor {
  userId: string | null
  isOwner: boolean
  permissions: ReadonlySet<string>
  refusal: AppError | null
  /** Until when they are who they are, in milliseconds since 1970: the end of a session; 0 where it is not known. */
  until: number
}

/** The person at the command line with the database in reach: the owner's rights, and no account. */
export const operator: Actor = { userId: null, isOwner: true, permissions: new Set(), refusal: null, until: Infinity }

export const visitor = (refusal: AppError, until = 0): Actor => ({
  userId: null,
  isOwner: false,
  permissions: new Set(),
  refusal,
  until,
})

export const can = (actor: Actor, permission: Permission): boolean => actor.isOwner || actor.permissions.has(permission)

export function assertSignedIn(access: Access, actor: Actor): void {
  if (access !== 'public' && actor.refusal) throw actor.refusal
}

export function assertAllowed(access: Access, actor: Actor): void {
  if (access === 'public' || access === 'signed-in' || access === 'owner') return
  const anyOf: readonly Permission[] = typeof access === 'string' ? [access] : access
  if (!anyOf.some((permission) => can(actor, permission))) throw notAllowed(anyOf)
}

/** In the contract what is the owner's alone is refused after the input was checked, unlike what needs a permission. */
export function assertOwner(access: Access, actor: Actor): void {
  if (access === 'owner' && !actor.isOwner)
    throw new AppError('NOT_ENOUGH_PERMISSION', 'Only the owner of the site may do this.')
}

export const notAllowed = (anyOf: readonly Permission[]): AppError =>
  new AppError(
    'NOT_ENOUGH_PERMISSION',
    `This needs the permission ${anyOf.join(' or ')}. Ask the owner of the site for a role that has it.`,
  )
