import { sql, type RawBuilder } from 'kysely'
import { compiled } from '../cache/compiled.js'
import { widened, type Refs } from '../cache/dependencies.js'
import type { Db } from '../tables.js'
import { changedBy, conditionsOf, countersOf, leadOf, rangesOf, type Conditions, type PostFilter } from './filter.js'
import type { Sort } from './order.js'
import { isLimited, ledFrom, MOST_FOUND } from './read.js'

export interface Count {
  /** Posts in the list. */
  total: number
  /** Whether more posts pass the filter, or may: the list has only so many of the newest. */
  isCapped: boolean
}

/** Of a post: its number or its id. */
type Key = number | string

/** A count shows nothing of a post, and a list that ends has the newest. */
export const refsOf = (conditions: Conditions): Refs<unknown> =>
  widened({ votes: [], comments: [] }, changedBy(conditions))

/** How many posts a list has: from counts that the database keeps where they tell. */
export async function countPosts(db: Db, filter: PostFilter, sort: Sort = 'newest'): Promise<Count> {
  const conditions = conditionsOf(db, filter)
  if (!conditions) return { total: 0, isCapped: false }
  if (leadOf(conditions)) return countLed(db, conditions)
  const counters = countersOf(conditions)
  if (counters) return { total: await totalOf(db, counters), isCapped: false }
  const most = isLimited(conditions, sort) ? MOST_FOUND : Infinity
  const [row] = await compiled(db, `countPosts ${most}`, conditions, (given) => ({ compile: () => sumOf(given, most).compile(db) }), refsOf(conditions)) // prettier-ignore
  const { total = 0 } = row ?? {}
  return { total: Math.min(total, most), isCapped: total > most }
}

async function totalOf(db: Db, counters: NonNullable<ReturnType<typeof countersOf>>): Promise<number> {
  const [row] = await compiled(db, 'totalOf', counters, (given) => ({
    compile: () => {
      const places = Object.entries(given).map(([column, values]) => sql`${sql.ref(column)} in (${sql.join(values)})`)
      return sql<{ total: number | null }>`select sum(value) as total from post_counts where ${sql.join(places, sql` and `)}`.compile(db) // prettier-ignore
    },
  }))
  return row?.total ?? 0
}

/** The sum of the ranges, each of them counted up to one more than there may be. */
function sumOf(conditions: Conditions, most: number): RawBuilder<{ total: number }> {
  const [only, ...others] = rangesOf(conditions).map(({ where }) =>
    most === Infinity
      ? sql<{ total: number }>`select count(*) as total from posts where ${where}`
      : sql<{
          total: number
        }>`select count(*) as total from (select 1 from posts where ${where} limit ${sql.lit(most + 1)}) as part`,
  )
  return only && others.length === 0
    ? only
    : sql`select cast(sum(total) as bigint) as total from (${sql.join([only, ...others], sql` union all `)}) as parts`
}

/** Reads one more than a list has, which tells whether there are more. That post is not counted. */
async function countLed(db: Db, conditions: Conditions): Promise<Count> {
  const [row] = await compiled(
    db,
    'countLed',
    conditions,
    (given) => {
      const { keys, key, rest } = ledFrom(db, given, { created: 'desc', most: MOST_FOUND + 1 })
      return {
        compile: () =>
          sql<{ looked: number; total: number; last: Key | null; oldest: Key | null }>`
            select count(*) as looked, count(${key}) as total, min(found.post) as last, min(${key}) as oldest
            from (${keys}) as found left join posts on ${rest}`.compile(db),
      }
    },
    refsOf(conditions),
  )
  const { looked = 0, total = 0, last = null, oldest = null } = row ?? {}
  const isCapped = looked > MOST_FOUND
  return { total: isCapped && last === oldest ? total - 1 : total, isCapped }
}

/** The votes of the posts with these numbers, with those of imports. */
export async function votesBetween(db: Db, after: number, until: number): Promise<number> {
  const row = await db
    .selectFrom('posts')
    .select((eb) => eb.fn.sum<number | null>('votesCount').as('votes'))
    .where('number', '>', after)
    .where('number', '<=', until)
    .executeTakeFirst()
  return row?.votes ?? 0
}
