import type { FieldChange } from '../../core/details.js'
import { NOUNS } from '../../core/nouns.js'
import type { NamedEvent } from '../../db/events.js'
import { boardsWithIds } from '../../db/boards.js'
import { PARTLY_PRIVATE, publicNames, type PartlyPrivate } from '../../db/eventsubjects.js'
import { roadmapsWithIds } from '../../db/roadmaps.js'
import { can, type Actor } from './access.js'
import type { Context } from './context.js'
import { VIEWERS } from './views.js'

/** An event with the names that its reader may know. */
export interface ReadableEvent extends NamedEvent {
  name: string | null
  changes: NamedChange[] | null
}

/** Where the values are ids of rows, their present names, as far as the reader may know them. */
export interface NamedChange extends FieldChange {
  names?: Readonly<Record<'before' | 'after', string | null>>
}

/** Fields that name a row, of nouns with private rows. */
const NAMES = ['title', 'name', 'url']

const nounOf = ({ action }: NamedEvent): string => action.split('.')[0] ?? ''
const readsAll = (actor: Actor, noun: PartlyPrivate): boolean => can(actor, NOUNS[noun].read)

type Known = ReadonlyMap<string, string>
type Reader = Pick<Context, 'db' | 'actor'>

/** The events as the actor may read them. */
export async function readable(ctx: Reader, events: readonly NamedEvent[]): Promise<ReadableEvent[]> {
  const known = await knownOf(ctx, events)
  return withPlaces(ctx, events.map((event) => readableWith(ctx.actor, event, known.get(nounOf(event))))) // prettier-ignore
}

export const readableEvent = async (ctx: Reader, event: NamedEvent): Promise<ReadableEvent> =>
  (await readable(ctx, [event]))[0] as ReadableEvent // one for one

/** The fields of posts whose values are ids. */
const PLACES: Readonly<Record<string, 'board' | 'roadmap'>> = { boardId: 'board', roadmap_id: 'roadmap' }

/** With the names of the boards and roadmaps that posts were moved between. */
async function withPlaces({ db, actor }: Reader, events: ReadableEvent[]): Promise<ReadableEvent[]> {
  const idsOf = (place: 'board' | 'roadmap') => [
    ...new Set(
      events.flatMap(({ changes }) =>
        (changes ?? []).flatMap(({ field, before, after }) =>
          PLACES[field] === place ? [before, after].filter((id) => typeof id === 'string') : [],
        ),
      ),
    ),
  ]
  const [boards, roadmaps] = [await boardsWithIds(db, idsOf('board')), await roadmapsWithIds(db, idsOf('roadmap'))]
  const names = new Map([
    ...boards.filter(({ display }) => display === 1 || readsAll(actor, 'board')).map(({ boardId, name }) => [boardId, name] as const), // prettier-ignore
    ...roadmaps.filter(({ display }) => display === 1 || readsAll(actor, 'roadmap')).map(({ id, name }) => [id, name] as const), // prettier-ignore
  ])
  const nameOf = (id: FieldChange['before']) => (id === null ? null : (names.get(String(id)) ?? null))
  return events.map((event) => ({
    ...event,
    changes:
      event.changes?.map((change) =>
        PLACES[change.field]
          ? { ...change, names: { before: nameOf(change.before), after: nameOf(change.after) } }
          : change,
      ) ?? null,
  }))
}

/** The names of public rows, for each noun of which the actor may not read all. */
async function knownOf({ db, actor }: Reader, events: readonly NamedEvent[]): Promise<ReadonlyMap<string, Known>> {
  const known = new Map<string, Known>()
  for (const noun of PARTLY_PRIVATE) {
    if (readsAll(actor, noun)) continue
    const ids = events.filter((event) => nounOf(event) === noun).map(({ subject_id: id }) => id)
    known.set(noun, await publicNames(db, noun, [...new Set(ids)]))
  }
  return known
}

/** A public row gets its present name alone: an earlier one may be from when it was private. */
const readableWith = (actor: Actor, event: NamedEvent, known: Known | undefined): ReadableEvent => ({
  ...event,
  name: nameOf(actor, event, known),
  changes: changesOf(actor, event, known),
})

function nameOf(actor: Actor, event: NamedEvent, known: Known | undefined): string | null {
  if (known) return known.get(event.subject_id) ?? null
  if (nounOf(event) === 'view' && !can(actor, VIEWERS)) return null
  return event.subject ?? event.subjectName ?? event.subjectTitle
}

function changesOf(actor: Actor, { action, details }: NamedEvent, known: Known | undefined): FieldChange[] | null {
  if (details === null) return null
  const changes = JSON.parse(details) as FieldChange[]
  const namesTags = !readsAll(actor, 'tag') && (action === 'post.tagged' || action === 'tag.merged')
  if (!known && !namesTags) return changes
  const left = namesTags ? [] : changes.filter(({ field }) => !NAMES.includes(field))
  return left.length > 0 ? left : null
}

/** Those of the rows that the actor may read. */
export async function readableRows<Row extends { id: string }>(
  { db, actor }: Reader,
  noun: PartlyPrivate,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  if (readsAll(actor, noun)) return rows
  const known = await publicNames(db, noun, rows.map(({ id }) => id)) // prettier-ignore
  return rows.filter(({ id }) => known.has(id))
}
