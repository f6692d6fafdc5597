import { compiled } from './cache/compiled.js'
import { referringTo } from './references.js'
import type { Db, Tables } from './tables.js'
import type { Selectable } from 'kysely'

type UserTag = Pick<Selectable<Tables['user_tags']>, 'userId' | 'tag' | 'tagFolded'>

/** The tags of some people, by name. */
export async function userTagsOf(db: Db, userIds: readonly string[]): Promise<UserTag[]> {
  const ids = [...new Set(userIds)]
  const rows = ids.length === 0 ? [] : await read(db, ids)
  return rows.toSorted((one, other) => (one.tagFolded < other.tagFolded ? -1 : 1))
}

const read = (db: Db, userIds: readonly string[]): Promise<UserTag[]> =>
  compiled(
    db,
    'userTagsOf',
    { userIds },
    (given) => db.selectFrom('user_tags').select(['userId', 'tag', 'tagFolded']).where('userId', 'in', given.userIds),
    { user_tags: userIds, users: userIds },
  )

/** Gives a person tags. One that they have, in whatever letters, stays as it is. */
export async function addUserTags(
  db: Db,
  { userId, tags, at }: { userId: string; tags: readonly Omit<UserTag, 'userId'>[]; at: string },
): Promise<void> {
  if (tags.length === 0) return
  await referringTo({ users: userId }, () =>
    db
      .insertInto('user_tags')
      .values(tags.map(({ tag, tagFolded }) => ({ userId, tag, tagFolded, createdAt: at })))
      .onConflict((conflict) => conflict.columns(['userId', 'tagFolded']).doNothing())
      .execute(),
  )
}

export async function removeUserTags(db: Db, { userId, folded }: { userId: string; folded: readonly string[] }) {
  if (folded.length === 0) return
  await db.deleteFrom('user_tags').where('userId', '=', userId).where('tagFolded', 'in', folded).execute()
}
