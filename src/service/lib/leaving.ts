import { partFromPostsOf } from '../../db/merges.js'
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
  if (posts === 'delete') for (const id of await partFromPostsOf(db, user.userId)) record('post.unmerged', id)
  const gone = posts === 'delete' ? await deleteContentOf(db, user.userId) : { posts: [], comments: [] }
  if (!(await deleteUser(db, user))) throw userNotFound()
  for (const id of gone.comments) record('comment.deleted', id)
  for (const id of gone.posts) record('post.deleted', id) // without its title, which the person wrote
  record('user.deleted', user.userId)
}
