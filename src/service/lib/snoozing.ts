import * as Type from 'typebox'
import { changeOf } from '../../core/details.js'
import { AppError } from '../../core/errors.js'
import { invalidField } from '../../core/fields.js'
import { newId } from '../../core/ids.js'
import { quoted } from '../../core/text.js'
import {
  findReview,
  isReportedSince,
  openReportIds,
  restoreReview,
  snooze,
  wake,
  type Item,
} from '../../db/moderation.js'
import { NEVER } from '../../db/moderationqueue.js'
import type { Change } from './change.js'
import { hourOf } from './context.js'
import { ageMs, timeFrom } from './times.js'

const HOUR_MS = 60 * 60 * 1000
const MOST_MS = 365 * 24 * HOUR_MS
const RULE = 'a date or a time with its zone, or for how long, such as 12h, 1d or 2w; at most a year ahead'

export const untilField = Type.Optional(
  Type.String({ rule: RULE, description: 'With snooze: until when, or for how long; up to the next full hour' }),
)

/** When something waits again; null for at once, undefined where the decision is another. */
export function untilOf(now: Date, decision: string | undefined, given: string | undefined): string | null | undefined {
  const isSnooze = decision === 'snooze'
  if (isSnooze !== (given !== undefined)) {
    const rule = 'given with snooze, and only then'
    throw invalidField({
      code: 'UNKNOWN_CHOICE',
      message: `until must be ${rule}.`,
      field: 'until',
      rule,
      value: given,
    })
  }
  if (given === undefined) return decision === 'wake' ? null : undefined
  const text = given.trim()
  const ms = ageMs(text)
  const time = ms === undefined ? Date.parse(timeFrom('until', text, RULE) ?? '') : now.getTime() + ms
  if (!(time > now.getTime() && time <= now.getTime() + MOST_MS)) {
    const message = `until must be ${RULE}; ${quoted(text)} is not.`
    throw invalidField({ code: 'INVALID_TIME', message, field: 'until', rule: RULE, value: text.slice(0, 100) })
  }
  return new Date(Math.ceil(time / HOUR_MS) * HOUR_MS).toISOString()
}

/** A post or comment to snooze or wake. */
interface Snoozed {
  kind: 'post' | 'comment'
  id: string
  key: Item
  title: string
}

type Review = Awaited<ReturnType<typeof findReview>>

/** What takes a change of it back. */
export interface Snoozing {
  type: 'snoozed'
  kind: 'post' | 'comment'
  id: string
  review: Review | null
  /** Since the change. */
  until: string
  /** When it was changed. */
  at: string
}

const startOfHour = (tx: Change): string => hourOf(tx.now()).toISOString()

/** The end of the snooze if it is after this hour, or null. */
export const stillSnoozed = (review: Review | null, hour: string): string | null =>
  review?.snoozedUntil && review.snoozedUntil > hour ? review.snoozedUntil : null

function record(tx: Change, { kind, id, title }: Snoozed, before: string | null, after: string | null): void {
  const changes = [changeOf('snoozed_until', before, after)]
  tx.record(`${kind}.${after === null ? 'woken' : 'snoozed'}`, id, title, undefined, changes)
}

/** Whether it was decided, and nobody has edited or reported it since. */
export const isSettled = async (
  tx: Change,
  { key }: { key: Item },
  review: Review | null | undefined,
): Promise<boolean> =>
  review != null && review.decidedAt > NEVER && review.isOpen === 0 && (await openReportIds(tx.db, key, 1)).length === 0

/** Snoozes it, or wakes it with null. Undefined where nothing changes. */
export async function snoozeIn(tx: Change, item: Snoozed, until: string | null): Promise<Snoozing | undefined> {
  const [hour, review] = [startOfHour(tx), (await findReview(tx.db, item.key)) ?? null]
  const before = stillSnoozed(review, hour)
  if (before === until) return undefined
  if (until !== null && before === null && (await isSettled(tx, item, review)))
    throw new AppError('ALREADY_DECIDED', 'It is decided, and does not wait. Put it back in the queue first.')
  if (until === null) await wake(tx.db, item.key, hour)
  else await snooze(tx.db, item.key, { reviewId: newId(), snoozedUntil: until, snoozedBy: tx.actor.userId })
  record(tx, item, before, until)
  return { type: 'snoozed', kind: item.kind, id: item.id, review, until: until ?? hour, at: tx.now().toISOString() }
}

/** Whether it was undone: not where somebody has decided, snoozed or reported it since. */
export async function snoozeBack(tx: Change, item: Snoozed, { review, until, at }: Snoozing): Promise<boolean> {
  const [hour, present] = [startOfHour(tx), await findReview(tx.db, item.key)]
  const isSame = present?.snoozedUntil === until && present.decidedAt === (review?.decidedAt ?? NEVER) && present.isOpen === (review?.isOpen ?? 0) // prettier-ignore
  if (!isSame || (await isReportedSince(tx.db, item.key, at))) return false
  await restoreReview(tx.db, item.key, review)
  record(tx, item, stillSnoozed(present, hour), stillSnoozed(review, hour))
  return true
}

/** A report ends the snooze. */
export const wakeReported = (tx: Change, key: Item) => wake(tx.db, key, startOfHour(tx))
