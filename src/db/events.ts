import type { Insertable } from 'kysely'
import { compiled } from './cache/compiled.js'
import type { Db, EventRow, Tables } from './tables.js'
import { lockCommitOrder } from './dialect.js'
import { searchPage, type Sorting } from './paging.js'

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

/** An event with the current names of its users, its post and its role: null where they are gone. */
export interface NamedEvent extends EventRow {
  actorUsername: string | null
  actorName: string | null
  personUsername: string | null
  personName: string | null
  subjectName: string | null
  subjectFullName: string | null
  subjectTitle: string | null
  roleName: string | null
}

/** Which events. All filters apply; `person` did it, or it was done to them. Times are ISO 8601, `until` exclusive. */
export interface EventFilter {
  person?: string | undefined
  action?: string | undefined
  subject?: string | undefined
  since?: string | undefined
  until?: string | undefined
}

interface EventPage extends Sorting {
  after: number | undefined
  limit: number
  offset?: number
}

/** The events after an id, oldest or newest first. */
export async function listEvents(db: Db, filter: EventFilter, page: EventPage): Promise<NamedEvent[]> {
  const { created, limit, offset = 0 } = page
  const { person } = filter
  const [least, most] = [await boundOfTime(db, 'since', filter.since), await boundOfTime(db, 'until', filter.until)]
  if (least === 'none' || most === 'none') return []
  const { after } = page
  const from = Math.max(least ?? 0, created === 'asc' && after !== undefined ? after + 1 : 0)
  const to = Math.min(most ?? Number.MAX_SAFE_INTEGER, created === 'desc' && after !== undefined ? after - 1 : Number.MAX_SAFE_INTEGER) // prettier-ignore
  const matching = db
    .selectFrom('events')
    .where('events.id', '>=', from)
    .where('events.id', '<=', to)
    .$if(filter.action !== undefined, (query) => query.where('action', '=', filter.action ?? ''))
    .$if(filter.subject !== undefined, (query) => query.where('subject_id', '=', filter.subject ?? ''))
    .$if(filter.since !== undefined, (query) => query.where('created_at', '>=', filter.since ?? ''))
    .$if(filter.until !== undefined, (query) => query.where('created_at', '<', filter.until ?? ''))
    .orderBy('events.id', created)
  // An index for each column of a person: their pages together have the page.
  const ofPerson = (column: 'actor_id' | 'person_id' | 'subject_id') =>
    db
      .selectFrom(
        matching
          .where(column, '=', person ?? '')
          .select('events.id')
          .limit(limit + offset)
          .as('found'),
      )
      .select('found.id')
  return db
    .selectFrom(
      matching
        .selectAll('events')
        .$if(person !== undefined, (query) =>
          query.where(
            'events.id',
            'in',
            ofPerson('actor_id').union(ofPerson('person_id')).union(ofPerson('subject_id')),
          ),
        )
        .limit(limit)
        .offset(offset)
        .as('events'),
    ) // prettier-ignore
    .leftJoin('users as actor', 'actor.userId', 'events.actor_id')
    .leftJoin('users as person', 'person.userId', 'events.person_id')
    .leftJoin('users as someone', 'someone.userId', 'events.subject_id')
    .leftJoin('posts as post', 'post.postId', 'events.subject_id')
    .leftJoin('roles as role', 'role.id', 'events.subject_id')
    .selectAll('events')
    .select([
      'actor.username as actorUsername',
      'actor.name as actorName',
      'person.username as personUsername',
      'person.name as personName',
      'someone.username as subjectName',
      'someone.name as subjectFullName',
      'post.title as subjectTitle',
      'role.name as roleName',
    ])
    .orderBy('events.id', created)
    .execute()
}

/** The most events that a search reads. */
export const MOST_READ = 100_000

interface Search<Shown> {
  shown(this: void, events: readonly NamedEvent[]): Promise<Shown[]>
  matches(this: void, event: Shown): boolean
}

/** The events of a page that match, as they are shown. */
export const searchEvents = <Shown extends NamedEvent>(
  db: Db,
  filter: EventFilter,
  { created, after, ...page }: EventPage,
  { shown, matches }: Search<Shown>,
): Promise<Shown[]> =>
  searchPage<Shown, number>(
    { ...page, ...(after !== undefined && { after }) },
    {
      read: async ({ limit, after: last }) => shown(await listEvents(db, filter, { created, after: last, limit })),
      at: ({ id }) => id,
      matches,
      most: MOST_READ,
      batch: 500,
    },
  )

/** How far the clocks of several servers, and the order of events and of their times, may differ. */
const CLOCKS_DIFFER_MS = 60 * 60 * 1000

/**
 * The first or last id that an event since or until a time can have, so that a page by time is a range of ids. 'none'
 * where there is no such event.
 */
async function boundOfTime(
  db: Db,
  side: 'since' | 'until',
  time: string | undefined,
): Promise<number | 'none' | undefined> {
  if (time === undefined) return undefined
  const shifted = Date.parse(time) + (side === 'since' ? -CLOCKS_DIFFER_MS : CLOCKS_DIFFER_MS)
  const direction = side === 'since' ? 'asc' : 'desc'
  const row = await db
    .selectFrom('events')
    .select('id')
    .where('created_at', side === 'since' ? '>=' : '<=', new Date(shifted).toISOString())
    .orderBy('created_at', direction)
    .orderBy('id', direction)
    .limit(1)
    .executeTakeFirst()
  return row?.id ?? 'none'
}

/** The newest events of an action, newest first. */
export const newestEvents = (db: Db, action: string, limit: number): Promise<EventRow[]> =>
  db.selectFrom('events').selectAll().where('action', '=', action).orderBy('id', 'desc').limit(limit).execute()

/** Whether this was ever done to a row. */
export async function hasEvent(db: Db, action: string, subject: string): Promise<boolean> {
  const row = await db
    .selectFrom('events')
    .select('id')
    .where('subject_id', '=', subject)
    .where('action', '=', action)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the time of the first event, from which the site dates. Imported accounts can be older. */
export async function oldestEvent(db: Db): Promise<string | undefined> {
  const event = await db.selectFrom('events').select('created_at').orderBy('id').limit(1).executeTakeFirst()
  return event?.created_at
}
