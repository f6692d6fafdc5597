import { AppError } from '../../core/errors.js'
import { HELD, SHOWN } from '../../core/hidden.js'
import type { MergeReason } from '../../core/mergereasons.js'
import type { Actor } from './access.js'
import { hidesPosts } from './postshapes.js'

/** What of a post decides whether it can be merged, whatever it is merged into. */
export interface Merging {
  number: number
  /** `is_spam` of the post. */
  hidden: number
  /** Whether it has open reports. */
  isReported: boolean
  /** Whether it is held, and has comments or internal notes. */
  isCommented: boolean
}

/** What is to be decided about a post before anybody merges it. Undefined where it can be merged. */
export function refusalToMerge(actor: Actor, { number, hidden, isReported, isCommented }: Merging) {
  if (hidden !== SHOWN && !(hidden === HELD && hidesPosts(actor, undefined) === undefined))
    return mergeRefused('merge-hidden', `Post #${number} is hidden or waits for a look. Publish it first.`)
  // What is said of a held post is not for those who read the other one
  if (isCommented)
    return mergeRefused('merge-commented', `Post #${number} waits for a look, and has comments or internal notes, which would move to the other post. Publish it first.`) // prettier-ignore
  return isReported
    ? mergeRefused('merge-reported', `Post #${number} has open reports. Decide on them first.`)
    : undefined
}

export const mergeRefused = (reason: MergeReason, message: string) => new AppError('MERGE_REFUSED', message, { reason })
