import { createHash } from 'node:crypto'
import { deleteKeysOf, findKey, putKeyUse } from '../../db/keys.js'
import type { Db, KeyRow } from '../../db/tables.js'
import type { Change } from './change.js'
import { recordUse } from './uses.js'

/** Tells an API key from a session token. */
export const KEY_PREFIX = 'fbk_'

/** Keys have 256 random bits, so a fast hash is enough. */
export const hashOfKey = (token: string): string => createHash('sha256').update(token).digest('hex')

type FoundKey = Pick<KeyRow, 'keyId' | 'userId'> & {
  /** Undefined: not limited. */
  permissions: string[] | undefined
  /** Until when a response may be cached, Unix ms: the next hour, in which the use is stored again, or the expiry. */
  expiresAt: number
}

/** The key of a token; undefined where it is unknown, revoked or expired. Stores the hour of its use. */
export async function readKey(db: Db, now: Date, token: string): Promise<FoundKey | undefined> {
  const keyHash = hashOfKey(token)
  const key = await findKey(db, keyHash)
  if (!key || key.expiresAt <= now.toISOString()) return undefined
  const { keyId } = key
  const until = await recordUse(keyId, now, (usedAt) => putKeyUse(db, { keyId, usedAt }))
  return {
    ...key,
    permissions: key.permissions === null ? undefined : (JSON.parse(key.permissions) as string[]),
    expiresAt: Math.min(until, Date.parse(key.expiresAt)),
  }
}

/** Revokes all keys of a person, whoever made them: for an account that is taken back with a new password. */
export async function revokeKeys({ db, record }: Pick<Change, 'db' | 'record'>, userId: string): Promise<void> {
  for (const { keyId, name } of await deleteKeysOf(db, userId)) record('key.revoked', keyId, name, userId)
}
