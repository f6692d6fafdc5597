import { sql, type RawBuilder } from 'kysely'
import type { Topic } from '../cache/dependencies.js'
import type { Direction } from '../paging.js'
import type { PostRow } from '../tables.js'

/** Those by votes, comments and trend show the newest first where these are equal. */
export const SORTS = ['newest', 'oldest', 'votes', 'discussed', 'trending'] as const
export type Sort = (typeof SORTS)[number]

/** By time: nothing that people do moves a post in these. */
export const STEADY = ['newest', 'oldest'] as const satisfies readonly Sort[]

/** What the place of a post in a list depends on. */
export const CURSOR = ['votesCount', 'commentsCount', 'trending', 'createdAt', 'postId'] as const
export type Cursor = Pick<PostRow, (typeof CURSOR)[number]>

export const cursorOf = ({ votesCount, commentsCount, trending, createdAt, postId }: Cursor): Cursor => ({
  votesCount,
  commentsCount,
  trending,
  createdAt,
  postId,
})

/**
 * Topics of which any row can change the posts that a filter passes, or their order: besides posts and boards, which
 * always can. `test/db/filters.test.ts` finds one that is missing.
 */
export type ChangedBy = readonly Exclude<Topic, 'posts' | 'boards'>[]

interface Order {
  by: readonly (keyof Cursor)[]
  direction: Direction
  changedBy: ChangedBy
}

const AGE = ['createdAt', 'postId'] as const

export const ORDERS: Readonly<Record<Sort, Order>> = {
  newest: { by: AGE, direction: 'desc', changedBy: [] },
  oldest: { by: AGE, direction: 'asc', changedBy: [] },
  votes: { by: ['votesCount', ...AGE], direction: 'desc', changedBy: ['votes'] },
  discussed: { by: ['commentsCount', ...AGE], direction: 'desc', changedBy: ['comments'] },
  trending: { by: ['trending', ...AGE], direction: 'desc', changedBy: ['votes'] },
}

export const isByTime = (sort: Sort): boolean => STEADY.some((each) => each === sort)

/** The columns that an order is by, with the id. */
export const orderedBy = (sort: Sort): RawBuilder<unknown> => sql.join(ORDERS[sort].by.map((name) => sql.ref(name)))

const columns = (names: readonly (keyof Cursor)[], table: string) => names.map((name) => sql.ref(`${table}.${name}`))

/** `first` are columns that are null in all rows. */
export function orderBy(sort: Sort, table = 'posts', first: readonly RawBuilder<unknown>[] = []): RawBuilder<unknown> {
  const { by, direction } = ORDERS[sort]
  return sql.join([...first, ...columns(by, table)].map((column) => sql`${column} ${sql.raw(direction)}`))
}

export function isAfter(sort: Sort, after: Cursor, table = 'posts'): RawBuilder<boolean> {
  const { by, direction } = ORDERS[sort]
  const values = sql.join(by.map((name) => sql`${after[name]}`))
  return sql`(${sql.join(columns(by, table))}) ${direction === 'desc' ? sql`<` : sql`>`} (${values})`
}
