import { compiled } from './cache/compiled.js'
import { referringTo } from './references.js'
import type { Db, Tables } from './tables.js'
import type { Selectable } from 'kysely'

/** Tags that a person can have. */
export const MOST_USER_TAGS = 20

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

/** Gives a person the tags of another, as many as there is room for beside their own. Hold both users. */
export async function moveUserTags(db: Db, userId: string, intoId: string): Promise<void> {
  const own = (await userTagsOf(db, [intoId])).map(({ tagFolded }) => tagFolded)
  const folded = (await userTagsOf(db, [userId])).map(({ tagFolded }) => tagFolded).filter((key) => !own.includes(key))
  const fitting = folded.slice(0, Math.max(MOST_USER_TAGS - own.length, 0))
  if (fitting.length === 0) return
  await db
    .updateTable('user_tags')
    .set({ userId: intoId })
    .where('userId', '=', userId)
    .where('tagFolded', 'in', fitting)
    .execute()
}

export async function removeUserTags(db: Db, { userId, folded }: { userId: string; folded: readonly string[] }) {
  if (folded.length === 0) return
  await db.deleteFrom('user_tags').where('userId', '=', userId).where('tagFolded', 'in', folded).execute()
}
