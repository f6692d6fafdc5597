import * as Type from 'typebox'
import { UNDOES, type FieldChange } from '../core/details.js'
import { AppError } from '../core/errors.js'
import type { Action } from '../core/nouns.js'
import { lock } from '../db/counters.js'
import { listEvents, type NamedEvent } from '../db/events.js'
import { Event, eventId, eventOf, toEvent } from './events.js'
import { assertAllowed } from './lib/access.js'
import { bulkOutput, errorIn } from './lib/bulk.js'
import { together } from './lib/change.js'
import type { Context } from './lib/context.js'
import { readableEvent } from './lib/eventnames.js'
import { execute, operation } from './lib/operation.js'
import { FINAL, type Final, type Reversal, type Step, type Undone } from './lib/reversing.js'
import { fields } from './lib/schemas.js'
import { finalOf, reversalOf } from './reversals.js'

export const undo = operation({
  id: 'events.undo',
  summary:
    'Take back what an event changed, if nothing newer contradicts; needs event:read, and what the opposite change needs',
  http: 'POST /events/:id/undo 200',
  access: 'event:read',
  limit: 'edits',
  changesOwnRights: true,
  sensitive: true,
  errors: [
    'EVENT_NOT_FOUND',
    'UNDO_REFUSED',
    'CONTENT_CHANGED',
    'POST_NOT_FOUND',
    'COMMENT_NOT_FOUND',
    'BOARD_NOT_FOUND',
    'ROADMAP_NOT_FOUND',
    'TAG_NOT_FOUND',
    'ROLE_NOT_FOUND',
    'USER_NOT_FOUND',
    'BOARD_URL_EXISTS',
    'ROADMAP_URL_EXISTS',
    'TAG_URL_EXISTS',
    'POST_TAG_LIMIT',
    'POST_MERGED',
    'MERGE_REFUSED',
    'LABS_DISABLED',
    'COMMENT_CANNOT_ANSWER',
    'CANNOT_UPDATE_SYSTEM_ROLE',
    'CANNOT_CHANGE_OWNER',
    'UNAUTHORIZED_NOT_AUTHOR',
  ],
  input: fields({ id: eventId }),
  output: Type.Object({
    event: Event,
    undone_by: Type.Array(Type.Integer(), { description: 'The events that took it back; none after a dry run' }),
  }),
  async run(ctx, { id }) {
    const found = await eventOf(ctx.db, id)
    const event: Undone = {
      ...found,
      details: found.details === null ? [] : (JSON.parse(found.details) as FieldChange[]),
    }
    const final = finalOf(event)
    if (final) throw refused(event, final)
    const { limits: _, recorded, ...quiet } = ctx
    const own: Context = { ...quiet, dryRun: false, undoes: id }
    await together(own, { looks: false, takenBack: ctx.dryRun }, (inside) => takeBack(inside, event))
    if (!ctx.dryRun) recorded?.()
    const made = ctx.dryRun ? [] : await undoesOf(ctx, event)
    return { event: toEvent(ctx.actor, await readableEvent(ctx, found)), undone_by: made.map((each) => each.id) }
  },
})

/** An event that can be taken back, as far as it alone says. */
export const isUndoable = ({ action, details }: Pick<Event, 'action' | 'details'>): boolean =>
  finalOf({ action, details: details ?? [] }) === undefined

const refused = ({ id, action }: Undone, final: Final) =>
  new AppError('UNDO_REFUSED', `Event ${id} (${action}) cannot be undone. ${FINAL[final]}`)

async function takeBack(ctx: Context, event: Undone): Promise<void> {
  await lock(ctx.db, 'post_counts') // before any other write
  const reversal = await reversalOf(ctx, event)
  if (typeof reversal === 'string') throw refused(event, reversal)
  const { steps, stands, isBack } = reversal
  const gone = await deletionOf(ctx, event)
  if (gone) throw contradiction(gone, event)
  for (const { op, input } of steps) {
    await op.subject?.(ctx, input)
    assertAllowed(op.access, ctx.actor)
  }
  const rival = await rivalOf(ctx, event, reversal)
  if (stands ? !(await stands()) : rival) throw contradiction(rival, event)
  for (const step of steps) await take(ctx, step)
  if (isBack && !(await isBack())) throw new AppError('UNDO_REFUSED', `Event ${event.id} (${event.action}) cannot be undone: the site would not be as it was before it. Change it by hand.`) // prettier-ignore
}

/** Of a change of many things, the first fails with its own error. */
async function take(ctx: Context, { op, input }: Step): Promise<void> {
  const { changesOwnRights: _, ...same } = op // that of the undo is enough
  const answer = await execute(same, ctx, input)
  if (op.output !== bulkOutput) return
  const [outcome] = (answer as Type.Static<typeof bulkOutput>).outcomes
  if (outcome?.error) throw errorIn(outcome.error)
}

/** Events about a row that are read to find one that contradicts. */
const MOST = 200

const newest = async (
  { db }: Context,
  { id }: Undone,
  filter: Parameters<typeof listEvents>[1],
): Promise<NamedEvent[]> =>
  (await listEvents(db, filter, { created: 'desc', after: undefined, limit: MOST })).filter((each) => each.id > id)

/** The event that deleted the row. */
async function deletionOf(ctx: Context, event: Undone): Promise<NamedEvent | undefined> {
  const [noun] = event.action.split('.')
  const [found] = await newest(ctx, event, { subject: event.subject_id, action: `${noun}.deleted` })
  return found
}

/** The newest event that contradicts. */
async function rivalOf(ctx: Context, event: Undone, { rivals }: Reversal): Promise<NamedEvent | undefined> {
  const { actions, ofAll = false, person, fields: touched } = rivals
  const found: NamedEvent[] = []
  for (const action of actions satisfies readonly Action[]) {
    const filter = { action, ...(!ofAll && { subject: event.subject_id }), ...(person !== undefined && { person }) }
    found.push(...(await newest(ctx, event, filter)))
  }
  return found
    .filter((each) => person === undefined || each.person_id === person)
    .filter((each) => touched === undefined || detailsOf(each).some(({ field }) => touched.includes(field)))
    .toSorted((one, other) => other.id - one.id)[0]
}

const detailsOf = ({ details }: NamedEvent): FieldChange[] =>
  details === null ? [] : (JSON.parse(details) as FieldChange[])
const undoes = (each: NamedEvent, { id }: Undone): boolean =>
  detailsOf(each).some(({ field, after }) => field === UNDOES && after === id)

/** The events of an undo that is over. */
const undoesOf = async (ctx: Context, event: Undone): Promise<NamedEvent[]> =>
  (await newest(ctx, event, { subject: event.subject_id })).filter((each) => undoes(each, event)).toReversed()

function contradiction(rival: NamedEvent | undefined, event: Undone): AppError {
  const nothing = 'Nothing was undone.'
  if (!rival)
    return new AppError('CONTENT_CHANGED', `It is not as event ${event.id} (${event.action}) left it, and no event says why. ${nothing}`) // prettier-ignore
  const { id, action, actorUsername, origin, created_at: at } = rival
  const who = actorUsername ?? (origin === 'http' ? 'a visitor' : origin)
  const said = `event ${id} (${action} by ${who}, ${at})`
  return new AppError(
    'CONTENT_CHANGED',
    undoes(rival, event)
      ? `Event ${event.id} was undone already: ${said}. ${nothing}`
      : `Event ${event.id} (${event.action}) is contradicted by a newer one: ${said}. ${nothing}`,
  )
}
