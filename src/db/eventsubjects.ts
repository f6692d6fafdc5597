import { sql, type RawBuilder } from 'kysely'
import { MERGED } from '../core/hidden.js'
import type { Db } from './tables.js'

/** The nouns of which some rows are private. */
export const PARTLY_PRIVATE = ['post', 'comment', 'board', 'roadmap', 'tag'] as const
export type PartlyPrivate = (typeof PARTLY_PRIVATE)[number]

/** Of a merged post, its own board counts too: the post that stands for it may be on another. */
const onPublicBoard = (post: string) =>
  sql`not exists (select 1 from boards where boards."boardId" = ${sql.ref(`${post}.boardId`)} and boards.display <> 1)`

const isPublic = sql`(posts.display = 1 or posts.is_spam = ${sql.lit(MERGED)} and ${onPublicBoard('posts')}
  and exists (select 1 from merges inner join posts as root on root."postId" = merges."rootId"
    where merges."postId" = posts."postId" and merges."wasHeld" = 0 and root.display = 1))`

interface Named {
  id: string
  name: string
}

const PUBLIC: Readonly<Record<PartlyPrivate, (ids: RawBuilder<unknown>) => RawBuilder<Named>>> = {
  post: (ids) => sql`select posts."postId" as id, posts.title as name from posts where posts."postId" in (${ids}) and ${isPublic}`, // prettier-ignore
  comment: (ids) => sql`
    select comments.id, posts.title as name from comments inner join posts on posts."postId" = comments.post_id
    left join posts as origin on origin."postId" = comments.from_post_id
    where comments.id in (${ids}) and ${isPublic} and ${onPublicBoard('origin')}`,
  board: (ids) => sql`select "boardId" as id, name from boards where "boardId" in (${ids}) and display = 1`,
  roadmap: (ids) => sql`select id, name from roadmaps where id in (${ids}) and display = 1`,
  tag: (ids) => sql`select "tagId" as id, name from tags where "tagId" in (${ids}) and display = 1`,
}

/** The present names of those of the rows that every visitor may read; of a comment, the title of its post. */
export async function publicNames(
  db: Db,
  noun: PartlyPrivate,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const { rows } = await PUBLIC[noun](sql.join(ids)).execute(db)
  return new Map(rows.map(({ id, name }) => [id, name]))
}
