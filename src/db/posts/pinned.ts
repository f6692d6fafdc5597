import { sql, type RawBuilder } from 'kysely'
import type { Sorting } from '../paging.js'

/** Leads to the posts that are pinned, which an index of its own has. */
export const pinnedPosts = () => ({ key: 'number', lowest: 0, keys: keysOf, has: isPinned }) as const

const isPinned = (value: unknown): RawBuilder<boolean> => sql`(posts.pinned = 1 and posts.pinned = ${value})`

function keysOf(value: unknown, { most, created, after }: Sorting & { most: number; after?: number | undefined }) {
  const beyond =
    after === undefined ? sql`` : sql` and posts.number ${sql.raw(created === 'desc' ? '<' : '>')} ${after}`
  return sql<{
    post: number
  }>`select posts.number as post from posts where ${isPinned(value)}${beyond} order by posts.number ${sql.raw(created)} limit ${sql.lit(most)}`
}
