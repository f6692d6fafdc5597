import { compiled } from './cache/compiled.js'
import type { Db } from './tables.js'
import { isPostgres } from './dialect.js'

export type Visibility = 'public' | 'private'

/** How many boards or roadmaps of these kinds there are, from counters that the database keeps. */
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
 * Waits until nobody else who takes the same lock writes, until the transaction ends. It comes before any other write of the
 * transaction: whoever locks rows in another order would wait for each other.
 * `post_counts`: what changes which posts a board or a roadmap has. `roadmaps`: what changes their order.
 */
export async function lock(db: Db, what: 'post_counts' | 'roadmaps'): Promise<void> {
  if (!isPostgres(db)) return // on SQLite there is one transaction at a time
  await compiled(db, 'lock', { what }, (given) =>
    db
      .updateTable('counters')
      .set((eb) => ({ value: eb.ref('value') }))
      .where('name', '=', given.what),
  )
}
