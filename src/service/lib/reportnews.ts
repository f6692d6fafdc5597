import { HELD, SPAM } from '../../core/hidden.js'
import type { Permission } from '../../core/permissions.js'
import { findComment } from '../../db/comments.js'
import { findPost, type PostView } from '../../db/posts/row.js'
import type { Db, EventRow } from '../../db/tables.js'

/** What waits for a decision: a post or a comment that was reported, or is held. */
interface Waiting {
  post: PostView
  commentId: string | null
  /** Who reported it, or wrote what is held. */
  by: string | null
  /** What those must be permitted who are told: to read it, and to decide about it. */
  needs: readonly Permission[]
}

/** Undefined where an event leaves nothing to decide, also as somebody has hidden it meanwhile. */
export async function waitingOf(
  db: Db,
  event: Pick<EventRow, 'subject_id' | 'actor_id'> & { action: string },
): Promise<Waiting | undefined> {
  const [noun, verb] = event.action.split('.')
  if (verb !== 'reported' && verb !== 'created') return undefined
  const comment = noun === 'comment' ? await findComment(db, event.subject_id) : undefined
  const postId = noun === 'post' ? event.subject_id : comment?.post_id
  const post = postId === undefined ? undefined : await findPost(db, postId)
  if (!post) return undefined
  const [hidden, author] = comment ? [comment.is_spam, comment.author_id] : [post.is_spam, post.userId]
  if (hidden === SPAM || post.is_spam === SPAM || (verb === 'created' && hidden !== HELD)) return undefined
  return {
    post,
    commentId: comment?.id ?? null,
    by: verb === 'reported' ? event.actor_id : author,
    needs: [
      'dashboard:read',
      comment ? 'comment:update:any' : 'post:destroy',
      ...(post.display === 1 ? [] : (['board:read'] as const)),
      ...(comment?.is_internal === 1 ? (['comment:view_internal'] as const) : []),
    ],
  }
}
