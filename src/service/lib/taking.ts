import type { Lock, Posting } from '../../core/boardrules.js'
import { AppError } from '../../core/errors.js'
import { boardsWithIds } from '../../db/boards.js'
import type { PostView } from '../../db/posts/row.js'
import type { Db } from '../../db/tables.js'
import { canNow, notAllowed, type Actor } from './access.js'
import { shownBy } from './voters.js'

/** What decides what a post takes, with its board. */
export type Taking = Pick<PostView, 'archived' | 'locked' | 'number'>

/**
 * Why the actor cannot comment on a post, or vote for it. An archived board is closed to everyone, a locked post to
 * everyone who may not lock posts. Pages hide the form.
 */
export function closedTo(
  actor: Actor,
  what: 'comments' | 'votes',
  { isArchived, locked = 'none' }: { isArchived: boolean; locked?: Lock | undefined },
): 'archive' | 'lock' | undefined {
  if (isArchived) return 'archive'
  return (locked === what || locked === 'all') && !canNow(actor, 'post:update') ? 'lock' : undefined
}

/** BOARD_ARCHIVED or POST_LOCKED where a post takes no comments, or no votes. */
export function refusalToTake(
  actor: Actor,
  what: 'comments' | 'votes',
  { archived, locked, number }: Taking,
): AppError | undefined {
  const closed = closedTo(actor, what, { isArchived: archived === 1, locked })
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

/** Why the actor cannot create a post on a board. Pages do not offer such a board. */
export function refusalToPost(
  actor: Actor,
  { isArchived, posting }: { isArchived: boolean; posting: Posting | undefined },
): AppError | undefined {
  if (isArchived) return boardArchived()
  return posting === 'team' && !canNow(actor, 'post:update') ? notAllowed(['post:update']) : undefined
}

/** Throws where a new post may not be on a board. */
export async function assertTakesPosts({ db, actor }: { db: Db; actor: Actor }, boardId: string | null): Promise<void> {
  if (boardId === null) return
  const [board] = await boardsWithIds(db, [boardId])
  const refused = board && refusalToPost(actor, { isArchived: board.archived === 1, posting: board.posting })
  if (refused) throw refused
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
