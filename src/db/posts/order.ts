import { sql, type RawBuilder } from 'kysely'
import type { Direction } from '../paging.js'
import type { PostRow } from '../tables.js'

/** Those by votes, comments and trend show the newest first where these are equal. */
export const SORTS = ['newest', 'oldest', 'votes', 'discussed', 'trending'] as const
export type Sort = (typeof SORTS)[number]

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

interface Order {
  by: readonly (keyof Cursor)[]
  direction: Direction
  /** A change of any such row can move a post: besides changes of posts and boards, which always can. */
  moves?: 'votes' | 'comments'
}

const AGE = ['createdAt', 'postId'] as const

export const ORDERS: Readonly<Record<Sort, Order>> = {
  newest: { by: AGE, direction: 'desc' },
  oldest: { by: AGE, direction: 'asc' },
  votes: { by: ['votesCount', ...AGE], direction: 'desc', moves: 'votes' },
  discussed: { by: ['commentsCount', ...AGE], direction: 'desc', moves: 'comments' },
  trending: { by: ['trending', ...AGE], direction: 'desc', moves: 'votes' },
}

export const isByTime = (sort: Sort): boolean => ORDERS[sort].by === AGE

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
