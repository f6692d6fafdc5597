import { sql, type Kysely } from 'kysely'
import type { Tables } from '../tables.js'

const BOARD = `coalesce("boardId", '')`
const ROADMAP = `coalesce(roadmap_id, '')`
const ALL = `'*'`

/** Counts spam apart from the other posts that only the team sees. */
export async function up(db: Kysely<Tables>): Promise<void> {
  for (const [board, roadmap] of [
    [BOARD, ROADMAP],
    [BOARD, ALL],
    [ALL, ROADMAP],
    [ALL, ALL],
  ] as const)
    // prettier-ignore
    for (const [display, sign] of [['3', ''], ['display', '-']] as const)
      await sql
        .raw(
          `insert into post_counts (board, roadmap, display, value)
          select ${board}, ${roadmap}, ${display}, ${sign}count(*) from posts where is_spam = 1 group by 1, 2, 3
          on conflict (board, roadmap, display) do update set value = post_counts.value + excluded.value`,
        )
        .execute(db)
}
