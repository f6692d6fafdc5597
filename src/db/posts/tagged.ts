import { sql, type RawBuilder } from 'kysely'
import { isPostgres } from '../dialect.js'
import type { Sorting } from '../paging.js'
import type { Db } from '../tables.js'

// Filters of posts by tags. The tag ids are a JSON array.

const idsIn = (db: Db, ids: unknown) =>
  isPostgres(db)
    ? sql`(select value from json_array_elements_text(${ids}::json) as each(value))`
    : sql`(select value from json_each(${ids}))`

const firstOf = (db: Db, ids: unknown) =>
  isPostgres(db) ? sql`(${ids}::json ->> 0)` : sql`json_extract(${ids}, '$[0]')`

const lengthOf = (db: Db, ids: unknown) =>
  isPostgres(db) ? sql`json_array_length(${ids}::json)` : sql`json_array_length(${ids})`

/** Counts how many of the tags a post has. */
const countOn = (db: Db, ids: unknown, post: RawBuilder<unknown>) =>
  sql`(select count(*) from post_tags as others where others."postId" = ${post} and others."tagId" in ${idsIn(db, ids)})`

const hasAny = (db: Db, ids: unknown): RawBuilder<boolean> =>
  sql`exists (select 1 from post_tags where post_tags."postId" = posts."postId" and post_tags."tagId" in ${idsIn(db, ids)})`

/** Leads to the posts with any of some tags. */
export const withAnyTag = (db: Db) => ({
  key: 'postId' as const,
  lowest: '' as const,
  keys: (ids: unknown, { created, most }: Sorting & { most: number }): RawBuilder<{ post: string }> =>
    sql`select distinct post_tags."postId" as post from post_tags where post_tags."tagId" in ${idsIn(db, ids)}
      order by post ${sql.raw(created)} limit ${sql.lit(most)}`,
  has: (ids: unknown) => hasAny(db, ids),
})

/** Leads to the posts with all of some tags. */
export const withAllTags = (db: Db) => ({
  key: 'postId' as const,
  lowest: '' as const,
  keys: (ids: unknown, { created, most }: Sorting & { most: number }): RawBuilder<{ post: string }> =>
    sql`select post_tags."postId" as post from post_tags where post_tags."tagId" = ${firstOf(db, ids)}
      and ${countOn(db, ids, sql`post_tags."postId"`)} = ${lengthOf(db, ids)}
      order by post_tags."postId" ${sql.raw(created)} limit ${sql.lit(most)}`,
  has: (ids: unknown) => sql`${countOn(db, ids, sql`posts."postId"`)} = ${lengthOf(db, ids)}`,
})

/** The condition on a row of `posts`: none of the tags. */
export const hasNoTag = (tagIds: readonly unknown[]): RawBuilder<unknown> =>
  sql`not exists (select 1 from post_tags where post_tags."postId" = posts."postId" and post_tags."tagId" in (${sql.join(tagIds)}))`
