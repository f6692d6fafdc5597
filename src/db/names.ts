import { sql, type RawBuilder } from 'kysely'
import { NOUNS } from '../core/nouns.js'
import type { Db } from './tables.js'

/** A row that a name may stand for, with what tells it from the others. */
export interface Candidate {
  id: string
  name: string
  /** The number of a post, the url of a board, a roadmap or a tag, the address of a person. */
  handle: string | number | null
}

/** What of a site the actor may see. */
export interface Seen {
  privatePosts: boolean
  internalComments: boolean
  spam: boolean
  viewer: string | null
}

/** A range of an index. Ids are of digits, letters and dashes, and `~` comes after those. */
const begins = (column: RawBuilder<unknown>, start: string): RawBuilder<unknown> =>
  sql`${column} >= ${start} and ${column} < ${`${start}~`}`

const found = async (db: Db, query: RawBuilder<Candidate>): Promise<Candidate[]> => (await query.execute(db)).rows

/** `+ 0` keeps SQLite from the index of `display`, which has most of the posts. */
export const postsStarting = (db: Db, start: string, seen: Seen, limit: number): Promise<Candidate[]> =>
  found(
    db,
    sql`select "postId" as id, title as name, number as handle from posts
      where ${begins(sql`"postId"`, start)}${seen.privatePosts ? sql`` : sql` and display + 0 = 1`}
      order by "postId" limit ${limit}`,
  )

/** Comments that the actor may see, on posts that the actor may see. */
export const commentsStarting = (db: Db, start: string, seen: Seen, limit: number): Promise<Candidate[]> =>
  found(
    db,
    sql`select comments.id as id, comments.body as name, posts.number as handle from comments
      join posts on posts."postId" = comments.post_id
      where ${begins(sql`comments.id`, start)}
        ${seen.privatePosts ? sql`` : sql`and posts.display + 0 = 1`}
        ${seen.internalComments ? sql`` : sql`and comments.is_internal + 0 = 0`}
        ${seen.spam ? sql`` : sql`and case when comments.is_spam = 0 then 1 when comments.author_id = ${seen.viewer ?? ''} then 1 else 0 end = 1`}
      order by comments.id limit ${limit}`,
  )

/** Images whose id starts so; with `userId`, those that this user uploaded. */
export const imagesStarting = (db: Db, start: string, userId: string | undefined, limit: number) =>
  found(
    db,
    sql`select "imageId" as id, width || 'x' || height as name, null as handle from images
      where ${begins(sql`"imageId"`, start)}${userId === undefined ? sql`` : sql` and "userId" = ${userId}`}
      order by "imageId" limit ${limit}`,
  )

type Titled = 'boards' | 'roadmaps' | 'tags'
const ids = { boards: sql.ref(NOUNS.board.id), roadmaps: sql.ref(NOUNS.roadmap.id), tags: sql.ref(NOUNS.tag.id) }

/** Boards, roadmaps or tags whose id starts so. `hidden`: private ones too. */
export const titledStarting = (db: Db, table: Titled, start: string, hidden: boolean, limit: number) =>
  found(
    db,
    sql`select ${ids[table]} as id, name, url as handle from ${sql.table(table)}
      where ${begins(ids[table], start)}${hidden ? sql`` : sql` and display + 0 = 1`} order by ${ids[table]} limit ${limit}`,
  )

/** Boards, roadmaps or tags with this folded name. */
export const titledNamed = (db: Db, table: Titled, folded: string, hidden: boolean, limit: number) =>
  found(
    db,
    sql`select ${ids[table]} as id, name, url as handle from ${sql.table(table)}
      where "nameFolded" = ${folded}${hidden ? sql`` : sql` and display + 0 = 1`} order by "nameFolded", ${ids[table]} limit ${limit}`,
  )

export const usersStarting = (db: Db, start: string, limit: number): Promise<Candidate[]> =>
  found(
    db,
    sql`select "userId" as id, username as name, email as handle from users
      where ${begins(sql`"userId"`, start)} order by "userId" limit ${limit}`,
  )
