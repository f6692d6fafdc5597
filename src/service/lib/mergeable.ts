import { AppError } from '../../core/errors.js'
import { HELD, SHOWN } from '../../core/hidden.js'
import type { MergeReason } from '../../core/mergereasons.js'
import { commentedAmong } from '../../db/comments.js'
import { reportedAmong } from '../../db/reports.js'
import type { PostView } from '../../db/posts/row.js'
import { can, type Actor } from './access.js'
import type { CachedContext } from './context.js'
import { needs } from './policies.js'

/** Whether somebody may hide posts as spam, and publish held ones. */
export const hidesPosts = needs('post:destroy')

/** What of a post decides whether it can be merged, whatever it is merged into. */
export interface Merging extends Pick<PostView, 'number' | 'is_spam'> {
  /** Whether it has open reports. */
  isReported: boolean
  /** Whether it is held, and has comments or internal notes. */
  isCommented: boolean
}

/** Posts that the team has to decide something about before a merge. */
export interface Undecided {
  reported: ReadonlySet<string>
  /** Held ones that have comments or internal notes. */
  commented: ReadonlySet<string>
}

const NONE: Undecided = { reported: new Set(), commented: new Set() }

/** Read only for who may merge: nobody else is told of reports. */
export async function undecidedAmong({ db, actor }: CachedContext, posts: readonly PostView[]): Promise<Undecided> {
  if (!can(actor, 'post:update')) return NONE
  const ids = (some: readonly PostView[]) => some.map(({ postId }) => postId)
  return {
    reported: new Set(await reportedAmong(db, ids(posts))),
    commented: new Set(await commentedAmong(db, ids(posts.filter(({ is_spam: hidden }) => hidden === HELD)))),
  }
}

/** What of a post decides whether it can be merged, once `undecidedAmong` is read. */
export const mergingOf = (post: PostView, { reported, commented }: Undecided): Merging => ({
  number: post.number,
  is_spam: post.is_spam,
  isReported: reported.has(post.postId),
  isCommented: commented.has(post.postId),
})

/** What is to be decided about a post before anybody merges it. Undefined where it can be merged. */
export function refusalToMerge(actor: Actor, { number, is_spam: hidden, isReported, isCommented }: Merging) {
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
