import type { Insertable } from 'kysely'
import { referringTo } from './references.js'
import type { Db, Tables, TotpRow } from './tables.js'

export const findTotp = (db: Db, userId: string): Promise<TotpRow | undefined> =>
  db.selectFrom('totp').selectAll().where('userId', '=', userId).executeTakeFirst()

/** Stores the secret of a second factor that is not enabled yet. Returns false if one is enabled. */
export const putTotp = async (db: Db, totp: Insertable<Tables['totp']>): Promise<boolean> =>
  referringTo({ users: totp.userId }, async () => {
    const row = await db
      .insertInto('totp')
      .values(totp)
      .onConflict((conflict) =>
        conflict.column('userId').doUpdateSet({ secret: totp.secret }).where('totp.enabledAt', 'is', null),
      )
      .returning('userId')
      .executeTakeFirst()
    return row !== undefined
  })

/** Returns false if it is enabled already, or has got another secret. */
export const enableTotp = (db: Db, { userId, secret }: TotpRow, enabledAt: string): Promise<boolean> =>
  changed(db.updateTable('totp').set({ enabledAt }).where('userId', '=', userId).where('secret', '=', secret).where('enabledAt', 'is', null)) // prettier-ignore

/** Marks a step, and those before it, as used. Returns false if it is already. */
export const useStep = (db: Db, userId: string, step: number): Promise<boolean> =>
  changed(db.updateTable('totp').set({ step }).where('userId', '=', userId).where('step', '<', step))

const changed = async (query: { executeTakeFirst(): Promise<{ numUpdatedRows: bigint } | undefined> }) =>
  ((await query.executeTakeFirst())?.numUpdatedRows ?? 0n) > 0n

/** Uses up a recovery code. Returns false if the person has no such code. */
export async function useRecoveryCode(db: Db, userId: string, codeHash: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('recovery_codes')
    .where('codeHash', '=', codeHash)
    .where('userId', '=', userId)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

export async function replaceRecoveryCodes(db: Db, userId: string, hashes: readonly string[]): Promise<void> {
  await db.deleteFrom('recovery_codes').where('userId', '=', userId).execute()
  if (hashes.length === 0) return
  await db
    .insertInto('recovery_codes')
    .values(hashes.map((codeHash) => ({ codeHash, userId })))
    .execute()
}

interface SecondFactor {
  totp: TotpRow
  /** Hashes of the recovery codes. */
  codes: string[]
}

/** Returns the enabled second factor of a person, or undefined. */
export async function secondFactorOf(db: Db, userId: string): Promise<SecondFactor | undefined> {
  const totp = await findTotp(db, userId)
  if (!totp?.enabledAt) return undefined
  const codes = await db.selectFrom('recovery_codes').select('codeHash').where('userId', '=', userId).execute()
  return { totp, codes: codes.map(({ codeHash }) => codeHash) }
}

/** Gives a second factor to a person who has none. */
export async function putSecondFactor(db: Db, totp: TotpRow, codes: readonly string[]): Promise<void> {
  await db.insertInto('totp').values(totp).execute()
  await replaceRecoveryCodes(db, totp.userId, codes)
}

export async function countRecoveryCodes(db: Db, userId: string): Promise<number> {
  const { count } = await db
    .selectFrom('recovery_codes')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('userId', '=', userId)
    .executeTakeFirstOrThrow()
  return count
}

/** Removes a second factor with its recovery codes. Returns false if there is none. */
export async function deleteTotp(db: Db, userId: string): Promise<boolean> {
  await replaceRecoveryCodes(db, userId, [])
  const { numDeletedRows } = await db.deleteFrom('totp').where('userId', '=', userId).executeTakeFirst()
  return numDeletedRows > 0n
}

export const listTotpSecrets = (db: Db): Promise<Pick<TotpRow, 'userId' | 'secret'>[]> =>
  db.selectFrom('totp').select(['userId', 'secret']).orderBy('userId').execute()

export const setTotpSecret = (db: Db, { userId, secret }: Pick<TotpRow, 'userId' | 'secret'>) =>
  db.updateTable('totp').set({ secret }).where('userId', '=', userId).execute()

/** Whether a person has a role that counts only after they enable a second factor. */
export async function lacksTotp(db: Db, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom('roles_users')
    .innerJoin('roles', 'roles.id', 'roles_users.role_id')
    .leftJoin('totp', (join) =>
      join.onRef('totp.userId', '=', 'roles_users.user_id').on('totp.enabledAt', 'is not', null),
    )
    .select('roles.id')
    .where('roles_users.user_id', '=', userId)
    .where('roles.require_totp', '=', 1)
    .where('totp.userId', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** How many second factors are enabled. */
export async function countTotp(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('totp')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('enabledAt', 'is not', null)
    .executeTakeFirstOrThrow()
  return count
}
