import { compiled } from './cache/compiled.js'
import type { Db } from './tables.js'

/** Reports by a user about a post and its comments. */
export const reportsOf = (
  db: Db,
  { userId, postId }: { userId: string; postId: string },
): Promise<{ postId: string | null; commentId: string | null; isOpen: number }[]> =>
  compiled(
    db,
    'reportsOf',
    { userId, postId },
    (given) =>
      db
        .selectFrom('reports')
        .leftJoin('comments', 'comments.id', 'reports.commentId')
        .select(['reports.postId', 'reports.commentId', 'reports.isOpen'])
        .where('reports.userId', '=', given.userId)
        .where((eb) => eb.or([eb('reports.postId', '=', given.postId), eb('comments.post_id', '=', given.postId)])),
    { reports: [userId], comments: [postId] },
  )

/** Returns which of these posts have open reports. */
export async function reportedAmong(db: Db, postIds: readonly string[]): Promise<string[]> {
  if (postIds.length === 0) return []
  const rows = await compiled(db, 'reportedAmong', { postIds }, (given) =>
    db.selectFrom('reports').select('postId').distinct().where('postId', 'in', given.postIds).where('isOpen', '=', 1),
  )
  return rows.flatMap(({ postId }) => postId ?? [])
}
