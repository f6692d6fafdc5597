import * as Type from 'typebox'
import { AppError } from '../../core/errors.js'
import { SHOWN, SPAM, type Hidden } from '../../core/hidden.js'
import { lock } from '../../db/counters.js'
import { findReview, type Item } from '../../db/moderation.js'
import type { Change } from './change.js'
import { hourOf } from './context.js'
import { isSettled, stillSnoozed } from './snoozing.js'

/** Keeps a decision from replacing that of somebody else, who saw the same list. */
export const ifWaiting = Type.Optional(
  Type.Boolean({
    description: 'Refuse what is decided or snoozed by now, with ALREADY_DECIDED; the same decision again is no error',
  }),
)

/** Throws if somebody has decided about it in another way, or has snoozed it. */
export async function assertWaiting(
  tx: Change,
  find: () => Promise<{ key: Item; hidden: Hidden }>,
  decision: string,
  block: boolean,
): Promise<void> {
  await lock(tx.db, 'post_counts') // nobody decides until this transaction ends
  const { key, hidden } = await find()
  const review = await findReview(tx.db, key)
  if (!review) return
  const isSnoozed = decision !== 'wake' && stillSnoozed(review, hourOf(tx.now()).toISOString()) !== null
  if (!isSnoozed && !(await isSettled(tx, { key }, review))) return
  const wanted = decision === 'keep' ? SHOWN : decision === 'spam' ? SPAM : undefined
  if (!isSnoozed && !block && hidden === wanted) return
  const message = 'It was decided or snoozed meanwhile. Look at what it became, and decide again.'
  throw new AppError('ALREADY_DECIDED', message)
}
