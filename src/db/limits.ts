import { sql, type Insertable } from 'kysely'
import type { Db, Tables } from './tables.js'

export type Counter = Insertable<Tables['limits']>

/** The counters of these keys that have not expired. */
export const findCounters = (db: Db, keys: readonly string[], now: string): Promise<Counter[]> =>
  db.selectFrom('limits').selectAll().where('key', 'in', keys).where('until', '>', now).execute()

/**
 * Adds the points of each counter, or begins it anew where it has expired, and returns what is counted now. The keys
 * must differ.
 */
export const count = (db: Db, counters: readonly Counter[], now: string): Promise<Counter[]> =>
  db
    .insertInto('limits')
    // In one order everywhere, or two such statements could wait for each other on PostgreSQL
    .values(counters.toSorted((one, other) => (one.key < other.key ? -1 : 1)))
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet({
        points: sql`case when limits.until > ${now} then limits.points else 0 end + excluded.points`,
        until: sql`case when limits.until > ${now} then limits.until else excluded.until end`,
      }),
    )
    .returningAll()
    .execute()

/** Stores a counter as it is, whatever it was before. */
export const putCounter = (db: Db, counter: Counter) =>
  db
    .insertInto('limits')
    .values(counter)
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ points: counter.points, until: counter.until }))
    .execute()

export const forget = (db: Db, keys: readonly string[]) => db.deleteFrom('limits').where('key', 'in', keys).execute()

export const isCounterExpired = async (db: Db, now: string): Promise<boolean> =>
  (await db.selectFrom('limits').select('key').where('until', '<=', now).limit(1).executeTakeFirst()) !== undefined

export const deleteExpiredCounters = (db: Db, now: string) =>
  db.deleteFrom('limits').where('until', '<=', now).execute()
