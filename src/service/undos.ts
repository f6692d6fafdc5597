import { AppError } from '../core/errors.js'
import { HELD, SHOWN, SPAM } from '../core/hidden.js'
import { asStored, isId } from '../core/ids.js'
import { quoted } from '../core/text.js'
import { findBoard } from '../db/boards.js'
import { lockComment } from '../db/comments.js'
import { findMerge } from '../db/merges.js'
import { findReview, isReportedSince, reopenReports, restoreReview } from '../db/moderation.js'
import { dropStatusNews } from '../db/notifications.js'
import { findPost } from '../db/posts/row.js'
import { deleteUndo, lockUndo } from '../db/undos.js'
import { lockUser } from '../db/users.js'
import { can } from './lib/access.js'
import { blockIn } from './lib/blocking.js'
import {
  bulkOutput,
  changeMany,
  type Decided,
  type Done,
  type Merged,
  type Moved,
  type Undoable,
  UNDO_MS,
} from './lib/bulk.js'
import type { Change } from './lib/change.js'
import { operation } from './lib/operation.js'
import { roadmapIdAfter } from './lib/postplaces.js'
import { fields, inPath } from './lib/schemas.js'
import { snoozeBack } from './lib/snoozing.js'
import { unmergeIn } from './merges.js'
import { setHidden, shownChange, subjectOf, subjectOfPost, subjectToDecide, type Subject } from './moderation.js'
import { updateIn } from './posts.js'
import { retagBack } from './posttags.js'
import { postItself } from './lib/whichpost.js'

export const apply = operation({
  id: 'undo.apply',
  summary: 'Undo what one request changed, within ten minutes; what was changed again since stays as it is',
  http: 'POST /undo/:undo_id 200',
  access: 'signed-in',
  writes: 'content',
  errors: ['UNDO_NOT_FOUND', 'BOARD_NOT_FOUND', 'ROADMAP_NOT_FOUND'],
  input: fields({ undo_id: inPath('undo_id of the answer to the change') }),
  output: bulkOutput,
  run: (ctx, { undo_id: undoId }) =>
    changeMany(ctx, (tx) => takeUndo(tx, undoId), {
      name: (each) => ('id' in each ? each.id : each.postId),
      work: (tx, each) => takenBack(tx, each),
    }),
})

async function takenBack(tx: Change, each: Undoable): Promise<Done> {
  switch (each.type) {
    case 'moved':
      return moveBack(tx, each)
    case 'merged':
      return parted(tx, each)
    case 'tagged':
      return retagBack(tx, each)
    case 'decided':
      return takeBack(tx, each)
    case 'snoozed': {
      const subject = await subjectToDecide(tx, each.id, undefined)
      if (!(await snoozeBack(tx, subject, each))) throw changedSince()
      const { id, kind, number, title } = subject
      return { id, kind, number, title, undo: 'final' }
    }
  }
}

/** What to take back, the newest first. Nobody can take it back again. */
async function takeUndo(tx: Change, given: string): Promise<Undoable[]> {
  const undo = isId(given) ? await lockUndo(tx.db, asStored(given)) : undefined
  // The operator, who has no account, may undo what anybody did
  const isTheirs = tx.actor.userId === null || undo?.userId === tx.actor.userId
  if (!undo || !isTheirs || undo.expiresAt <= tx.now().toISOString())
    throw new AppError('UNDO_NOT_FOUND', 'There is nothing to undo: it was undone, or is older than ten minutes.')
  await deleteUndo(tx.db, undo.undoId)
  return (JSON.parse(undo.changes) as Undoable[]).toReversed()
}

/** Tells nobody: people were told of the mistake already. */
async function moveBack(tx: Change, { postId, boardId, roadmapId }: Moved): Promise<Done> {
  const post = await postItself(tx, postId)
  if (boardId && post.boardId !== boardId[1]) throw changedSince()
  if (roadmapId && post.roadmap_id !== roadmapId[1]) throw changedSince()
  const wanted = { boardId: boardId?.[0], roadmapId: roadmapId?.[0] }
  // A private roadmap stays where a client sends null for it: here that would be no undo
  if (wanted.roadmapId !== undefined && (await roadmapIdAfter(tx, wanted.roadmapId, post)) !== wanted.roadmapId)
    throw changedSince()
  const { after } = await updateIn(tx, postId, { ...wanted, quiet: true })
  const since = new Date(tx.now().getTime() - UNDO_MS).toISOString()
  if (roadmapId?.[1]) await dropStatusNews(tx.db, { postId, roadmapId: roadmapId[1], since })
  return { id: postId, kind: 'post', number: after.number, title: after.title, undo: 'final' }
}

async function parted(tx: Change, { postId, at }: Merged): Promise<Done> {
  if ((await findMerge(tx.db, postId))?.mergedAt !== at) throw changedSince()
  return unmergeIn(tx, postId)
}

async function takeBack(
  tx: Change,
  { kind, id, wasSpam, wasHeld, isSpam, decidedAt, review, reports, blocked, moved }: Decided,
): Promise<Done> {
  const subject = kind === 'post' && isSpam && !wasSpam ? await hiddenPost(tx, id) : await subjectOf(tx, id)
  subject.assertMayDecide(tx.actor)
  if ('commentId' in subject.key) await lockComment(tx.db, subject.key.commentId)
  const present = await findReview(tx.db, subject.key)
  if (subject.hidden !== (isSpam ? SPAM : SHOWN) || present?.decidedAt !== decidedAt || present.isOpen === 1)
    throw changedSince()
  if (moved) await moveBack(tx, moved)
  const isReported = await isReportedSince(tx.db, subject.key, decidedAt)
  const author = blocked && (await unblocked(tx, blocked))
  const hidden = wasSpam ? SPAM : wasHeld ? HELD : SHOWN
  await setHidden(tx, subject, hidden)
  // A report since then ends the snooze
  await restoreReview(
    tx.db,
    subject.key,
    review && isReported ? { ...review, snoozedUntil: null, snoozedBy: null } : review,
  )
  await reopenReports(tx.db, reports)
  tx.record(`${subject.kind}.reopened`, subject.id, subject.title, undefined, shownChange(subject.hidden, hidden))
  return {
    id,
    kind: subject.kind,
    number: subject.number,
    title: subject.title,
    ...(author && { author }),
    undo: 'final',
  }
}

/** Unblocks an author who was blocked with the decision, unless somebody has changed or unblocked the account since. */
async function unblocked(tx: Change, { userId, updatedAt }: NonNullable<Decided['blocked']>): Promise<Done['author']> {
  const user = await lockUser(tx.db, userId)
  if (!user || user.isBlocked === 0) return undefined
  if (user.updatedAt !== updatedAt) return 'still-blocked'
  await blockIn(tx, userId, 'unblock')
  return 'unblocked'
}

/** A post that the caller could see until they hid it as spam, and that nobody has moved to a private board since. */
async function hiddenPost({ db, actor }: Change, id: string): Promise<Subject> {
  const post = await findPost(db, id)
  const board = post?.boardId ? await findBoard(db, post.boardId) : undefined
  if (post && ((board?.display ?? 1) === 1 || can(actor, 'board:read'))) return subjectOfPost(post)
  throw new AppError('POST_NOT_FOUND', `Post ${quoted(id)} not found.`)
}

const changedSince = () =>
  new AppError(
    'CONTENT_CHANGED',
    'Somebody has changed it since, so it stays as it is. Look at it, and change it by hand.',
  )
