import type { Insertable, Selectable } from 'kysely'
import type { Db, Tables, UserRow } from './tables.js'

/** A one-time token and its user. */
export type OneTimeToken = Selectable<Tables['one_time_tokens']> & Pick<UserRow, 'email' | 'isVerified'>

/** Stores the hash of a token. It replaces an earlier token of the same purpose. */
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

/** Returns undefined if the token has been used or replaced. */
export const deleteOneTimeToken = (db: Db, tokenHash: string): Promise<{ userId: string } | undefined> =>
  db.deleteFrom('one_time_tokens').where('tokenHash', '=', tokenHash).returning('userId').executeTakeFirst()

/** Revokes all tokens of a user, or those of one purpose. */
export const deleteOneTimeTokensOf = (db: Db, userId: string, purpose?: string) =>
  db
    .deleteFrom('one_time_tokens')
    .where('userId', '=', userId)
    .$if(purpose !== undefined, (query) => query.where('purpose', '=', purpose ?? ''))
    .execute()
