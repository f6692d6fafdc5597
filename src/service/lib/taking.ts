import { AppError } from '../../core/errors.js'
import { boardsWithIds } from '../../db/boards.js'
import type { PostView } from '../../db/posts/row.js'
import type { Db } from '../../db/tables.js'
import { can, notAllowed, type Actor } from './access.js'
import { shownBy } from './voters.js'

/** What a post, or its board, takes no more. Whoever may lock a post is not bound by that, but by an archive. */

type Judged = Pick<PostView, 'archived' | 'locked' | 'number'>

/** Throws BOARD_ARCHIVED or POST_LOCKED where a post takes no new comments, or no votes. */
export function assertTakes(actor: Actor, what: 'comments' | 'votes', { archived, locked, number }: Judged): void {
  if (archived === 1) throw boardArchived()
  if ((locked === what || locked === 'all') && !can(actor, 'post:update'))
    throw new AppError('POST_LOCKED', `Post #${number} is locked: it takes no ${what} any more.`)
}

export const boardArchived = () => new AppError('BOARD_ARCHIVED', 'The board is archived: it can only be read.')

/** Throws where a new post may not be on a board. */
export async function assertTakesPosts({ db, actor }: { db: Db; actor: Actor }, boardId: string | null): Promise<void> {
  if (boardId === null) return
  const [board] = await boardsWithIds(db, [boardId])
  if (board?.archived === 1) throw boardArchived()
  if (board?.posting === 'team' && !can(actor, 'post:update')) throw notAllowed(['post:update'])
}

/** Throws where an author may not move a post to another board, or to none: others would see votes that are hidden now. */
export async function assertMoves(tx: { db: Db; actor: Actor }, post: PostView, boardId: string | null): Promise<void> {
  await assertTakesPosts(tx, boardId)
  const [board] = boardId === null ? [] : await boardsWithIds(tx.db, [boardId])
  const { view_voters = null, hides_votes = null } = board ?? {}
  const shown = shownBy(post, { boardId, view_voters, hides_votes, hidesVoters: post.hidesVoters })
  if (shown !== undefined)
    throw new AppError(
      'NOT_ENOUGH_PERMISSION',
      `The ${shown} of post #${post.number} are hidden, and everybody would see them there, so to move it needs the permission post:update. Ask the team to move it.`,
    )
}
