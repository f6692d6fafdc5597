import { createHash, createHmac, randomBytes } from 'node:crypto'
import { AppError } from '../core/errors.js'
import { claimFingerprint } from '../db/settings.js'
import { putOneTimeToken } from '../db/users.js'
import type { Db } from '../db/connect.js'
import type { UserRow } from '../db/tables.js'
import type { Context } from './context.js'

/** How long a session lasts, in seconds. */
const SESSION = 2 * 24 * 60 * 60
const ONE_TIME_MS = 2 * 60 * 60 * 1000

type Purpose = 'emailVerification' | 'resetPassword'

/** A session token: HS256 with the claims userId, iat and exp, and the number of the sessions it belongs to unless that is 0. */
export async function sessionToken(ctx: Pick<Context, 'now' | 'secret'>, { userId, sessions }: Pick<UserRow, 'userId' | 'sessions'>): Promise<string> {
  const { default: jwt } = await import('jsonwebtoken')
  const iat = Math.floor(ctx.now().getTime() / 1000)
  return jwt.sign({ userId, iat, ...(sessions > 0 && { sessions }) }, ctx.secret(), { algorithm: 'HS256', expiresIn: SESSION })
}

/** The user a session token was made for, or undefined if it is not one of ours, has expired or was made for something else. */
export async function readSessionToken(ctx: Pick<Context, 'secret' | 'now'>, token: string): Promise<{ userId: string; number: number } | undefined> {
  const { default: jwt } = await import('jsonwebtoken')
  const secret = ctx.secret() // one that cannot be read is not the token's fault
  try {
    const claims = jwt.verify(token, secret, { algorithms: ['HS256'], clockTimestamp: Math.floor(ctx.now().getTime() / 1000) })
    if (typeof claims === 'string' || 'type' in claims || claims.exp === undefined) return undefined
    const { userId, sessions = 0 } = claims as { userId?: unknown; sessions?: unknown }
    return typeof userId === 'string' && typeof sessions === 'number' ? { userId, number: sessions } : undefined
  } catch {
    return undefined
  }
}

/** A random token that works once, for two hours, for one purpose. Only its hash is kept; a new one replaces the old. */
export async function oneTimeToken(db: Db, now: Date, userId: string, purpose: Purpose): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const expiresAt = new Date(now.getTime() + ONE_TIME_MS).toISOString()
  await putOneTimeToken(db, { tokenHash: createHash('sha256').update(token).digest('hex'), purpose, userId, createdAt: now.toISOString(), expiresAt })
  return token
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
