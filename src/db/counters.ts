import type { Db } from './connect.js'

export type Visibility = 'public' | 'private'

/** How many boards or roadmaps of these kinds there are, from counters that the database keeps. */
export async function visibleTotal(db: Db, rows: 'boards' | 'roadmaps', visibility: readonly Visibility[]): Promise<number> {
  const counters = await db
    .selectFrom('counters')
    .selectAll()
    .where('name', 'in', [rows, `${rows}.public`])
    .execute()
  const { [rows]: all = 0, [`${rows}.public`]: shown = 0 } = Object.fromEntries(counters.map((counter) => [counter.name, counter.value]))
  return (visibility.includes('public') ? shown : 0) + (visibility.includes('private') ? all - shown : 0)
}
