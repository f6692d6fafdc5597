import type { Insertable } from 'kysely'
import { compiled } from './cache/compiled.js'
import type { Db, EventRow, Tables } from './tables.js'
import { inCommitOrder } from './dialect.js'

/** Rows of one insert: both engines limit how many values a statement has. */
const SLICE = 1000

/** Writes what happened, as the last thing of a transaction. */
export async function insertEvents(db: Db, events: Insertable<Tables['events']>[]): Promise<void> {
  if (events.length === 0) return
  await inCommitOrder(db)
  const [only] = events
  if (only && events.length === 1)
    return void (await compiled(db, 'insertEvent', only, (given) => db.insertInto('events').values(given)))
  for (let at = 0; at < events.length; at += SLICE) {
    await db
      .insertInto('events')
      .values(events.slice(at, at + SLICE))
      .execute()
  }
}

/** An event with the names that the people in it have now. */
export interface NamedEvent extends EventRow {
  actorName: string | null
  personName: string | null
  subjectName: string | null
  subjectTitle: string | null
}

/** Events after one, in either direction of time. */
export const listEvents = (
  db: Db,
  { created, after, limit }: { created: 'asc' | 'desc'; after: number | undefined; limit: number },
): Promise<NamedEvent[]> =>
  db
    .selectFrom('events')
    .leftJoin('users as actor', 'actor.userId', 'events.actor_id')
    .leftJoin('users as person', 'person.userId', 'events.person_id')
    .leftJoin('users as someone', 'someone.userId', 'events.subject_id')
    .leftJoin('posts as post', 'post.postId', 'events.subject_id')
    .selectAll('events')
    .select([
      'actor.username as actorName',
      'person.username as personName',
      'someone.username as subjectName',
      'post.title as subjectTitle',
    ])
    .where('events.id', created === 'asc' ? '>' : '<', after ?? (created === 'asc' ? 0 : Number.MAX_SAFE_INTEGER))
    .orderBy('events.id', created)
    .limit(limit)
    .execute()
