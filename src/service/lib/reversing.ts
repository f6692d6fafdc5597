import { UNDOES, type FieldChange } from '../../core/details.js'
import type { Action } from '../../core/nouns.js'
import type { NamedEvent } from '../../db/events.js'
import type { Context } from './context.js'
import type { AnyOperation, Operation } from './operation.js'

/** A request that takes a change back, or a part of it. */
export interface Step {
  op: AnyOperation
  input: Record<string, unknown>
}

export const stepOf = <In, Out, Subject>(
  op: Operation<In, Out, Subject>,
  input: { [Field in keyof NoInfer<In>]?: unknown },
): Step => ({ op, input: { ...input } })

/** Why nothing takes a change back. */
export const FINAL = {
  created: 'An undo deletes nothing: delete what it created, if you want that.',
  deleted: 'What was deleted is gone, and the log has no copy of it. A backup has one.',
  text: 'It changed a text, and the log keeps no texts.',
  cut: 'A value was too long for the log, which has only its start.',
  unkept: 'The log does not keep what was there before.',
  decided: 'Spam, held posts and reports are decided about again in the queue: see "feedbackctl moderate".',
  happened: 'It records what happened, which no change takes back.',
  own: 'Only that person can take it back.',
} as const
export type Final = keyof typeof FINAL

/** An event, with its changes. */
export interface Undone extends Pick<NamedEvent, 'id' | 'action' | 'subject_id' | 'person_id'> {
  details: readonly FieldChange[]
}

/** How a change is taken back. */
export interface Reversal {
  steps: readonly Step[]
  /** The later events that may contradict. */
  rivals: {
    actions: readonly Action[]
    /** About any row, and not this one alone. */
    ofAll?: boolean
    person?: string
    /** One of these has to be among their changes. */
    fields?: readonly string[]
  }
  /** Whether everything is as the event left it. Absent: unless there is a rival. */
  stands?(this: void): Promise<boolean>
  /** Whether everything is as it was before the event, after the steps. */
  isBack?(this: void): Promise<boolean>
}

/** How events of an action are taken back. Called in a transaction. */
export type Reversing = (ctx: Context, event: Undone) => Promise<Reversal | Final>

/** Fields of events that say how a change was made. */
const NOTES = ['quiet', 'update', UNDOES]

/** What an event changed, without how. */
export const changesIn = (details: readonly FieldChange[]): FieldChange[] =>
  details.filter(({ field }) => !NOTES.includes(field))
