import { eraseFromRuns } from '../../db/importruns.js'
import { partFromPostsOf } from '../../db/merges.js'
import { indexAgain } from '../../db/search.js'
import type { UserRow } from '../../db/tables.js'
import { deleteContentOf, deleteUser } from '../../db/users.js'
import type { Change } from './change.js'
import { userNotFound } from './people.js'

/** What can happen to posts and comments when their author goes. */
export const WHAT_STAYS = ['keep', 'delete'] as const

/** Deletes an account with its votes, sessions and keys. Call it after `lock(db, 'post_counts')`. */
export async function deletePerson(
  { db, record }: Pick<Change, 'db' | 'record'>,
  user: Pick<UserRow, 'userId' | 'email'>,
  posts: (typeof WHAT_STAYS)[number],
): Promise<void> {
  const isAll = posts === 'delete'
  const { parted, losing } = isAll ? await partFromPostsOf(db, user.userId) : { parted: [], losing: [] }
  const gone = isAll ? await deleteContentOf(db, user.userId) : { posts: [], comments: [] }
  await indexAgain(db, losing)
  if (!(await deleteUser(db, user))) throw userNotFound()
  await eraseFromRuns(db, user.email)
  for (const id of parted) record('post.unmerged', id)
  for (const id of gone.comments) record('comment.deleted', id)
  for (const id of gone.posts) record('post.deleted', id) // without its title, which the person wrote
  record('user.deleted', user.userId)
}
