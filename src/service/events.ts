import * as Type from 'typebox'
import { listEvents, type NamedEvent } from '../db/events.js'
import { operation } from './lib/operation.js'
import { fields, nullable, oneOf } from './lib/schemas.js'
import { DELETED_USER } from './lib/people.js'

const person = (description: string) =>
  Type.Union([Type.Object({ userId: Type.String(), username: Type.String() }), Type.Null()], { description })

const Event = Type.Object({
  id: Type.Integer({ description: 'Grows in commit order' }),
  action: Type.String({ description: 'What happened, such as post.created' }),
  subject_id: Type.String({ description: 'Id of the row' }),
  subject: nullable('string', {
    description: 'Name of the row at that time; present name for people, and for posts in events of votes',
  }),
  person: person('The other person concerned: who got a role, or whose vote was cast'),
  actor: person('Who did it; null for visitors and at the command line'),
  via: oneOf(['cli', 'http']),
  operator: nullable('string', { description: 'The login name at the command line' }),
  created_at: Type.String({ format: 'date-time' }),
})

export type Event = Type.Static<typeof Event>

export const list = operation({
  id: 'events.list',
  summary: 'List changes and who made them; polling with `after` misses none',
  http: 'GET /events 200',
  access: 'owner',
  errors: [],
  input: fields({
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'The id of the event that the page comes after',
      }),
    ),
    created: oneOf(['asc', 'desc'], {
      default: 'asc',
      anyCase: true,
      description: 'Oldest or newest first, in any letter case',
    }),
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 10, description: 'Events on a page' }),
  }),
  output: Type.Object({
    events: Type.Array(Event),
    next: nullable('integer', { description: 'Give it as `after` for the next page; null while there are no events' }),
  }),
  async run({ db }, { after, created, limit }) {
    const rows = await listEvents(db, { after, created, limit })
    return { events: rows.map(toEvent), next: rows.at(-1)?.id ?? after ?? null }
  },
})

function toEvent({
  id,
  action,
  subject_id,
  subject,
  person_id: personId,
  actor_id: actorId,
  origin,
  created_at,
  ...names
}: NamedEvent): Event {
  const operator = origin.startsWith('cli:') ? origin.slice('cli:'.length) : null
  return {
    id,
    action,
    subject_id,
    subject: subject ?? names.subjectName ?? names.subjectTitle,
    person: personOf(personId, names.personName),
    actor: personOf(actorId, names.actorName),
    via: operator === null ? 'http' : 'cli',
    operator,
    created_at,
  }
}

const personOf = (userId: string | null, username: string | null) =>
  userId === null ? null : { userId, username: username ?? DELETED_USER.username }
