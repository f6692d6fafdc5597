import type { Insertable } from 'kysely'
import { compiled } from './cache/compiled.js'
import type { Db, EventRow, Tables } from './tables.js'
import { lockCommitOrder } from './dialect.js'

/** Rows per insert: both engines limit the parameters of a statement. */
const MAX_ROWS = 1000

/** Must be the last write of a transaction. */
export async function insertEvents(db: Db, events: Insertable<Tables['events']>[]): Promise<void> {
  if (events.length === 0) return
  await lockCommitOrder(db)
  const [only] = events
  if (only && events.length === 1)
    return void (await compiled(db, 'insertEvent', only, (given) => db.insertInto('events').values(given)))
  for (let at = 0; at < events.length; at += MAX_ROWS) {
    await db
      .insertInto('events')
      .values(events.slice(at, at + MAX_ROWS))
      .execute()
  }
}

/** An event with the current names of its users and its post. */
export interface NamedEvent extends EventRow {
  actorName: string | null
  personName: string | null
  subjectName: string | null
  subjectTitle: string | null
}

/** The events after an id, oldest or newest first. */
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
