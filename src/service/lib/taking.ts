import { closedBy } from '../../core/boardrules.js'
import { AppError } from '../../core/errors.js'
import { boardsWithIds } from '../../db/boards.js'
import type { PostView } from '../../db/posts/row.js'
import type { Db } from '../../db/tables.js'
import { can, notAllowed, type Actor } from './access.js'
import { shownBy } from './voters.js'

/** What decides what a post takes, with its board. */
export type Taking = Pick<PostView, 'archived' | 'locked' | 'number'>

/** BOARD_ARCHIVED or POST_LOCKED where a post takes no comments, or no votes. */
export function refusalToTake(
  actor: Actor,
  what: 'comments' | 'votes',
  { archived, locked, number }: Taking,
): AppError | undefined {
  const closed = closedBy(what, { isArchived: archived === 1, locked }, can(actor, 'post:update'))
  if (closed === undefined) return undefined
  return closed === 'archive'
    ? boardArchived()
    : new AppError('POST_LOCKED', `Post #${number} is locked: it takes no ${what} any more.`)
}

/** BOARD_ARCHIVED where what an author wrote stays as it is. */
export const refusalToChange = ({ archived }: Pick<Taking, 'archived'>): AppError | undefined =>
  archived === 1 ? boardArchived() : undefined

export function assertTakes(actor: Actor, what: 'comments' | 'votes', post: Taking): void {
  const refusal = refusalToTake(actor, what, post)
  if (refusal) throw refusal
}

const boardArchived = () => new AppError('BOARD_ARCHIVED', 'The board is archived: it can only be read.')

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
