import { sql, type Insertable, type Updateable } from 'kysely'
import { asStored, isId } from '../core/ids.js'
import { compiled } from './cache/compiled.js'
import type { Visibility } from './counters.js'
import { isPostgres, rowsForEach, unlessTaken } from './dialect.js'
import { countAfter, pageOf, within, type Page, type Period } from './paging.js'
import { referringTo } from './references.js'
import type { Db, Tables, TagRow } from './tables.js'

/** Which tags. */
export interface TagFilter extends Period {
  visibility: readonly Visibility[]
  /** How a folded name begins; undefined is any name. */
  prefix?: string | undefined
}

const filtered = (db: Db, { visibility, prefix, ...period }: TagFilter) => {
  const [first, second] = new Set(visibility)
  return within(db.selectFrom('tags'), 'createdAt', period)
    .$if(second === undefined, (query) => query.where('display', '=', first === 'public' ? 1 : 0))
    .$if(prefix !== undefined, (query) =>
      query.where('nameFolded', '>=', prefix ?? '').where('nameFolded', '<', `${prefix}\u{10ffff}`),
    )
}

const ORDER = { by: ['nameFolded', 'tagId'] } as const

export const listTags = (db: Db, filter: TagFilter, page: Page<TagRow>): Promise<TagRow[]> =>
  pageOf(filtered(db, filter), ORDER, page).selectAll().execute()

export const tagsAfter = async (db: Db, filter: TagFilter, cursor: TagRow): Promise<number> =>
  (await countAfter(filtered(db, filter), ORDER, cursor).executeTakeFirstOrThrow()).count

export async function countTags(db: Db, filter: TagFilter): Promise<number> {
  const all = filtered(db, filter).select((eb) => eb.fn.countAll<number>().as('count'))
  return (await all.executeTakeFirstOrThrow()).count
}

/** By id or url. The service refuses urls that look like an id, so at most one tag matches. */
export const findTag = (db: Db, urlOrId: string): Promise<TagRow | undefined> =>
  db
    .selectFrom('tags')
    .selectAll()
    .where(isId(urlOrId) ? 'tagId' : 'url', '=', asStored(urlOrId))
    .executeTakeFirst()

export const tagsWithIds = (db: Db, ids: readonly string[]): Promise<TagRow[]> =>
  ids.length === 0 ? Promise.resolve([]) : db.selectFrom('tags').selectAll().where('tagId', 'in', ids).execute()

/** Returns undefined if another tag has the url. */
export const insertTag = (db: Db, tag: Insertable<Tables['tags']>): Promise<TagRow | undefined> =>
  db
    .insertInto('tags')
    .values(tag)
    .onConflict((conflict) => conflict.column('url').doNothing())
    .returningAll()
    .executeTakeFirst()

/** Returns 'taken' if another tag has the url, and undefined if the tag has been deleted. */
export const updateTag = (
  db: Db,
  tagId: string,
  change: Updateable<Tables['tags']>,
): Promise<TagRow | 'taken' | undefined> =>
  unlessTaken(db, () => db.updateTable('tags').set(change).where('tagId', '=', tagId).returningAll().executeTakeFirst())

/** With its place on posts. */
export const deleteTag = (db: Db, tagId: string): Promise<TagRow | undefined> =>
  db.deleteFrom('tags').where('tagId', '=', tagId).returningAll().executeTakeFirst()

export const tagColors = (db: Db): Promise<Pick<TagRow, 'color'>[]> => db.selectFrom('tags').select('color').execute()

/** Posts of a tag that are counted at most. */
export const MOST_COUNTED = 1000

/** How many posts have each tag, up to one more than `MOST_COUNTED`. `hidden`: those of private boards too. */
export async function countTagged(db: Db, tagIds: readonly string[], hidden: boolean): Promise<Map<string, number>> {
  if (tagIds.length === 0) return new Map()
  const seen = sql.raw(hidden ? '0, 1' : '1')
  const { rows } = await rowsForEach(
    db,
    tagIds,
    (tagId) => sql<{ tagId: string; count: number }>`
      select ${tagId} as "tagId", count(*) as count from (
        select 1 from post_tags inner join posts on posts."postId" = post_tags."postId"
        where post_tags."tagId" = ${tagId} and posts.display + 0 in (${seen}) limit ${sql.lit(MOST_COUNTED + 1)}) as counted`,
  ).execute(db)
  return new Map(rows.map(({ tagId, count }) => [tagId, count]))
}

/** A tag of a post. */
export type PostTag = Pick<TagRow, 'tagId' | 'name' | 'nameFolded' | 'url' | 'color' | 'display'> & { postId: string }

/** The tags of some posts, by name. `hidden`: private ones too. */
export async function tagsOf(db: Db, postIds: readonly string[], hidden: boolean): Promise<PostTag[]> {
  const rows = postIds.length === 0 ? [] : await readTagsOf(db, postIds, hidden)
  return rows.toSorted((one, other) => (one.nameFolded < other.nameFolded ? -1 : 1))
}

const readTagsOf = (db: Db, postIds: readonly string[], hidden: boolean): Promise<PostTag[]> =>
  compiled(
    db,
    `tagsOf ${hidden}`,
    { postIds },
    (given) =>
      db
        .selectFrom('post_tags')
        .innerJoin('tags', 'tags.tagId', 'post_tags.tagId')
        .select([
          'post_tags.postId',
          'tags.tagId',
          'tags.name',
          'tags.nameFolded',
          'tags.url',
          'tags.color',
          'tags.display',
        ])
        .where('post_tags.postId', 'in', given.postIds)
        .$if(!hidden, (query) => query.where('tags.display', '=', sql.lit(1))),
    { post_tags: postIds },
  )

/** Gives a post tags. Those that it has stay as they are. */
export async function addTags(
  db: Db,
  { postId, tagIds, at }: { postId: string; tagIds: readonly string[]; at: string },
): Promise<void> {
  for (const tagId of tagIds)
    await referringTo({ posts: postId, tags: tagId }, () =>
      db
        .insertInto('post_tags')
        .values({ postId, tagId, createdAt: at })
        .onConflict((conflict) => conflict.columns(['postId', 'tagId']).doNothing())
        .execute(),
    )
}

export async function removeTags(db: Db, { postId, tagIds }: { postId: string; tagIds: readonly string[] }) {
  if (tagIds.length === 0) return
  await db.deleteFrom('post_tags').where('postId', '=', postId).where('tagId', 'in', tagIds).execute()
}

/** Holds tags until the transaction ends, in one order, so that two merges do not wait for each other. */
export async function lockTags(db: Db, tagIds: readonly string[]): Promise<void> {
  if (isPostgres(db))
    await db.selectFrom('tags').select('tagId').where('tagId', 'in', tagIds).orderBy('tagId').forUpdate().execute()
}

/** Deletes a tag, and gives its posts another. Hold both. */
export async function mergeTag(db: Db, { tagId, intoId }: { tagId: string; intoId: string }): Promise<void> {
  await sql`
    insert into post_tags ("postId", "tagId", "createdAt")
    select "postId", ${intoId}, "createdAt" from post_tags where "tagId" = ${tagId}
    on conflict ("postId", "tagId") do nothing`.execute(db)
  await deleteTag(db, tagId)
}
