import { AppError, type Failure } from '../../core/errors.js'
import { isForContent, type Permission } from '../../core/permissions.js'

/**
 * Who may run an operation: everybody, any account, any account but with no API key ('session'), the owner only, or
 * accounts with one of these permissions. The owner has every permission.
 */
export type Access = 'public' | 'signed-in' | 'session' | 'owner' | Permission | readonly Permission[]

/** The codes of an actor's `refusal`. */
export const SIGN_IN_ERRORS = [
  'INVALID_AUTH_HEADER',
  'INVALID_AUTH_HEADER_FORMAT',
  'INVALID_TOKEN',
  'USER_NOT_FOUND',
  'USER_BLOCK',
  'ACCESS_DENIED',
] as const satisfies Failure[]

/** Who makes a request. `refusal` says why the request is not signed in; operations that need an account throw it. */
export interface Actor {
  userId: string | null
  isOwner: boolean
  permissions: ReadonlySet<string>
  refusal: AppError | null
  /** Session expiry, Unix ms; 0 where it is not known. */
  expiresAt: number
  /** The session of the request. Absent for API keys, at the command line, and for tokens of versions without sessions. */
  sessionId?: string
  /** Of a token that names no session: `sessions` of its person when it was made. */
  generation?: number
  /** Whether the person has not confirmed the address yet. The owner need not. */
  isUnverified?: boolean
  /** Whether this keeps them from writing what others see, see `accounts.unverified`. */
  onlyReads?: boolean
  /** When the account was created. Absent for the team, whose accounts are never new. ISO 8601. */
  joinedAt?: string
  /** The API key of the request, which has at most the rights of its person. */
  key?: { keyId: string; isLimited: boolean }
}

/** The person at the command line, with direct access to the database: the owner's rights and no account. */
export const operator: Actor = {
  userId: null,
  isOwner: true,
  permissions: new Set(),
  refusal: null,
  expiresAt: Infinity,
}

export const isOperator = ({ userId, isOwner }: Actor): boolean => isOwner && userId === null

export const visitor = (refusal: AppError, expiresAt = 0): Actor => ({
  userId: null,
  isOwner: false,
  permissions: new Set(),
  refusal,
  expiresAt,
})

/** Whether an account decides about posts or comments of others, as `byOthers` in `db/moderation.ts` has it. */
export const MODERATORS = ['post:destroy', 'comment:update:any'] as const

export const can = (actor: Actor, permission: Permission): boolean => actor.isOwner || actor.permissions.has(permission)

/** The same without what waits until the address is confirmed. */
export const canNow = (actor: Actor, permission: Permission): boolean =>
  can(actor, permission) && !(actor.onlyReads && isForContent(permission))

export function assertSignedIn(access: Access, actor: Actor): void {
  if (access !== 'public' && actor.refusal) throw actor.refusal
}

export function assertAllowed(access: Access, actor: Actor): void {
  const refusal = access === 'owner' ? undefined : refusedBy(access, actor)
  if (refusal) throw refusal
}

/** What refuses an account that is signed in. */
export function refusedBy(access: Access, actor: Actor): AppError | undefined {
  if (access === 'public' || access === 'signed-in') return undefined
  if (access === 'owner') return actor.isOwner ? undefined : ownerOnly()
  if (access === 'session') return actor.key && noKey()
  const anyOf: readonly Permission[] = typeof access === 'string' ? [access] : access
  return anyOf.some((permission) => can(actor, permission)) ? undefined : notAllowed(anyOf)
}

/** What an operation declares about who may run it. */
export interface Gated {
  access: Access
  writes?: 'content'
}

/** What refuses an account that is signed in an operation, whatever the row is. */
export const refusalTo = ({ access, writes }: Gated, actor: Actor): AppError | undefined =>
  refusedBy(access, actor) ?? (writes && unconfirmed(actor))

export const isPermitted = (op: Gated, actor: Actor): boolean => withoutStacks(() => refusalTo(op, actor) === undefined)

/** Runs synchronous work without capturing the stacks of new errors. Use it where errors are only counted, not thrown. */
export function withoutStacks<T>(work: () => T): T {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return work()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** A key that leaks must not give access that outlives it. */
export function assertNoKey(actor: Actor): void {
  if (actor.key) throw noKey()
}

const noKey = () =>
  new AppError('NOT_ENOUGH_PERMISSION', 'This cannot be done with an API key. Sign in with POST /auth/login.')

const ownerOnly = () => new AppError('NOT_ENOUGH_PERMISSION', 'Only the owner of the site may do this.')

/** For what others see: some sites want a confirmed address first. */
export const unconfirmed = ({ onlyReads }: Actor): AppError | undefined =>
  onlyReads
    ? new AppError(
        'EMAIL_NOT_VERIFIED',
        'Confirm your e-mail address first, with the link in the mail that was sent to you.',
      )
    : undefined

export function assertVerified(actor: Actor): void {
  const refusal = unconfirmed(actor)
  if (refusal) throw refusal
}

/** The contract checks the input before ownership, but after permissions. */
export function assertOwner(access: Access, actor: Actor): void {
  if (access === 'owner' && !actor.isOwner) throw ownerOnly()
}

/** Authors cannot delete what others have added to. */
export const othersTookPart = (permission: Permission): AppError =>
  new AppError(
    'NOT_ENOUGH_PERMISSION',
    `Others have taken part, so to delete it needs the permission ${permission}. Report it to ask the team.`,
  )

export const notAllowed = (anyOf: readonly Permission[]): AppError =>
  new AppError(
    'NOT_ENOUGH_PERMISSION',
    `This needs the permission ${anyOf.join(' or ')}. Ask the owner of the site for a role that has it.`,
  )
