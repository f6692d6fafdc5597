import type { Page } from '../paging.js'
import type { Db } from '../tables.js'
import { countPosts, type Count } from './count.js'
import { listCovered, type Cover } from './covered.js'
import { conditionsOf, leadOf, type PostFilter } from './filter.js'
import type { Cursor, Sort } from './order.js'
import { listPosts, listReached, MOST_FOUND } from './read.js'

/**
 * A list of posts. A page that an index of another table leads to tells how many posts the list has. Of posts that `cover`
 * has, the order does not show how many voted.
 */
export function postList(db: Db, filter: PostFilter, sort: Sort, cover?: Cover) {
  const conditions = conditionsOf(db, filter)
  let counted: Count | undefined
  return {
    /** Whether to read a page before the count. */
    countsPages: conditions !== undefined && leadOf(conditions) !== undefined,
    async read(page: Page<Cursor>) {
      const rows = await (cover ? listCovered(db, filter, { sort, cover }, page) : listPosts(db, filter, sort, page))
      const { total, looked = 0 } = rows[0] ?? {}
      if (total !== undefined) counted = { total, isCapped: looked > MOST_FOUND }
      return rows
    },
    /** Only the columns that decide who gets news of the posts. */
    readReached: (page: Page<Cursor>) => listReached(db, filter, sort, page),
    count: async (): Promise<Count> => (counted ??= await countPosts(db, filter, sort)),
  }
}
