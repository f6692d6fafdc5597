import type { Insertable } from 'kysely'
import { sql } from 'kysely'
import type { ImportedKind } from '../core/importedkinds.js'
import { isAmong, isPostgres, rowsGiven } from './dialect.js'
import { rootOf } from './merges.js'
import { indexAgain, indexPosts } from './search.js'
import { indexComments, numbered } from './searchindex.js'
import type { Db, Tables } from './tables.js'

/** Finds the rows of earlier imports by their source ids, also rows deleted since. Takes at most 2,000 ids. */
export async function importedRows(
  db: Db,
  source: string,
  kind: ImportedKind,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('imported_rows')
    .select(['sourceId', 'rowId'])
    .where('source', '=', source)
    .where('kind', '=', kind)
    .where(isAmong(db, 'sourceId', ids))
    .execute()
  return new Map(rows.map(({ sourceId, rowId }) => [sourceId, rowId]))
}

export async function rememberImported(db: Db, rows: readonly Insertable<Tables['imported_rows']>[]): Promise<void> {
  if (rows.length === 0) return
  const given = rowsGiven(db, ['source', 'kind', 'sourceId', 'rowId'], rows)
  await sql`insert into imported_rows ${given}`.execute(db)
}

/** Forgets imported rows that were deleted later, so that they can be imported again. */
export async function forgetImported(
  db: Db,
  source: string,
  kind: ImportedKind,
  sourceIds: readonly string[],
): Promise<void> {
  if (sourceIds.length > 0)
    await db
      .deleteFrom('imported_rows')
      .where('source', '=', source)
      .where('kind', '=', kind)
      .where(isAmong(db, 'sourceId', sourceIds))
      .execute()
}

/** How many rows were imported from a source, by kind. */
export async function importedCounts(db: Db, source: string): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('imported_rows')
    .select(['kind', (eb) => eb.fn.countAll<number>().as('count')])
    .where('source', '=', source)
    .groupBy('kind')
    .execute()
  return new Map(rows.map(({ kind, count }) => [kind, count]))
}

/** The posts that were imported from a source and are still there, by board: how many, and their votes. */
export async function importedByBoard(
  db: Db,
  source: string,
): Promise<{ boardId: string | null; board: string | null; posts: number; votes: number }[]> {
  const { rows } = await sql<{ boardId: string | null; board: string | null; posts: number; votes: number }>`
    select boards."boardId", boards.name as board, count(*) as posts, sum(posts."votesCount") as votes
    from imported_rows join posts on posts."postId" = imported_rows."rowId"
    left join boards on boards."boardId" = posts."boardId"
    where imported_rows.source = ${source} and imported_rows.kind = 'post'
    group by boards."boardId", boards.name order by boards.name is null, boards.name, boards."boardId"`.execute(db)
  return rows
}

/** The names of boards by their ids, without those that are deleted. */
export async function boardNames(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('boards')
    .select(['boardId', 'name'])
    .where(isAmong(db, 'boardId', ids))
    .execute()
  return new Map(rows.map(({ boardId, name }) => [boardId, name]))
}

/** Returns the ids that exist in the table of the kind. */
export async function presentIds(
  db: Db,
  kind: 'board' | 'status' | 'tag' | 'person' | 'post' | 'comment',
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const [table, column] = PLACES[kind]
  const { rows } = await sql<{ id: string }>`
    select ${sql.ref(column)} as id from ${sql.table(table)} where ${isAmong(db, column, ids)}`.execute(db)
  return new Set(rows.map(({ id }) => id))
}

const PLACES = {
  board: ['boards', 'boardId'],
  status: ['roadmaps', 'id'],
  tag: ['tags', 'tagId'],
  person: ['users', 'userId'],
  post: ['posts', 'postId'],
  comment: ['comments', 'id'],
} as const

/** Returns the slug ids that posts have already. */
export async function takenSlugIds(db: Db, slugIds: readonly string[]): Promise<Set<string>> {
  if (slugIds.length === 0) return new Set()
  const rows = await db
    .selectFrom('posts')
    .select('slugId')
    .where(isAmong(db, 'slugId', slugIds))
    .execute()
  return new Set(rows.map(({ slugId }) => slugId))
}

/** Accounts by their addresses, which are in lower case. */
export async function usersByEmail(db: Db, emails: readonly string[]): Promise<Map<string, string>> {
  if (emails.length === 0) return new Map()
  const rows = await db.selectFrom('users').select(['userId', 'email']).where(isAmong(db, 'email', emails)).execute() // prettier-ignore
  return new Map(rows.map(({ userId, email }) => [email, userId]))
}

/** Finds the oldest board, roadmap or tag with this name, in any letter case. */
export async function placeNamed(
  db: Db,
  kind: 'board' | 'status' | 'tag',
  nameFolded: string,
): Promise<string | undefined> {
  const [table, column] = PLACES[kind]
  const { rows } = await sql<{ id: string }>`
    select ${sql.ref(column)} as id from ${sql.table(table)} where "nameFolded" = ${nameFolded} order by 1 limit 1`.execute(
    db,
  )
  return rows[0]?.id
}

/** Inserts posts in their order, with their words. Hold the lock of `post_counts`. */
export async function insertImportedPosts(
  db: Db,
  posts: readonly Insertable<Tables['posts']>[],
  paths: readonly Insertable<Tables['former_paths']>[],
  tags: readonly Insertable<Tables['post_tags']>[],
): Promise<void> {
  if (posts.length === 0) return
  await db.insertInto('posts').values(posts).execute()
  const numbered = await db
    .selectFrom('posts')
    .select(['number', 'title', 'contentMarkdown'])
    .where(
      isAmong(
        db,
        'postId',
        posts.map(({ postId }) => postId),
      ),
    ) // prettier-ignore
    .execute()
  await indexPosts(db, numbered)
  // The first post that had a path keeps it
  if (paths.length > 0)
    await db
      .insertInto('former_paths')
      .values(paths)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  if (tags.length > 0)
    await db
      .insertInto('post_tags')
      .values(tags)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
}

/** Returns the ids of those that were inserted: a person has one vote for a post. */
export async function insertImportedVotes(
  db: Db,
  votes: readonly Insertable<Tables['votes']>[],
): Promise<ReadonlySet<string>> {
  if (votes.length === 0) return new Set()
  // Post by post, as they are stored: each page is then written once
  const sorted = votes.toSorted((one, other) => (one.postId < other.postId ? -1 : 1))
  const given = rowsGiven(db, ['voteId', 'userId', 'postId', 'createdAt'], sorted)
  const { rows } = await sql<{ voteId: string }>`
    insert into votes ${given} on conflict ("userId", "postId") do nothing returning "voteId"`.execute(db)
  return new Set(rows.map(({ voteId }) => voteId))
}

export async function insertImportedComments(
  db: Db,
  comments: readonly Insertable<Tables['comments']>[],
): Promise<void> {
  if (comments.length === 0) return
  await db.insertInto('comments').values(await numbered(db, comments)).execute() // prettier-ignore
  await indexComments(db, comments.map(({ id, body }) => ({ id, body }))) // prettier-ignore
}

/** The text of a post or comment as it is now, the images that it shows, and whether it was changed since its import. */
export async function importedText(
  db: Db,
  type: 'post' | 'comment',
  id: string,
): Promise<{ text: string | null; updatedAt: string; imageIds: string[]; isChanged: boolean } | undefined> {
  const row =
    type === 'post'
      ? await db.selectFrom('posts').select(['contentMarkdown as text', 'updatedAt']).where('postId', '=', id).executeTakeFirst() // prettier-ignore
      : await db.selectFrom('comments').select(['body as text', 'updated_at as updatedAt']).where('id', '=', id).executeTakeFirst() // prettier-ignore
  if (!row) return undefined
  const change = await db.selectFrom('events').select('id').where('subject_id', '=', id).where('action', '=', `${type}.updated`).limit(1).executeTakeFirst() // prettier-ignore
  const uses = await db.selectFrom('image_uses').select('imageId').where('textId', '=', id).execute()
  return { ...row, imageIds: uses.map(({ imageId }) => imageId), isChanged: change !== undefined }
}

/**
 * Replaces a text. `at` is the time of its last change plus a millisecond, so that a form of before is refused and no age
 * on a page changes. Returns false where the text is no longer what it was before.
 */
export async function replaceImportedText(
  db: Db,
  type: 'post' | 'comment',
  id: string,
  { before, after, at }: { before: string | null; after: string | null; at: string },
): Promise<boolean> {
  const row =
    type === 'post'
      ? await db
          .updateTable('posts')
          .set({ contentMarkdown: after, updatedAt: at })
          .where('postId', '=', id)
          .where('contentMarkdown', 'is not distinct from', before)
          .returning('postId')
          .executeTakeFirst()
      : await db
          .updateTable('comments')
          .set({ body: after ?? '', updated_at: at })
          .where('id', '=', id)
          .where('body', '=', before ?? '')
          .returning('id')
          .executeTakeFirst()
  if (row === undefined) return false
  if (type === 'post') await indexAgain(db, [id, (await rootOf(db, id)) ?? id])
  else await indexComments(db, [{ id, body: after ?? '' }])
  return true
}

/** Returns the post of each comment, and whether only the team sees it. */
export async function commentPlaces(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, { postId: string; isInternal: boolean }>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('comments')
    .select(['id', 'post_id', 'is_internal'])
    .where(isAmong(db, 'id', ids))
    .$if(isPostgres(db), (query) => query.forKeyShare())
    .execute()
  return new Map(rows.map((row) => [row.id, { postId: row.post_id, isInternal: row.is_internal === 1 }]))
}

/** Returns those of the posts that have an answer. */
export async function answeredPosts(db: Db, postIds: readonly string[]): Promise<Set<string>> {
  if (postIds.length === 0) return new Set()
  const rows = await db
    .selectFrom('comments')
    .select('post_id')
    .where(isAmong(db, 'post_id', postIds))
    .where('official', '=', sql.lit('answer'))
    .execute()
  return new Set(rows.map(({ post_id: postId }) => postId))
}

/** The post that had a path where it was imported from. */
export async function postAtFormerPath(db: Db, path: string): Promise<string | undefined> {
  const row = await db.selectFrom('former_paths').select('postId').where('path', '=', path).executeTakeFirst()
  return row?.postId
}
