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

/** Whether a post has open reports. */
export async function isReported(db: Db, postId: string): Promise<boolean> {
  const open = db.selectFrom('reports').select('reportId').where('postId', '=', postId).where('isOpen', '=', 1)
  return (await open.limit(1).executeTakeFirst()) !== undefined
}
