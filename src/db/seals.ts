import { createHash } from 'node:crypto'
import type { SelectQueryBuilder } from 'kysely'
import { NOUNS } from '../core/nouns.js'
import { lastGiven } from './dialect.js'
import type { Db, EventRow, SealRow, Tables } from './tables.js'

/** An event, with the hashes of a name and of details that were erased. */
type SealedEvent = EventRow & { erasedHash: string | null; erasedDetails: string | null }

/** The version of new seals. */
export const SEAL_VERSION = 2

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/**
 * The hash of a block of events and of all before it. A column that is added to events later needs another version: the
 * blocks that are sealed already would not match any more.
 */
export const hashOfBlock = (before: string, events: readonly SealedEvent[], version: number): string =>
  sha256([before, ...events.map((event) => digestOf(event, version))].join('\n'))

/** The name and the details are hashed apart, so that they can be erased. */
function digestOf(event: SealedEvent, version: number): string {
  const { id, action, subject_id, subject, person_id, actor_id, origin, address, key_id, created_at } = event
  const others = [id, action, subject_id, person_id, actor_id, origin, address, key_id, created_at]
  const name = subject === null ? event.erasedHash || null : sha256(subject)
  const details = event.details === null ? event.erasedDetails : sha256(event.details)
  return sha256(JSON.stringify([...others, name, ...(version >= 2 ? [details] : [])]))
}

export const newestSeal = (db: Db): Promise<SealRow | undefined> =>
  db
    .selectFrom('event_seals')
    .selectAll()
    .where('last_id', '>', 0)
    .orderBy('last_id', 'desc')
    .limit(1)
    .executeTakeFirst()

/** The seal that ends with an event. */
export const sealUntil = (db: Db, lastId: number): Promise<SealRow | undefined> =>
  db.selectFrom('event_seals').selectAll().where('last_id', '=', lastId).executeTakeFirst()

/** Seals that end after an event, in order, wherever they begin. */
export const listSeals = (db: Db, afterId: number, limit: number): Promise<SealRow[]> =>
  db.selectFrom('event_seals').selectAll().where('last_id', '>', afterId).orderBy('last_id').limit(limit).execute()

/** Where some rows begin and end. */
interface Range {
  first: number
  last: number
}

/** Events whose id no engine gives. */
export const eventsBelowOne = (db: Db): Promise<Range | undefined> =>
  rangeOf(db.selectFrom('events').where('id', '<=', 0))

/** When the newest event of a request came, if it is after that event. */
export async function newestRequest(db: Db, after: number): Promise<string | undefined> {
  const event = await db
    .selectFrom('events')
    .select('created_at')
    .where('id', '>', after)
    .where('origin', '=', 'http')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return event?.created_at
}

/** Events of requests after one, older than a time. */
export const unsealedRequests = (db: Db, { after, before }: { after: number; before: string }) =>
  rangeOf(db.selectFrom('events').where('id', '>', after).where('origin', '=', 'http').where('created_at', '<', before))

async function rangeOf<O>(query: SelectQueryBuilder<Tables, 'events', O>): Promise<Range | undefined> {
  const row = await query
    .select(({ fn }) => [fn.min('id').as('first'), fn.max('id').as('last')])
    .executeTakeFirstOrThrow()
  return row.first === null || row.last === null ? undefined : { first: row.first, last: row.last }
}

/** Does nothing where another process has sealed what follows that event. */
export const insertSeal = (db: Db, seal: SealRow) =>
  db
    .insertInto('event_seals')
    .values(seal)
    .onConflict((conflict) => conflict.doNothing())
    .execute()

export async function newestEventId(db: Db): Promise<number> {
  const row = await db
    .selectFrom('events')
    .select('id')
    .where('id', '>', 0)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.id ?? 0
}

/** The events after the newest that were deleted, where the engine can tell. */
export async function missingNewest(db: Db): Promise<Range | undefined> {
  const given = await lastGiven(db, 'events')
  return given && given.last > given.newest ? { first: given.newest + 1, last: given.last } : undefined
}

/** Whether there is an event of this action. */
export const hasEvent = async (db: Db, action: string): Promise<boolean> =>
  (await db.selectFrom('events').select('id').where('action', '=', action).limit(1).executeTakeFirst()) !== undefined

interface Block {
  after: number
  until?: number
  limit: number
}

/** Events after one, up to another, in order. */
export const eventsOfBlock = (db: Db, { after, until, limit }: Block): Promise<SealedEvent[]> =>
  db
    .selectFrom('events')
    .leftJoin('event_erasures', 'event_erasures.event_id', 'events.id')
    .selectAll('events')
    .select(['event_erasures.subject_hash as erasedHash', 'event_erasures.details_hash as erasedDetails'])
    .where('events.id', '>', after)
    .$if(until !== undefined, (query) => query.where('events.id', '<=', until ?? 0))
    .orderBy('events.id')
    .limit(limit)
    .execute()

/** Rows in a statement: both engines limit its parameters. */
const MAX_ROWS = 1000

const COMMENT_ACTIONS = NOUNS.comment.verbs.map((verb) => `comment.${verb}`)

/**
 * The ids of the posts of a user that were deleted before, as the events say who created them, and of the comments on
 * them. Events of a comment do not name its post, only the title: where a comment is gone too, the title decides.
 */
export async function formerContentOf(db: Db, userId: string): Promise<string[]> {
  const posts = await db
    .selectFrom('events')
    .select('subject_id')
    .where('actor_id', '=', userId)
    .where('action', '=', 'post.created')
    .where((eb) =>
      eb.not(eb.exists(eb.selectFrom('posts').select('postId').whereRef('postId', '=', 'events.subject_id'))),
    )
    .execute()
  const ids = new Set(posts.map((event) => event.subject_id))
  const titles = new Set<string>()
  for (const some of batches([...ids])) {
    const named = await db.selectFrom('events').select('subject').distinct().where('subject_id', 'in', some).execute()
    for (const { subject } of named) if (subject !== null) titles.add(subject)
  }
  for (const some of batches([...titles])) {
    const comments = await db
      .selectFrom('events')
      .select('subject_id')
      .distinct()
      .where('action', 'in', COMMENT_ACTIONS)
      .where('subject', 'in', some)
      .where((eb) =>
        eb.not(
          eb.exists(eb.selectFrom('comments').select('comments.id').whereRef('comments.id', '=', 'events.subject_id')),
        ),
      )
      .execute()
    for (const { subject_id: id } of comments) ids.add(id)
  }
  return [...ids]
}

function* batches<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += MAX_ROWS) yield items.slice(at, at + MAX_ROWS)
}

/** Erases the names and the details in the events of these rows. Their hashes stay, as the seals include them. */
export async function eraseNames(db: Db, subjectIds: readonly string[]): Promise<void> {
  for (const some of batches(subjectIds)) {
    const ofSome = db
      .selectFrom('events')
      .where('subject_id', 'in', some)
      .where((eb) => eb.or([eb('subject', 'is not', null), eb('details', 'is not', null)]))
    const named = await ofSome.select(['id', 'subject', 'details']).execute()
    if (named.length === 0) continue
    const hashes = named.map(({ id, subject, details }) => ({
      event_id: id,
      subject_hash: subject === null ? '' : sha256(subject),
      details_hash: details === null ? null : sha256(details),
    }))
    await db
      .insertInto('event_erasures')
      .values(hashes)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    await db
      .updateTable('events')
      .set({ subject: null, details: null })
      .where('id', 'in', ofSome.select('id'))
      .execute()
  }
}
