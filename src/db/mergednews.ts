import { sql } from 'kysely'
import { MERGED } from '../core/hidden.js'
import type { Db } from './tables.js'

/** A post that was merged into another. */
export type MergedPost = Awaited<ReturnType<typeof rowsOf>>[number]

interface Reader {
  userId: string
  /** Whether they read private boards. */
  hidden: boolean
}

const rowsOf = (db: Db, eventIds: readonly number[], { userId, hidden }: Reader) =>
  db
    .selectFrom('events')
    .innerJoin('posts', 'posts.postId', 'events.subject_id')
    .innerJoin('merges', 'merges.postId', 'posts.postId')
    .leftJoin('boards', 'boards.boardId', 'posts.boardId')
    .select(['events.id as eventId', 'posts.postId', 'posts.number', 'posts.title', 'posts.slug'])
    .where('events.id', 'in', eventIds)
    .where('posts.is_spam', '=', sql.lit(MERGED))
    .$if(!hidden, (query) =>
      query
        .where((eb) => eb(eb.fn.coalesce('boards.display', sql.lit(1)), '=', sql.lit(1)))
        .where((eb) => eb.or([eb('merges.wasHeld', '=', sql.lit(0)), eb('posts.userId', '=', userId)])),
    )
    .execute()

/**
 * Neither this nor a list of notifications with such news is cached. It reads `events`, which row changes leave out because
 * every change writes one. `merges` has no event id, and several posts can be merged into one at the same time.
 *
 * Returns the merged post of each merge event, by event id. Leaves out posts that are no longer merged, and without
 * `hidden` those of private boards, and those of others that were held.
 */
export async function mergedBy(
  db: Db,
  news: readonly { eventId: number; kind: string }[],
  reader: Reader,
): Promise<ReadonlyMap<number, MergedPost>> {
  const ids = news.filter(({ kind }) => kind === 'merged').map(({ eventId }) => eventId)
  const rows = ids.length === 0 ? [] : await rowsOf(db, ids, reader)
  return new Map(rows.map((row) => [row.eventId, row]))
}
