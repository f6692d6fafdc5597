import * as Type from 'typebox'
import type { FieldChange } from '../core/details.js'
import { asStored, isId } from '../core/ids.js'
import { quoted } from '../core/text.js'
import { AppError } from '../core/errors.js'
import { findComment } from '../db/comments.js'
import { findMerge } from '../db/merges.js'
import { toldOfPost } from '../db/notifications.js'
import { listEvents, MOST_READ, searchEvents, type NamedEvent } from '../db/events.js'
import { can, type Actor } from './lib/access.js'
import type { Context } from './lib/context.js'
import { readable, readableEvent, type NamedChange, type ReadableEvent } from './lib/eventnames.js'
import { operation } from './lib/operation.js'
import { assertOnePlace, pageFields, uncountedInfo, uncountedKeys, type Listing } from './lib/paging.js'
import { fields, nullable, oneOf } from './lib/schemas.js'
import { DELETED_USER, findPerson, namingPeople } from './lib/people.js'
import { counts, countsOf } from './lib/toldcounts.js'
import { votesSeen } from './lib/voters.js'
import { visiblePost } from './lib/whichpost.js'
import { mayKnow } from './told.js'
import { textField, textMatcher } from './lib/textsearch.js'
import { orderFields, periodFields, periodFrom } from './lib/times.js'

const person = (description: string) =>
  Type.Union(
    [
      Type.Object({
        userId: Type.String(),
        name: Type.String({ description: 'Empty where the user gave none' }),
        username: Type.String(),
      }),
      Type.Null(),
    ],
    { description },
  )

const PLACE = 'The present name of the board or roadmap with this id; absent where it is gone, or private to the caller'

const Detail = Type.Object({
  field: Type.String({ description: 'Name of the field, as in the row' }),
  before: nullable('string', { description: 'The value before; long texts are cut' }),
  after: nullable('string', { description: 'The value after; long texts are cut' }),
  before_name: Type.Optional(Type.String({ description: PLACE })),
  after_name: Type.Optional(Type.String({ description: PLACE })),
})

export const Event = Type.Object({
  id: Type.Integer({ description: 'Increases in commit order' }),
  action: Type.String({ description: 'What happened, such as post.created' }),
  subject_id: Type.String({ description: 'Id of the row' }),
  subject: nullable('string', {
    description:
      'Name of the row at that time; for users, and for posts in vote events, the current name. For callers who may not read all such rows: the current name, or null where the row is private or gone',
  }),
  user: person('The user that the event is about; null where it is about something else, or the account is gone'),
  person: person('The other user concerned: who got a role, or whose vote was cast'),
  actor: person('Who did it; null for visitors and at the command line'),
  via: oneOf(['cli', 'http']),
  operator: nullable('string', { description: 'The login name at the command line' }),
  address: nullable('string', {
    description: 'The address that the request came from; null at the command line, and for callers without user:read',
  }),
  key_id: nullable('string', { description: 'Id of the API key of the request' }),
  created_at: Type.String({ format: 'date-time' }),
  details: Type.Union([Type.Array(Detail), Type.Null()], {
    description:
      'What changed; null where the action says it, or after the account of the author was deleted. Without names for callers who may not read all such rows',
  }),
  subject_gone: Type.Optional(
    Type.Boolean({ description: 'true of a post, user or role that no longer exists; otherwise absent' }),
  ),
})

export type Event = Type.Static<typeof Event>

const EVENTS: Listing<{ id: string }> = { row: 'event', rows: 'Events', id: 'id', pages: 1000 }

export const list = operation({
  id: 'events.list',
  summary: 'List changes and who made them; polling with `after` returns every change',
  http: 'GET /events 200',
  access: 'event:read',
  sensitive: true,
  errors: ['USER_NOT_FOUND'],
  input: fields({
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        fromText: true,
        description: 'The id of the event that the page comes after',
      }),
    ),
    ...orderFields('asc', 'Sort by time: asc is oldest first'),
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 10, fromText: true, description: 'Events on a page' }),
    page: Type.Optional({ ...pageFields(EVENTS).page, description: 'Page number, unless after is given (default: 1)' }),
    query: textField('events', { within: 'action, subject or users', most: MOST_READ }),
    person: Type.Optional(
      Type.String({
        description: 'Only events by or about this user: e-mail address, user name or id',
        names: 'user',
      }),
    ),
    action: Type.Optional(
      Type.String({
        pattern: '^[a-z]+\\.[a-z_]+$',
        rule: 'an action, such as post.created',
        description: 'Only this action',
      }),
    ),
    subject: Type.Optional(
      Type.String({ description: 'Only what concerns the row with this id', names: 'subject', early: true }),
    ),
    ...periodFields('events'),
  }),
  output: Type.Object({
    events: Type.Array(Event),
    next: nullable('integer', { description: 'Send it as `after` for the next page; null while there are no events' }),
    ...uncountedKeys,
  }),
  async run(ctx, { after, created, limit, page, query, person: who, action, subject, ...period }) {
    assertOnePlace(page, after === undefined ? undefined : String(after))
    const { db, actor } = ctx
    const filter = {
      person: who === undefined ? undefined : await personId(ctx, who),
      action,
      subject: subject === undefined ? undefined : asStored(subject),
      ...periodFrom(period),
    }
    const number = after === undefined ? (page ?? 1) : null
    const place = { after, created, limit: limit + 1, offset: ((number ?? 1) - 1) * limit }
    const hasText = textMatcher(query)
    const shown = (events: readonly NamedEvent[]) => readable(ctx, events)
    const found = await (hasText
      ? searchEvents(db, filter, place, { shown, matches: (event) => hasText(...namesOf(event)) })
      : shown(await listEvents(db, filter, place)))
    const rows = found.slice(0, limit)
    const page_info = uncountedInfo(
      rows.map(({ id }) => String(id)),
      { number, more: found.length > limit },
    )
    return { events: rows.map((row) => toEvent(actor, row)), next: rows.at(-1)?.id ?? after ?? null, page_info }
  },
})

export const eventId = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  fromText: true,
  description: 'Id of the event',
})

export const show = operation({
  id: 'events.show',
  summary: 'Show an event, and how many people were told of it',
  http: 'GET /events/:id 200',
  access: 'event:read',
  sensitive: true,
  errors: ['EVENT_NOT_FOUND'],
  input: fields({
    id: eventId,
  }),
  output: Type.Object({
    event: Event,
    told: Type.Union([Type.Object(counts), Type.Null()], {
      description: 'null if the post is deleted, or if the caller does not see it or how many voted for it',
    }),
  }),
  async run(ctx, { id }) {
    const { db, actor } = ctx
    const event = await eventOf(db, id)
    return { event: toEvent(actor, await readableEvent(ctx, event)), told: await toldOf(ctx, event) }
  },
})

/** Counts who was told of an event. Voters follow a post, so the count reveals votes: null where they are hidden. */
async function toldOf(ctx: Context, event: NamedEvent) {
  const postId = await postOf(ctx.db, event)
  if (postId === undefined) return countsOf([])
  const post = await visiblePost(ctx, postId).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'POST_NOT_FOUND') return undefined
    throw error
  })
  if (post === undefined || !(await votesSeen(ctx, [post])).has(post.postId)) return null
  const rows = await toldOfPost(ctx.db, postId, event.id)
  return countsOf(rows.filter((row) => mayKnow(ctx.actor, row)))
}

/** Throws EVENT_NOT_FOUND. */
export async function eventOf(db: Context['db'], id: number): Promise<NamedEvent> {
  const [event] = await listEvents(db, {}, { created: 'desc', after: id + 1, limit: 1 })
  if (event?.id !== id) throw new AppError('EVENT_NOT_FOUND', `There is no event ${id}.`)
  return event
}

/** The id of the post that an event is about, of which people may have been told. */
export async function postOf(db: Context['db'], { action, subject_id: id }: NamedEvent): Promise<string | undefined> {
  if (action === 'post.merged') return (await findMerge(db, id))?.rootId ?? id // which its followers are told of
  if (action.startsWith('post.')) return id
  return action.startsWith('comment.') ? (await findComment(db, id))?.post_id : undefined
}

/** The texts of an event that a search looks at. */
const namesOf = ({ action, name, ...people }: ReadableEvent) => [
  action,
  name,
  people.personUsername,
  people.personName,
  people.actorUsername,
  people.actorName,
  people.subjectFullName,
]

/** The id of a person, also of one whose account was deleted. */
async function personId(ctx: Context, who: string): Promise<string> {
  const user = await findPerson(ctx, who)
  if (user) return user.userId
  if (isId(who)) return asStored(who)
  throw new AppError('USER_NOT_FOUND', `User ${quoted(who)} not found. ${namingPeople(ctx.actor)}`)
}

export function toEvent(actor: Actor, event: ReadableEvent): Event {
  const { id, action, subject_id, name, person_id: personId, actor_id: actorId, origin, changes, ...rest } = event
  const operator = origin.startsWith('cli:') ? origin.slice('cli:'.length) : null
  return {
    id,
    action,
    subject_id,
    subject: name,
    user: rest.subjectName === null ? null : personOf(subject_id, rest.subjectFullName, rest.subjectName),
    person: personOf(personId, rest.personName, rest.personUsername),
    actor: personOf(actorId, rest.actorName, rest.actorUsername),
    via: operator === null ? 'http' : 'cli',
    operator,
    address: can(actor, 'user:read') ? rest.address : null,
    key_id: rest.key_id,
    created_at: rest.created_at,
    details: changes?.map(toDetail) ?? null,
    ...(isGone(event) && { subject_gone: true }),
  }
}

/** A failed sign-in to an address without an account has no subject. */
function isGone({ action, subject_id, subjectTitle, subjectName, roleName }: NamedEvent): boolean {
  const [noun = ''] = action.split('.')
  const present: Record<string, string | null> = { post: subjectTitle, user: subjectName, role: roleName }
  return isId(subject_id) && present[noun] === null
}

const toDetail = ({ field, before, after, names }: NamedChange) => ({
  field,
  before: asText(before),
  after: asText(after),
  ...(typeof names?.before === 'string' && { before_name: names.before }),
  ...(typeof names?.after === 'string' && { after_name: names.after }),
})

const asText = (value: FieldChange['before']): string | null => (value === null ? null : String(value))

/** A deleted account keeps its id in the log. */
const personOf = (userId: string | null, name: string | null, username: string | null) =>
  userId === null
    ? null
    : {
        userId,
        name: username === null ? DELETED_USER.name : (name ?? ''),
        username: username ?? DELETED_USER.username,
      }
