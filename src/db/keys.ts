import type { Insertable } from 'kysely'
import { asStored } from '../core/ids.js'
import { compiled } from './cache/compiled.js'
import { pageOf, within, type Page, type Period, type Sorting } from './paging.js'
import { referringTo } from './references.js'
import type { Db, KeyRow, Tables } from './tables.js'

/** A key with the present user name of its person, and the hour of its last use. */
export type NamedKey = KeyRow & { username: string; lastUsedAt: string | null }

/** What decides about a request with a key. Read on every request, so that a revoked key stops at once. */
export async function findKey(
  db: Db,
  keyHash: string,
): Promise<Pick<KeyRow, 'keyId' | 'userId' | 'permissions' | 'expiresAt'> | undefined> {
  const [key] = await compiled(
    db,
    'findKey',
    { keyHash },
    (given) =>
      db
        .selectFrom('api_keys')
        .select(['keyId', 'userId', 'permissions', 'expiresAt'])
        .where('keyHash', '=', given.keyHash),
    { api_keys: [keyHash] },
  )
  return key
}

/** Stores the time of the last use, unless a later one is stored. Throws ForeignKeyError for a key that is revoked. */
export const putKeyUse = (db: Db, use: Insertable<Tables['api_key_uses']>) =>
  referringTo({}, () =>
    db
      .insertInto('api_key_uses')
      .values(use)
      .onConflict((conflict) =>
        conflict.column('keyId').doUpdateSet({ usedAt: use.usedAt }).where('api_key_uses.usedAt', '<', use.usedAt),
      )
      .execute(),
  )

/** Keys of one user, or of everyone. */
export interface KeyFilter extends Period {
  userId: string | undefined
}

const orderOf = ({ created: direction }: Sorting) =>
  ({ by: ['createdAt', 'keyId'], direction, table: 'api_keys' }) as const

const filtered = (db: Db, { userId, ...period }: KeyFilter) =>
  within(db.selectFrom('api_keys'), 'api_keys.createdAt', period)
    .$if(userId !== undefined, (query) => query.where('api_keys.userId', '=', userId ?? ''))
    .innerJoin('users', 'users.userId', 'api_keys.userId')
    .leftJoin('api_key_uses', 'api_key_uses.keyId', 'api_keys.keyId')
    .selectAll('api_keys')
    .select(['users.username', 'api_key_uses.usedAt as lastUsedAt'])

export const listKeys = (db: Db, filter: KeyFilter & Sorting, page: Page<KeyRow>): Promise<NamedKey[]> =>
  pageOf(filtered(db, filter), orderOf(filter), page).execute()

/** A key, if it is in this list. */
export const findListedKey = (db: Db, filter: KeyFilter, keyId: string): Promise<NamedKey | undefined> =>
  filtered(db, filter).where('api_keys.keyId', '=', asStored(keyId)).executeTakeFirst()

export async function countKeys(db: Db, userId: string): Promise<number> {
  const { count } = await db
    .selectFrom('api_keys')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('userId', '=', userId)
    .executeTakeFirstOrThrow()
  return count
}

export const insertKey = (db: Db, key: Insertable<Tables['api_keys']>) =>
  db.insertInto('api_keys').values(key).execute()

export const findKeyById = (db: Db, keyId: string): Promise<KeyRow | undefined> =>
  db.selectFrom('api_keys').selectAll().where('keyId', '=', keyId).executeTakeFirst()

export async function deleteKey(db: Db, keyId: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('api_keys').where('keyId', '=', keyId).executeTakeFirst()
  return numDeletedRows > 0n
}

export const deleteKeysOf = (db: Db, userId: string): Promise<Pick<KeyRow, 'keyId' | 'name'>[]> =>
  db.deleteFrom('api_keys').where('userId', '=', userId).returning(['keyId', 'name']).execute()
