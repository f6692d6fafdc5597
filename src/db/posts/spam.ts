import { sql, type RawBuilder } from 'kysely'
import { SPAM } from '../../core/hidden.js'
import type { Sorting } from '../paging.js'

/** A constant: engines take the index of spam for no parameter. */
const IS_SPAM = sql`posts.is_spam = ${sql.lit(SPAM)}`

/** Leads to the posts that are hidden as spam. */
export const spamPosts = () => ({
  key: 'number' as const,
  lowest: 0 as const,
  keys: (_: unknown, { created, most }: Sorting & { most: number }): RawBuilder<{ post: number }> =>
    sql`select posts.number as post from posts where ${IS_SPAM} order by posts.number ${sql.raw(created)} limit ${sql.lit(most)}`,
  has: () => IS_SPAM,
})
