import { createHmac, timingSafeEqual } from 'node:crypto'
import type { UserRow } from '../../db/tables.js'
import type { Context } from './context.js'

/** Milliseconds that a token stands for the password. */
const LIFETIME = 10 * 60 * 1000

type Account = Pick<UserRow, 'userId' | 'password' | 'sessions'>
type Signer = Pick<Context, 'secret' | 'now'>

/**
 * Stands for the password of an account while its second factor is asked for. It ends when the password changes, or the
 * sessions of the account are ended.
 */
export function passwordToken({ secret, now }: Signer, account: Account): string {
  const until = String(now().getTime() + LIFETIME)
  return `${until}.${signatureOf(secret(), account, until)}`
}

export function isPasswordToken({ secret, now }: Signer, account: Account, token: string): boolean {
  const [, until, signature] = /^(\d{1,15})\.([\w-]{43})$/.exec(token) ?? []
  if (until === undefined || signature === undefined || now().getTime() >= Number(until)) return false
  return timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(secret(), account, until)))
}

const signatureOf = (secret: string, { userId, password, sessions }: Account, until: string): string =>
  createHmac('sha256', secret).update(`password\n${userId}\n${sessions}\n${password}\n${until}`).digest('base64url')
