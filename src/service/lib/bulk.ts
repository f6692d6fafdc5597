import * as Type from 'typebox'
import { AppError, type ErrorCode } from '../../core/errors.js'
import { invalidField } from '../../core/fields.js'
import { newId } from '../../core/ids.js'
import { MERGE_REASONS } from '../../core/mergereasons.js'
import { lock } from '../../db/counters.js'
import { deleteExpiredUndos, insertUndo } from '../../db/undos.js'
import { change, type Change } from './change.js'
import type { Context } from './context.js'
import { listOf, nullable, oneOf } from './schemas.js'
import { votesHidden } from './voters.js'
import type { Snoozing } from './snoozing.js'

/** Things that one request may change. */
export const MOST_AT_ONCE = 100
/** How long a change can be undone, in milliseconds. */
export const UNDO_MS = 10 * 60_000

/** What changed, before and after: what takes it back. Stored as JSON for some minutes, so ids only. */
export type Undoable = Moved | Decided | Merged | Tagged | Snoozing

export interface Moved {
  type: 'moved'
  postId: string
  boardId?: Ends
  roadmapId?: Ends
}
type Ends = readonly [before: string | null, after: string | null]

export interface Merged {
  type: 'merged'
  postId: string
  /** When: it may have been taken back, and merged again. */
  at: string
}

export interface Tagged {
  type: 'tagged'
  postId: string
  added: readonly string[]
  removed: readonly string[]
}

export interface Decided {
  type: 'decided'
  kind: 'post' | 'comment'
  id: string
  wasSpam: boolean
  wasHeld?: boolean
  isSpam: boolean
  /** When it was decided: another time means that somebody has decided since. */
  decidedAt: string
  /** The decision before, if there was one. */
  review: Snoozing['review']
  /** The reports that it closed. */
  reports: readonly string[]
  /** The author, where it blocked that account, and `updatedAt` of it from then on. */
  blocked?: { userId: string; updatedAt: string }
  /** The roadmap, where the decision came with another. */
  moved?: Moved
}

export const idsField = (description: string, noun?: string) =>
  listOf({ minItems: 1, maxItems: MOST_AT_ONCE, description, ...(noun !== undefined && { names: noun }) })

export const EACH_TIME = 'a time for each of ids, in their order'

/** The versions of what changes. Use `assertForEach`, then `assertUnchanged` with each. */
export const ifEachUnchanged = (description: string) =>
  Type.Optional(
    Type.Array(Type.String(), {
      condition: true,
      rule: EACH_TIME,
      description,
    }),
  )

/** Throws a VALIDATION_ERROR for a list that has more or fewer than the ids it belongs to. */
export function assertForEach(
  field: string,
  rule: string,
  ids: readonly string[],
  given: readonly string[] | undefined,
): void {
  if (given === undefined || given.length === ids.length) return
  const message = `${field} must have ${rule}; it has ${given.length} for ${ids.length}.`
  throw invalidField({ code: 'UNKNOWN_CHOICE', message, field, rule, value: String(given.length) })
}

const failure = { code: Type.String(), message: Type.String() }
const failed = { description: 'Why it failed; otherwise absent' }

/** Why one of many things failed. */
export const outcomeError = Type.Optional(Type.Object(failure, failed))

/** Why a change of one post or comment failed. */
const PostError = Type.Object(
  {
    ...failure,
    reason: Type.Optional(
      oneOf(MERGE_REASONS, { description: 'Of MERGE_REFUSED: why the post is not merged; otherwise absent' }),
    ),
  },
  failed,
)
type PostError = Type.Static<typeof PostError>

const Outcome = Type.Object({
  given: Type.String({ description: 'What the request said' }),
  id: nullable('string', { description: 'Of the post or comment; null if it was not found' }),
  kind: nullable('string', { description: 'post or comment' }),
  number: nullable('integer', { description: 'Of the post' }),
  title: nullable('string', { description: 'Of the post' }),
  outcome: Type.Unsafe<'changed' | 'unchanged' | 'failed'>({
    type: 'string',
    enum: ['changed', 'unchanged', 'failed'],
  }),
  author: Type.Optional(
    Type.Unsafe<'blocked' | 'unblocked' | 'still-blocked'>({
      type: 'string',
      enum: ['blocked', 'unblocked', 'still-blocked'],
      description:
        'What became of its author; still-blocked where an undo left the account alone, as it was changed since; otherwise absent',
    }),
  ),
  lost: Type.Optional(
    Type.Object(
      {
        votes: Type.Integer({ description: 'How many voted; 0 where votes_hidden' }),
        votes_hidden: votesHidden,
        comments: Type.Integer(),
        text: Type.Optional(Type.String({ description: 'What a comment says, in Markdown; absent for a post' })),
      },
      { description: 'Where it is deleted: what goes with it; otherwise absent' },
    ),
  ),
  moved: Type.Optional(
    Type.Object(
      {
        votes: Type.Integer({
          description: 'How many people voted for it, also those who had voted for the other; 0 where votes_hidden',
        }),
        votes_hidden: votesHidden,
        comments: Type.Integer(),
      },
      { description: 'Where it is merged: what the other post takes over, each person counted once; otherwise absent' },
    ),
  ),
  error: Type.Optional(PostError),
})
export type Outcome = Type.Static<typeof Outcome>

/** The answer of a change of many things. */
export const bulkOutput = Type.Object({
  outcomes: Type.Array(Outcome, { description: 'One for each, in the order of the request' }),
  changed: Type.Integer(),
  failed: Type.Integer(),
  undo: Type.Union(
    [
      Type.Object({ undo_id: Type.String({ format: 'uuid' }), expires_at: Type.String({ format: 'date-time' }) }),
      Type.Null(),
    ],
    { description: 'Send the id to POST /undo/{undo_id} to take the change back; null where nothing changed' },
  ),
})
type BulkOutput = Type.Static<typeof bulkOutput>

/** What was done with one of them. */
export interface Done extends Pick<Outcome, 'id' | 'kind' | 'number' | 'title' | 'author' | 'lost' | 'moved'> {
  /** How to take it back: 'final' where that cannot be done, absent where nothing changed. */
  undo?: Undoable | 'final' | undefined
}

interface Many<Given> {
  name(this: void, given: Given): string
  work(this: void, tx: Change, given: Given): Promise<Done>
  /** What those that were changed need once, after the last of them. */
  end?(this: void, tx: Change, changed: readonly Given[]): Promise<void>
}

/**
 * Does the same with each, in one transaction. One that the contract refuses is an outcome, and the others are done:
 * so `work` throws an AppError only before it writes.
 */
export const changeMany = <Given>(
  ctx: Context,
  all: readonly Given[] | ((tx: Change) => Promise<readonly Given[]>),
  { name, work, end }: Many<Given>,
): Promise<BulkOutput> =>
  change(ctx, async (tx) => {
    await lock(tx.db, 'post_counts') // before any other write
    const outcomes: Outcome[] = []
    const undoable: Undoable[] = []
    const changed: Given[] = []
    for (const given of typeof all === 'function' ? await all(tx) : all) {
      const said = { given: name(given) }
      try {
        const { undo, id, kind, number, title, ...more } = await work(tx, given)
        if (undo && undo !== 'final') undoable.push(undo)
        if (undo) changed.push(given)
        outcomes.push({ ...said, id, kind, number, title, outcome: undo ? 'changed' : 'unchanged', ...more })
      } catch (error) {
        outcomes.push({ ...said, ...NOTHING, outcome: 'failed', error: refusalIn(error) })
      }
    }
    if (changed.length > 0) await end?.(tx, changed)
    const count = (wanted: Outcome['outcome']) => outcomes.filter(({ outcome }) => outcome === wanted).length
    const undo = undoable.length === 0 ? null : await keepUndo(tx, undoable)
    return { outcomes, changed: count('changed'), failed: count('failed'), undo }
  })

const NOTHING = { id: null, kind: null, number: null, title: null }

/** The refusal of one thing. Any other error ends the whole. */
export function refusalIn(error: unknown): PostError {
  if (!(error instanceof AppError) || error.status >= 500) throw error
  const reason = MERGE_REASONS.find((each) => each === error.reason)
  return { code: error.code, message: error.message, ...(reason && { reason }) }
}

/** The error that `refusalIn` made an outcome of. */
export const errorIn = ({ code, message, reason }: PostError): AppError =>
  new AppError(code as ErrorCode, message, { reason })

async function keepUndo(tx: Change, changes: readonly Undoable[]): Promise<BulkOutput['undo']> {
  const now = tx.now().getTime()
  const undo = { undoId: newId(), userId: tx.actor.userId, changes: JSON.stringify(changes), expiresAt: new Date(now + UNDO_MS).toISOString() } // prettier-ignore
  await deleteExpiredUndos(tx.db, new Date(now).toISOString())
  await insertUndo(tx.db, undo)
  return { undo_id: undo.undoId, expires_at: undo.expiresAt }
}

/** Each text once, in order. */
export const eachOnce = (given: readonly string[]): string[] => [...new Set(given.map((each) => each.trim()))]
