import type { Insertable, Selectable } from 'kysely'
import type { Db, Tables, UserRow } from './tables.js'

/** A one-time token with the person it was sent to. */
export type OneTimeToken = Selectable<Tables['one_time_tokens']> & Pick<UserRow, 'email' | 'isVerified'>

/** Keeps the hash of a one-time token; a new one of the same purpose replaces the old. */
export const putOneTimeToken = (db: Db, token: Insertable<Tables['one_time_tokens']>) =>
  db
    .insertInto('one_time_tokens')
    .values(token)
    .onConflict((conflict) =>
      conflict
        .columns(['userId', 'purpose'])
        .doUpdateSet({ tokenHash: token.tokenHash, createdAt: token.createdAt, expiresAt: token.expiresAt }),
    )
    .execute()

export const findOneTimeToken = (db: Db, tokenHash: string): Promise<OneTimeToken | undefined> =>
  db
    .selectFrom('one_time_tokens')
    .innerJoin('users', 'users.userId', 'one_time_tokens.userId')
    .selectAll('one_time_tokens')
    .select(['users.email', 'users.isVerified'])
    .where('tokenHash', '=', tokenHash)
    .executeTakeFirst()

/** Returns undefined when it was used or replaced meanwhile. */
export const deleteOneTimeToken = (db: Db, tokenHash: string): Promise<{ userId: string } | undefined> =>
  db.deleteFrom('one_time_tokens').where('tokenHash', '=', tokenHash).returning('userId').executeTakeFirst()

/** Ends what was mailed to a person: everything, or the links of one purpose. */
export const deleteOneTimeTokensOf = (db: Db, userId: string, purpose?: string) =>
  db
    .deleteFrom('one_time_tokens')
    .where('userId', '=', userId)
    .$if(purpose !== undefined, (query) => query.where('purpose', '=', purpose ?? ''))
    .execute()
