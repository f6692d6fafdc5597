import type { Insertable } from 'kysely'
import { compiled } from './cache/compiled.js'
import { referringTo } from './references.js'
import type { Db, IdentityRow, Tables } from './tables.js'

type NewIdentity = Insertable<Tables['identities']>

/** What a person is recognised by, oldest first. */
export const listIdentities = (db: Db, userId: string): Promise<IdentityRow[]> =>
  compiled(
    db,
    'listIdentities',
    { userId },
    (given) =>
      db
        .selectFrom('identities')
        .selectAll()
        .where('userId', '=', given.userId)
        .orderBy('createdAt')
        .orderBy('identityId'),
    { identities: [userId] },
  )

/** Which of some people another service or the site itself has recognised. */
export async function peopleWithIdentity(db: Db, userIds: readonly string[]): Promise<Set<string>> {
  if (userIds.length === 0) return new Set()
  const rows = await db.selectFrom('identities').select('userId').where('userId', 'in', userIds).execute()
  return new Set(rows.map(({ userId }) => userId))
}

export const findIdentity = (
  db: Db,
  { provider, subject }: Pick<IdentityRow, 'provider' | 'subject'>,
): Promise<IdentityRow | undefined> =>
  db
    .selectFrom('identities')
    .selectAll()
    .where('provider', '=', provider)
    .where('subject', '=', subject)
    .executeTakeFirst()

/** Returns false if the provider's subject is linked already. */
export const insertIdentity = (db: Db, identity: NewIdentity): Promise<boolean> =>
  referringTo({ users: identity.userId }, async () => {
    const row = await db
      .insertInto('identities')
      .values(identity)
      .onConflict((conflict) => conflict.columns(['provider', 'subject']).doNothing())
      .returning('identityId')
      .executeTakeFirst()
    return row !== undefined
  })

/** Stores the time of the last use of a way of the site itself, whose row begins with its first use. */
export const putIdentityUse = (db: Db, identity: NewIdentity) =>
  referringTo({ users: identity.userId }, () =>
    db
      .insertInto('identities')
      .values(identity)
      .onConflict((conflict) => conflict.columns(['provider', 'subject']).doUpdateSet({ usedAt: identity.usedAt }))
      .execute(),
  )

/** Stores the time of the last use of an identity. Returns it, or undefined if it has been unlinked. */
export const useIdentity = (
  db: Db,
  { identityId, userId }: Pick<IdentityRow, 'identityId' | 'userId'>,
  usedAt: string,
): Promise<Pick<IdentityRow, 'provider'> | undefined> =>
  db
    .updateTable('identities')
    .set({ usedAt })
    .where('identityId', '=', identityId)
    .where('userId', '=', userId)
    .returning('provider')
    .executeTakeFirst()

export const deleteIdentity = (db: Db, { identityId }: Pick<IdentityRow, 'identityId'>) =>
  db.deleteFrom('identities').where('identityId', '=', identityId).execute()
