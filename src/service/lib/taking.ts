import { AppError } from '../../core/errors.js'
import { boardsWithIds } from '../../db/boards.js'
import type { PostView } from '../../db/posts/row.js'
import type { Db } from '../../db/tables.js'
import { can, notAllowed, type Actor } from './access.js'

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
