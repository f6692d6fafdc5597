import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { AppError } from '../../core/errors.js'
import { deleteKeysOf, findKey, putKeyUse } from '../../db/keys.js'
import { ForeignKeyError } from '../../db/references.js'
import type { Db, KeyRow } from '../../db/tables.js'
import type { Change } from './change.js'

/** Tells an API key from a session token. */
export const KEY_PREFIX = 'fbk_'

/** Keys have 256 random bits, so a fast hash is enough. */
export const hashOfKey = (token: string): string => createHash('sha256').update(token).digest('hex')

const HOUR_MS = 60 * 60 * 1000

/** The hour of the last use of each key that this process has stored. */
const stored = new LRUCache<string, number>({ max: 1000 })

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
  const hour = Math.floor(now.getTime() / HOUR_MS) * HOUR_MS
  if (stored.get(keyHash) !== hour) {
    stored.set(keyHash, hour)
    await putKeyUse(db, { keyId: key.keyId, usedAt: new Date(hour).toISOString() }).catch(unlessGone)
  }
  return {
    ...key,
    permissions: key.permissions === null ? undefined : (JSON.parse(key.permissions) as string[]),
    expiresAt: Math.min(hour + HOUR_MS, Date.parse(key.expiresAt)),
  }
}

/** A request works where nothing can be written, as on a full disk, and while its key is revoked. */
function unlessGone(error: unknown): void {
  if (!(error instanceof AppError) && !(error instanceof ForeignKeyError)) throw error
}

/** Revokes all keys of a person, whoever made them: for an account that is taken back with a new password. */
export async function revokeKeys({ db, record }: Pick<Change, 'db' | 'record'>, userId: string): Promise<void> {
  for (const { keyId, name } of await deleteKeysOf(db, userId)) record('key.revoked', keyId, name, userId)
}
