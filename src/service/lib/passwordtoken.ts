import { createHmac, timingSafeEqual } from 'node:crypto'
import type { UserRow } from '../../db/tables.js'
import type { Context } from './context.js'

/** Milliseconds that a token stands for the password. */
const LIFETIME = 10 * 60 * 1000

type Account = Pick<UserRow, 'userId' | 'password' | 'sessions'>
type Signer = Pick<Context, 'secret' | 'now'>

/**
 * Stands for the password of an account, or for one of its identities, while its second factor is asked for. It ends when
 * the password changes, or the sessions of the account are ended.
 */
export function passwordToken({ secret, now }: Signer, account: Account, identityId?: string): string {
  const until = String(now().getTime() + LIFETIME)
  const signature = signatureOf(secret(), account, { until, identityId })
  return [until, ...(identityId === undefined ? [] : [identityId]), signature].join('.')
}

/** What the token stands for: the password, or the identity that it names. Undefined where it is not valid. */
export function readPasswordToken(
  { secret, now }: Signer,
  account: Account,
  token: string,
): { identityId: string | undefined } | undefined {
  const [, until, identityId, signature] = /^(\d{1,15})\.(?:([\da-f-]{36})\.)?([\w-]{43})$/.exec(token) ?? []
  if (until === undefined || signature === undefined || now().getTime() >= Number(until)) return undefined
  const expected = signatureOf(secret(), account, { until, identityId })
  return timingSafeEqual(Buffer.from(signature), Buffer.from(expected)) ? { identityId } : undefined
}

interface Stated {
  until: string
  identityId: string | undefined
}

const signatureOf = (secret: string, { userId, password, sessions }: Account, { until, identityId = '' }: Stated) =>
  createHmac('sha256', secret)
    .update(`password\n${userId}\n${sessions}\n${password}\n${until}${identityId && `\n${identityId}`}`)
    .digest('base64url')
