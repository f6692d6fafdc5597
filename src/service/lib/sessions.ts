import { AppError } from '../../core/errors.js'
import { newId } from '../../core/ids.js'
import { deleteSession, findSession, insertSession, moveSessionEnd, putSessionUse } from '../../db/sessions.js'
import type { SessionRow, UserRow } from '../../db/tables.js'
import { findActor, findOwner, lockUser } from '../../db/users.js'
import { MODERATORS, operator, visitor, type Actor } from './access.js'
import { change } from './change.js'
import type { Context } from './context.js'
import { KEY_PREFIX, readKey } from './keys.js'
import { idleEnd, lifetimesOf, readSessionToken, SESSION_LIFETIME, sessionToken, type SessionClaims } from './tokens.js'
import { recordUse, whereWritable } from './uses.js'

const SIGN_IN = 'Sign in with POST /auth/login and send the token as "Authorization: Bearer <authToken>".'

type SessionContext = Pick<
  Context,
  'db' | 'secret' | 'previousSecret' | 'now' | 'browser' | 'browserSessions' | 'unverified'
>

/** Shared by all requests: an error records its stack, which takes longer than most requests of visitors. */
const ANONYMOUS = visitor(new AppError('INVALID_AUTH_HEADER', `This needs an account. ${SIGN_IN}`), Infinity)

/**
 * The actor of an Authorization header, checked in the contract's order (section 1.0). Never throws: a request that is
 * not signed in gets a visitor with the reason as its refusal. Runs for every request, so blocks and role changes apply
 * at once.
 */
export async function actorOf(authorization: string | undefined, ctx: SessionContext): Promise<Actor> {
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
  const actor = personActor(user, { expiresAt: expiresAt ?? 0, unverified: ctx.unverified })
  if (user && expiresAt === undefined)
    return visitor(
      (user.isBlocked && actor.refusal) || new AppError('INVALID_TOKEN', `This session was ended. ${SIGN_IN}`),
    )
  return sessionId === undefined ? { ...actor, generation: claims.generation } : { ...actor, sessionId }
}

/** The actor of a person, for work that goes on after their request, and after their session. */
export async function actorFor(
  userId: string,
  { db, unverified }: Pick<SessionContext, 'db' | 'unverified'>,
): Promise<Actor> {
  return personActor(await findActor(db, userId), { expiresAt: Infinity, unverified })
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
  ctx: SessionContext,
  { userId, sessionId, generation, expiresAt, isOfPrevious }: SessionClaims,
  user: { sessions: number },
): Promise<number | undefined> {
  const { db, now } = ctx
  if (sessionId === undefined) return user.sessions === generation ? expiresAt : undefined
  const session = await findSession(db, sessionId)
  if (session?.userId !== userId || session.expiresAt <= now().toISOString()) return undefined
  const until = await recordUse(sessionId, now(), (usedAt) => putSessionUse(db, { sessionId, usedAt }))
  const present = session.kind === 'browser' ? await prolonged(ctx, session) : session
  const end = Date.parse(present.expiresAt)
  if (end <= now().getTime()) return undefined
  if (session.kind === 'browser' && (present !== session || isOfPrevious)) await keepInBrowser(ctx, present)
  // Cache hits do not extend the session, so a response must expire when the next request would extend it
  const moves = session.kind === 'browser' ? end - lifetimesOf(ctx).idle * 1000 + stepOf(ctx) : Infinity
  return Math.min(until, expiresAt, end, moves > now().getTime() ? moves : Infinity) // it no longer moves at the absolute end
}

/** The end of a session moves in steps of a day at most: one write a day, not one for each request. */
const LONGEST_STEP_MS = 24 * 60 * 60 * 1000

const stepOf = (ctx: Parameters<typeof lifetimesOf>[0]): number =>
  Math.min(LONGEST_STEP_MS, (lifetimesOf(ctx).idle * 1000) / 24)

/** Moves the end of a session that is used, and returns the session. The settings may also have made it earlier. */
async function prolonged(ctx: SessionContext, session: UsableSession): Promise<UsableSession> {
  const wanted = idleEnd(ctx, session.createdAt, ctx.now())
  if (Math.abs(wanted - Date.parse(session.expiresAt)) < stepOf(ctx)) return session
  const expiresAt = new Date(wanted).toISOString()
  const isMoved = await whereWritable(() => moveSessionEnd(ctx.db, session, expiresAt))
  return isMoved || expiresAt < session.expiresAt ? { ...session, expiresAt } : session
}

type UsableSession = Omit<SessionRow, 'userAgent' | 'address'>

/** Hands the token of a session to the browser of the request. Call it after the commit. */
export async function keepInBrowser(
  ctx: Pick<Context, 'browser' | 'now' | 'secret' | 'browserSessions'>,
  session: UsableSession,
): Promise<void> {
  ctx.browser?.keep(await sessionToken(ctx, session), session.expiresAt)
}

/**
 * Gives the session of a browser another id after the rights of its person have changed, so that whoever knows the one
 * from before gets nothing of them. Other sessions of the person go on: rights are read at each request, and their ids
 * are known to nobody else, as no address and no other site can set one.
 */
export async function renameSession(ctx: Context): Promise<void> {
  const { browser, dryRun, actor } = ctx
  if (!browser || dryRun || actor.sessionId === undefined) return
  const before = await findSession(ctx.db, actor.sessionId)
  if (before?.kind !== 'browser') return
  const session = await change(ctx, async (tx) => {
    await lockUser(tx.db, before.userId) // first, as whoever ends the sessions does
    if (!(await deleteSession(tx.db, before))) return undefined
    return beginSession(tx, before.userId, before.createdAt)
  })
  if (session) await keepInBrowser(ctx, session)
}

/** Sessions that a person can have. A further one ends the oldest. */
export const MAX_SESSIONS = 1000

/** Begins a session of whoever signs in, or at that time did. */
export async function beginSession(
  ctx: Pick<Context, 'db' | 'now' | 'client' | 'browser' | 'browserSessions'>,
  userId: string,
  createdAt = ctx.now().toISOString(),
): Promise<SessionRow> {
  const { db, now, client, browser } = ctx
  const [sessionId, time] = [newId(), now()]
  const session = {
    sessionId,
    userId,
    userAgent: client?.userAgent ?? '',
    address: client?.address ?? null,
    kind: browser ? 'browser' : 'api',
    createdAt,
    expiresAt: new Date(browser ? idleEnd(ctx, createdAt, time) : time.getTime() + SESSION_LIFETIME).toISOString(),
  } as const
  await insertSession(db, session, MAX_SESSIONS)
  return session
}

/** The actor of an API key: its person, with the permissions that both have. */
async function keyActor(token: string, { db, now, unverified }: SessionContext): Promise<Actor> {
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
  const { joinedAt: _, ...actor } = personActor(limited ?? user, { expiresAt, unverified })
  return { ...actor, ...joinedOf(user), key: { keyId, isLimited: limits !== undefined } }
}

function personActor(
  user: Awaited<ReturnType<typeof findActor>>,
  { expiresAt, unverified }: Pick<Actor, 'expiresAt'> & Pick<Context, 'unverified'>,
): Actor {
  if (!user)
    return visitor(
      new AppError('USER_NOT_FOUND', 'The account of this token does not exist any more.', {
        reason: 'session-account-deleted',
      }),
    )
  const { userId } = user
  const isUnverified = user.isVerified === 0 && user.isOwner === 0
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
    isUnverified,
    onlyReads: isUnverified && unverified === 'read',
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
