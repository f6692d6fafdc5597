import { createHash, createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import * as Type from 'typebox'
import { SECONDS } from '../../core/durations.js'
import { AppError, type Failure } from '../../core/errors.js'
import { transaction } from '../../db/connect.js'
import { claimFingerprint, readSettings, updateSettings } from '../../db/settings.js'
import { deleteOneTimeToken, findOneTimeToken, putOneTimeToken, type OneTimeToken } from '../../db/tokens.js'
import type { Db, SessionRow } from '../../db/tables.js'
import type { BrowserSessions, Context } from './context.js'
import { nullable } from './schemas.js'
import { reencryptTotp } from './totp.js'

/** In milliseconds. No token of the API works for longer, whatever it says. */
export const SESSION_LIFETIME = 2 * 24 * 60 * 60 * 1000

/** OWASP asks for both. Whoever visits once a month stays signed in; browsers keep no cookie for more than 400 days. */
const BROWSER_SESSIONS: BrowserSessions = { idle: 30 * SECONDS.d, absolute: 365 * SECONDS.d }

/** When a session of a browser ends if it is not used after `now`, Unix ms. */
export const idleEnd = (ctx: Pick<Context, 'browserSessions'>, createdAt: string, now: Date): number =>
  Math.min(now.getTime() + lifetimesOf(ctx).idle * 1000, latestEnd(ctx, createdAt))

const latestEnd = (ctx: Pick<Context, 'browserSessions'>, createdAt: string): number =>
  Date.parse(createdAt) + lifetimesOf(ctx).absolute * 1000

export const lifetimesOf = ({ browserSessions = BROWSER_SESSIONS }: Pick<Context, 'browserSessions'>) => browserSessions

export const PURPOSES = ['resetPassword', 'emailVerification', 'signIn', 'deletion'] as const
type Purpose = (typeof PURPOSES)[number]

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')

/** For jsonwebtoken, which tries to read a secret as a private key first, and that takes longer than to sign. */
const keyOf = (secret: string) => createSecretKey(secret, 'utf8')

/**
 * The token of a session: a JWT signed with HS256. The claims are userId, sessionId, iat, exp and, in browsers, kind. There
 * `exp` is only the latest end: the row decides, whose end moves on.
 */
export async function sessionToken(
  ctx: Pick<Context, 'now' | 'secret' | 'browserSessions'>,
  { userId, sessionId, kind, createdAt }: Pick<SessionRow, 'userId' | 'sessionId' | 'kind' | 'createdAt'>,
): Promise<string> {
  const { default: jwt } = await import('jsonwebtoken')
  const iat = Math.floor(ctx.now().getTime() / 1000)
  const isBrowser = kind === 'browser'
  const exp = isBrowser ? Math.ceil(latestEnd(ctx, createdAt) / 1000) : iat + SESSION_LIFETIME / 1000
  return jwt.sign({ userId, sessionId, ...(isBrowser && { kind }), iat, exp }, keyOf(ctx.secret()), {
    algorithm: 'HS256',
  })
}

/** What a session token says. */
export interface SessionClaims {
  userId: string
  /** Absent in tokens of versions without sessions. These have a generation, which an account counts up to end them. */
  sessionId: string | undefined
  generation: number
  /** Unix ms. */
  expiresAt: number
  /** Whether the secret from before a rotation signed it. */
  isOfPrevious?: true
}

/** Verified sessions by secret and token. The signature is checked once, the expiry on every use. */
const verifiedSessions = new LRUCache<string, SessionClaims>({ max: 1000 })

/** Returns undefined when the token is forged, expired or issued for another purpose. */
export async function readSessionToken(
  ctx: Pick<Context, 'secret' | 'previousSecret' | 'now'>,
  token: string,
): Promise<SessionClaims | undefined> {
  const secret = ctx.secret() // outside the try below: a secret that cannot be read is no fault of the token
  const now = ctx.now().getTime()
  const session = await sessionOf(secret, token, now)
  const previous = ctx.previousSecret?.()
  if (session || !previous || now >= previous.until.getTime()) return session
  const old = await sessionOf(previous.secret, token, now)
  return old && { ...old, isOfPrevious: true, expiresAt: Math.min(old.expiresAt, previous.until.getTime()) }
}

async function sessionOf(secret: string, token: string, now: number): Promise<SessionClaims | undefined> {
  const key = `${secret}\n${token}`
  const known = verifiedSessions.get(key)
  if (known && now < known.expiresAt) return known
  const session = await verified(secret, token, now)
  if (!session) return undefined
  verifiedSessions.set(key, session)
  return session
}

async function verified(secret: string, token: string, now: number): Promise<SessionClaims | undefined> {
  const { default: jwt } = await import('jsonwebtoken')
  try {
    const claims = jwt.verify(token, keyOf(secret), {
      algorithms: ['HS256'],
      clockTimestamp: Math.floor(now / 1000),
    })
    if (typeof claims === 'string' || 'type' in claims) return undefined
    const { userId, sessionId, sessions = 0, kind, iat, exp } = claims as Record<string, unknown>
    if (typeof iat !== 'number' || typeof exp !== 'number' || typeof userId !== 'string') return undefined
    if (typeof sessions !== 'number' || (sessionId !== undefined && typeof sessionId !== 'string')) return undefined
    const ofBrowser = sessionId !== undefined && kind === 'browser'
    const expiresAt = Math.min(exp * 1000, ofBrowser ? Infinity : iat * 1000 + SESSION_LIFETIME)
    if (expiresAt <= now || (sessionId === undefined && iat * 1000 > now)) return undefined
    return { userId, sessionId, generation: sessions, expiresAt }
  } catch {
    return undefined
  }
}

/**
 * A random token that works once, for some hours, for one purpose. Only its hash is stored. A new token replaces the old
 * one.
 */
export async function oneTimeToken(
  db: Db,
  now: Date,
  { userId, purpose, hours }: { userId: string; purpose: Purpose; hours: number },
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const expiresAt = new Date(now.getTime() + hours * 60 * 60 * 1000).toISOString()
  await putOneTimeToken(db, { tokenHash: hashOf(token), purpose, userId, createdAt: now.toISOString(), expiresAt })
  return token
}

export const tokenField = Type.Optional(
  nullable('string', { description: 'The token of the link in the mail', secret: true }),
)

export const TOKEN_ERRORS = [
  'MISSING_TOKEN',
  'INVALID_TOKEN',
  'INVALID_TOKEN 400',
  'INVALID_TOKEN 404',
] as const satisfies Failure[]

/** The one-time token of a request, checked in the contract's order (section 1.1). It stays usable until `useUp`. */
export async function oneTimeTokenOf(
  ctx: Pick<Context, 'db' | 'now'>,
  token: string | null | undefined,
  purpose: Purpose,
): Promise<OneTimeToken> {
  if (!token) throw missingToken(purpose)
  if (!/^[\w-]{43}$/.test(token))
    throw new AppError(
      'INVALID_TOKEN',
      `The token is incomplete. Open the link ${sourceOf(purpose).where} again, or ${sourceOf(purpose).another}.`,
    )
  const known = await findOneTimeToken(ctx.db, hashOf(token))
  if (!known) throw usedUp(purpose)
  if (known.expiresAt <= ctx.now().toISOString())
    throw new AppError('INVALID_TOKEN', `The link ${sourceOf(purpose).where} has expired. ${sourceOf(purpose).next}.`)
  if (known.purpose !== purpose)
    throw new AppError(
      'INVALID_TOKEN 400',
      `This token is for another purpose. Open the link ${sourceOf(purpose).where}.`,
    )
  return known
}

/** Deletes the token. Of two concurrent requests with one token, the second is refused. */
export async function useUp(db: Db, { tokenHash, purpose }: OneTimeToken): Promise<void> {
  if (!(await deleteOneTimeToken(db, tokenHash))) throw usedUp(purpose)
}

/** Where a person has the link from, and how to get another. */
const sourceOf = (purpose: string) =>
  purpose === 'signIn'
    ? { where: 'of "feedbackctl owner link"', another: 'run it again', next: 'Run it again for a new one' }
    : { where: 'in the mail', another: 'request a new mail', next: 'Request a new one' }

function usedUp(purpose: string): AppError {
  const { where } = sourceOf(purpose)
  const rest =
    purpose === 'signIn'
      ? 'or a newer one was made. Run it again for a new one.'
      : 'or a newer one was sent. Use the newest link, or request a new one.'
  return new AppError('INVALID_TOKEN 404', `The link ${where} was already used, ${rest}`)
}

function missingToken(purpose: Purpose): AppError {
  const { where } = sourceOf(purpose)
  const message = `The token is missing. Open the link ${where} again.`
  return new AppError('MISSING_TOKEN', message, {
    errors: [{ code: 'MISSING_TOKEN', message, field: 'token', rule: `the token of the link ${where}` }],
  })
}

/**
 * Binds the database to the secret at first use, and refuses another secret: it would make every issued token invalid.
 */
export async function assertSecretFits(ctx: Pick<Context, 'db' | 'secret' | 'previousSecret'>): Promise<void> {
  const fingerprint = fingerprintOf(ctx.secret())
  const bound = await claimFingerprint(ctx.db, fingerprint)
  if (bound === fingerprint) return
  // A rotation was interrupted before it bound the database
  const previous = ctx.previousSecret?.()
  if (previous && bound === fingerprintOf(previous.secret)) return bindSecret(ctx, previous.secret)
  throw new AppError(
    'SECRET_MISMATCH',
    'This database was set up with another secret, so every token it issued would stop working. Use that secret: FEEDBACKCTL_SECRET, or the file "secret" of the original data folder. If it is lost, make a new one: everyone has to sign in again.',
  )
}

/** Whether the database was set up with another secret. Unlike `assertSecretFits` it binds nothing. */
export async function isBoundToAnother(ctx: Pick<Context, 'db' | 'secret' | 'previousSecret'>): Promise<boolean> {
  const { secretFingerprint: bound } = await readSettings(ctx.db)
  const known = [ctx.secret(), ctx.previousSecret?.()?.secret].flatMap((each) =>
    each === undefined ? [] : [fingerprintOf(each)],
  )
  return bound !== null && !known.includes(bound)
}

/**
 * Binds the database to another secret. Every session token that was issued stops working, and so do the second factors
 * unless the previous secret is known.
 */
export const bindSecret = ({ db, secret }: Pick<Context, 'db' | 'secret'>, previous?: string): Promise<void> =>
  transaction(db, async (tx) => {
    if (previous !== undefined) await reencryptTotp(tx, previous, secret())
    await updateSettings(tx, { secretFingerprint: fingerprintOf(secret()) })
  })

const fingerprintOf = (secret: string): string =>
  createHmac('sha256', secret).update('feedbackctl secret fingerprint').digest('hex')
