import { AppError } from '../../core/errors.js'
import { newId } from '../../core/ids.js'
import { findSession, insertSession, putSessionUse } from '../../db/sessions.js'
import type { SessionRow, UserRow } from '../../db/tables.js'
import { findActor, findOwner } from '../../db/users.js'
import { MODERATORS, operator, visitor, type Actor } from './access.js'
import type { Context } from './context.js'
import { KEY_PREFIX, readKey } from './keys.js'
import { readSessionToken, SESSION_LIFETIME, type SessionClaims } from './tokens.js'
import { recordUse } from './uses.js'

const SIGN_IN = 'Sign in with POST /auth/login and send the token as "Authorization: Bearer <authToken>".'

/** Shared by all requests: an error records its stack, which takes longer than most requests of visitors. */
const ANONYMOUS = visitor(new AppError('INVALID_AUTH_HEADER', `This needs an account. ${SIGN_IN}`), Infinity)

/**
 * The actor of an Authorization header, checked in the contract's order (section 1.0). Never throws: a request that is
 * not signed in gets a visitor with the reason as its refusal. Runs for every request, so blocks and role changes apply
 * at once.
 */
export async function actorOf(
  authorization: string | undefined,
  ctx: Pick<Context, 'db' | 'secret' | 'previousSecret' | 'now'>,
): Promise<Actor> {
  if (authorization === undefined) return ANONYMOUS
  const [scheme, token, ...more] = authorization.trim().split(/\s+/)
  if (scheme?.toLowerCase() !== 'bearer' || !token || more.length > 0)
    return visitor(
      new AppError('INVALID_AUTH_HEADER_FORMAT', `The Authorization header must be "Bearer <authToken>". ${SIGN_IN}`),
    )
  if (token.startsWith(KEY_PREFIX)) return keyActor(token, ctx)
  const claims = await readSessionToken(ctx, token)
  if (claims === undefined)
    return visitor(new AppError('INVALID_TOKEN', `The token is not valid, or has expired. ${SIGN_IN}`))
  const user = await findActor(ctx.db, claims.userId)
  const { sessionId } = claims
  const expiresAt = user && (await sessionEnd(ctx, claims, user))
  const actor = personActor(user, { expiresAt: expiresAt ?? 0 })
  if (user && expiresAt === undefined)
    return visitor(
      (user.isBlocked && actor.refusal) || new AppError('INVALID_TOKEN', `This session was ended. ${SIGN_IN}`),
    )
  return sessionId === undefined ? { ...actor, generation: claims.generation } : { ...actor, sessionId }
}

/**
 * For a write that gives access: throws INVALID_TOKEN where the session of the actor has ended since the request began.
 * Call it in the transaction, after `lockUser`, which waits for whoever ends the sessions of the person.
 */
export async function assertStillSignedIn(
  { db, actor }: Pick<Context, 'db' | 'actor'>,
  { sessions, isBlocked }: Pick<UserRow, 'sessions' | 'isBlocked'>,
): Promise<void> {
  const { sessionId, generation = sessions } = actor
  const lives = sessionId === undefined ? generation === sessions : (await findSession(db, sessionId)) !== undefined
  if (!lives || (isBlocked === 1 && actor.userId !== null && !actor.isOwner))
    throw new AppError('INVALID_TOKEN', `This session was ended. ${SIGN_IN}`)
}

/** Until when a response to a session may be cached, Unix ms; undefined where the session has ended. */
async function sessionEnd(
  { db, now }: Pick<Context, 'db' | 'now'>,
  { userId, sessionId, generation, expiresAt }: SessionClaims,
  user: { sessions: number },
): Promise<number | undefined> {
  if (sessionId === undefined) return user.sessions === generation ? expiresAt : undefined
  const session = await findSession(db, sessionId)
  if (session?.userId !== userId || session.expiresAt <= now().toISOString()) return undefined
  const until = await recordUse(sessionId, now(), (usedAt) => putSessionUse(db, { sessionId, usedAt }))
  return Math.min(until, expiresAt, Date.parse(session.expiresAt))
}

/** Sessions that a person can have. A further one ends the oldest. */
export const MAX_SESSIONS = 1000

/** Begins a session of whoever signs in. */
export async function beginSession(
  { db, now, client }: Pick<Context, 'db' | 'now' | 'client'>,
  userId: string,
): Promise<SessionRow> {
  const [sessionId, time] = [newId(), now()]
  const session = {
    sessionId,
    userId,
    userAgent: client?.userAgent ?? '',
    address: client?.address ?? null,
    createdAt: time.toISOString(),
    expiresAt: new Date(time.getTime() + SESSION_LIFETIME).toISOString(),
  }
  await insertSession(db, session, MAX_SESSIONS)
  return session
}

/** The actor of an API key: its person, with the permissions that both have. */
async function keyActor(token: string, { db, now }: Pick<Context, 'db' | 'now'>): Promise<Actor> {
  const key = await readKey(db, now(), token)
  if (!key) return visitor(new AppError('INVALID_TOKEN', 'The API key is not valid: it has expired, or was revoked.'))
  const { keyId, expiresAt, permissions: limits } = key
  const user = await findActor(db, key.userId)
  const limited = user &&
    limits && {
      ...user,
      isOwner: 0,
      permissions: user.isOwner ? limits : limits.filter((each) => user.permissions.includes(each)),
    }
  const { joinedAt: _, ...actor } = personActor(limited ?? user, { expiresAt })
  return { ...actor, ...joinedOf(user), key: { keyId, isLimited: limits !== undefined } }
}

function personActor(user: Awaited<ReturnType<typeof findActor>>, { expiresAt }: { expiresAt: number }): Actor {
  if (!user)
    return visitor(
      new AppError('USER_NOT_FOUND', 'The account of this token does not exist any more.', {
        reason: 'session-account-deleted',
      }),
    )
  const { userId } = user
  if (user.isBlocked)
    return { ...visitor(new AppError('USER_BLOCK', 'This account is blocked. Ask the owner of the site.')), userId }
  if (!user.isOwner && user.permissions.length === 0)
    return {
      ...visitor(
        new AppError('ACCESS_DENIED', 'This account has no permissions. Ask the owner of the site for a role.'),
      ),
      userId,
    }
  return {
    userId,
    isOwner: user.isOwner === 1,
    isUnverified: user.isVerified === 0 && user.isOwner === 0,
    ...joinedOf(user),
    permissions: new Set(user.permissions),
    refusal: null,
    expiresAt,
  }
}

const joinedOf = (user: Awaited<ReturnType<typeof findActor>>): Pick<Actor, 'joinedAt'> =>
  user && !user.isOwner && !MODERATORS.some((permission) => user.permissions.includes(permission))
    ? { joinedAt: user.createdAt }
    : {}

/** The user id that visibility is decided by; the owner's for the operator. */
export async function viewerOf({ db, actor }: Pick<Context, 'db' | 'actor'>): Promise<string | null> {
  if (actor !== operator) return actor.userId
  const owner = await findOwner(db)
  return owner?.userId ?? null
}

/** The user id that a new post, vote or comment belongs to, by the same rule. */
export async function personOf(ctx: Pick<Context, 'db' | 'actor'>): Promise<string> {
  const userId = await viewerOf(ctx)
  if (userId === null)
    throw new AppError(
      'USER_NOT_FOUND',
      'The site has no owner yet, so this has no author. Run "feedbackctl setup", or give --as.',
      { reason: 'site-not-set-up' },
    )
  return userId
}
