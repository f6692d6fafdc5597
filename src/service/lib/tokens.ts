import { createHash, createHmac, createSecretKey, randomBytes } from 'node:crypto'
import * as Type from 'typebox'
import { AppError, type Failure } from '../../core/errors.js'
import { claimFingerprint } from '../../db/settings.js'
import { deleteOneTimeToken, findOneTimeToken, putOneTimeToken, type OneTimeToken } from '../../db/tokens.js'
import type { Db, UserRow } from '../../db/tables.js'
import type { Context } from './context.js'
import { nullable } from './schemas.js'

/** How long a session lasts, in seconds. */
const SESSION = 2 * 24 * 60 * 60
const ONE_TIME_MS = 2 * 60 * 60 * 1000

type Purpose = 'emailVerification' | 'resetPassword'

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')

/** A session token: HS256 with the claims userId, iat and exp, and the number of the sessions it belongs to unless that is 0. */
export async function sessionToken(
  ctx: Pick<Context, 'now' | 'secret'>,
  { userId, sessions }: Pick<UserRow, 'userId' | 'sessions'>,
): Promise<string> {
  const { default: jwt } = await import('jsonwebtoken')
  const iat = Math.floor(ctx.now().getTime() / 1000)
  return jwt.sign({ userId, iat, ...(sessions > 0 && { sessions }) }, ctx.secret(), {
    algorithm: 'HS256',
    expiresIn: SESSION,
  })
}

/** Whom a session token was made for, and until when it is valid, in milliseconds since 1970. */
interface Session {
  userId: string
  number: number
  until: number
}

/** Sessions by secret and token: the signature of a token is checked once, and its end always. */
const checked = new Map<string, Session>()
const MOST_CHECKED = 1000

/** The session of a token, or undefined if it is not one of ours, has expired or was made for something else. */
export async function readSessionToken(
  ctx: Pick<Context, 'secret' | 'now'>,
  token: string,
): Promise<Session | undefined> {
  const secret = ctx.secret() // one that cannot be read is not the token's fault
  const now = ctx.now().getTime()
  const key = `${secret}\n${token}`
  const known = checked.get(key)
  if (known && now < known.until) return known
  const session = await verified(secret, token, now)
  if (!session) return undefined
  if (checked.size >= MOST_CHECKED) checked.clear()
  checked.set(key, session)
  return session
}

async function verified(secret: string, token: string, now: number): Promise<Session | undefined> {
  const { default: jwt } = await import('jsonwebtoken')
  try {
    const claims = jwt.verify(token, createSecretKey(secret, 'utf8'), {
      algorithms: ['HS256'],
      clockTimestamp: Math.floor(now / 1000),
    })
    if (typeof claims === 'string' || 'type' in claims || claims.exp === undefined) return undefined
    const { userId, sessions = 0 } = claims as { userId?: unknown; sessions?: unknown }
    return typeof userId === 'string' && typeof sessions === 'number'
      ? { userId, number: sessions, until: claims.exp * 1000 }
      : undefined
  } catch {
    return undefined
  }
}

/** A random token that works once, for two hours, for one purpose. Only its hash is kept; a new one replaces the old. */
export async function oneTimeToken(db: Db, now: Date, userId: string, purpose: Purpose): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const expiresAt = new Date(now.getTime() + ONE_TIME_MS).toISOString()
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

/** The one-time token that was sent, by the contract's ladder (section 1.1); it is not used up yet. */
export async function oneTimeTokenOf(
  ctx: Pick<Context, 'db' | 'now'>,
  token: string | null | undefined,
  purpose: Purpose,
): Promise<OneTimeToken> {
  if (!token) throw missingToken()
  if (!/^[\w-]{43}$/.test(token))
    throw new AppError(
      'INVALID_TOKEN',
      'This is not the whole token of a mailed link. Open the link in the mail again, or ask for a new mail.',
    )
  const known = await findOneTimeToken(ctx.db, hashOf(token))
  if (!known) throw usedUp()
  if (known.expiresAt <= ctx.now().toISOString())
    throw new AppError('INVALID_TOKEN', 'The link in the mail has expired: it works for two hours. Ask for a new one.')
  if (known.purpose !== purpose)
    throw new AppError('INVALID_TOKEN 400', 'The token of this link is for something else. Open the link in the mail.')
  return known
}

/** Of two that use one token at once, one gets here first; the other is refused. */
export async function useUp(db: Db, { tokenHash }: OneTimeToken): Promise<void> {
  if (!(await deleteOneTimeToken(db, tokenHash))) throw usedUp()
}

const usedUp = () =>
  new AppError(
    'INVALID_TOKEN 404',
    'The link in the mail was used already, or a newer one was sent. Use the newest, or ask for a new one.',
  )

function missingToken(): AppError {
  const message = 'The token is missing. Open the link in the mail again.'
  return new AppError('MISSING_TOKEN', message, {
    errors: [{ code: 'MISSING_TOKEN', message, field: 'token', rule: 'the token of the link in the mail' }],
  })
}

/** Ties the database to the secret at first use, and refuses any other: tokens signed with it would not be valid. */
export async function assertSecretFits(ctx: Pick<Context, 'db' | 'secret'>): Promise<void> {
  const fingerprint = createHmac('sha256', ctx.secret()).update('feedbackctl secret fingerprint').digest('hex')
  if ((await claimFingerprint(ctx.db, fingerprint)) === fingerprint) return
  throw new AppError(
    'SECRET_MISMATCH',
    'This database was set up with another secret, so every token it issued would stop working. Use that secret: FEEDBACKCTL_SECRET, or the file "secret" of the first data folder.',
  )
}
