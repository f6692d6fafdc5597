import { compiled } from './cache/compiled.js'
import type { Db } from './tables.js'
import { isPostgres } from './dialect.js'

export type Visibility = 'public' | 'private'

/** The number of boards or roadmaps, from counters that triggers maintain. */
export async function visibleTotal(
  db: Db,
  rows: 'boards' | 'roadmaps',
  visibility: readonly Visibility[],
): Promise<number> {
  const counters = await compiled(
    db,
    'visibleTotal',
    { names: [rows, `${rows}.public`] },
    ({ names }) => db.selectFrom('counters').selectAll().where('name', 'in', names),
    { users: [], [rows === 'boards' ? 'roadmaps' : 'boards']: [] },
  )
  const { [rows]: all = 0, [`${rows}.public`]: shown = 0 } = Object.fromEntries(
    counters.map((counter) => [counter.name, counter.value]),
  )
  return (visibility.includes('public') ? shown : 0) + (visibility.includes('private') ? all - shown : 0)
}

/**
 * Takes a lock that is held until the transaction ends. It must come before any other write of the transaction; locking
 * in another order causes deadlocks. `post_counts` is for changes of which posts a board or a roadmap has, `roadmaps`
 * for changes of their order.
 */
export async function lock(db: Db, what: 'post_counts' | 'roadmaps'): Promise<void> {
  if (!isPostgres(db)) return // SQLite has one write transaction at a time
  await compiled(db, 'lock', { what }, (given) =>
    db
      .updateTable('counters')
      .set((eb) => ({ value: eb.ref('value') }))
      .where('name', '=', given.what),
  )
}

/** The number of the newest post: about how many the site has. */
export async function lastNumber(db: Db): Promise<number> {
  const row = await db.selectFrom('counters').select('value').where('name', '=', 'post_numbers').executeTakeFirst()
  return row?.value ?? 0
}
