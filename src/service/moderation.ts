import * as Type from 'typebox'
import { changeOf, type FieldChange } from '../core/details.js'
import { invalidField } from '../core/fields.js'
import { HELD, MERGED, SHOWN, SPAM, type Hidden } from '../core/hidden.js'
import { isId, newId } from '../core/ids.js'
import { LENGTHS } from '../core/lengths.js'
import { lock } from '../db/counters.js'
import { findBoard } from '../db/boards.js'
import { findComment, lockComment, updateComment } from '../db/comments.js'
import {
  lastDecision,
  putReport,
  putReview,
  reopenReview,
  setReportsOpen,
  type Item as ItemKey,
} from '../db/moderation.js'
import { updatePost, type PostView } from '../db/posts/row.js'
import { removeIn as removeComment, shownComment } from './comments.js'
import { MODERATORS, type Actor } from './lib/access.js'
import { blockIn } from './lib/blocking.js'
import { change, type Change } from './lib/change.js'
import { commentNotFound, commentPolicy, maySee } from './lib/commentshapes.js'
import type { Context } from './lib/context.js'
import { operation } from './lib/operation.js'
import { postPolicy } from './lib/postshapes.js'
import { fields, inPath, nullable, oneOf } from './lib/schemas.js'
import { personOf } from './lib/sessions.js'
import { snoozeIn, untilField, untilOf, wakeReported } from './lib/snoozing.js'
import { assertUnchanged, ifUnchanged } from './lib/times.js'
import { assertWaiting, ifWaiting } from './lib/waiting.js'
import { days, Item, itemShown } from './moderationqueue.js'
import { removeIn as removePost } from './posts.js'
import { keptPost, postItself, postNotFound, visiblePost } from './lib/whichpost.js'

export { COUNTED, REASONS } from '../db/moderationqueue.js'
export { count, list, type Item } from './moderationqueue.js'

const Decided = Type.Object(
  {
    action: Type.String({
      description: 'The action in the log, such as post.kept, comment.marked_spam or post.snoozed',
    }),
    at: Type.String({ format: 'date-time' }),
    person: Type.Union([Type.Object({ name: Type.String(), username: Type.String() }), Type.Null()], {
      description: 'Who did it; null at the command line, and after the account was deleted',
    }),
  },
  { description: 'The last decision about it; absent if there is none' },
)

const decidedShown = ({ action, at, name, username }: NonNullable<Awaited<ReturnType<typeof lastDecision>>>) => ({
  action,
  at,
  person: username === null ? null : { name: name ?? '', username },
})

export const show = operation({
  id: 'moderation.show',
  summary:
    'Show what a moderator sees of one post or comment: its open reports, its author, why it waits, and the last decision',
  http: 'GET /moderation/:id 200',
  access: MODERATORS,
  errors: ['POST_NOT_FOUND', 'COMMENT_NOT_FOUND', 'NOT_ENOUGH_PERMISSION'],
  input: fields({ id: inPath('Id of the comment, or id, slug or number of the post', 'item'), days }),
  output: Type.Object({ item: Item, decided: Type.Optional(Decided) }),
  async subject(ctx, { id }) {
    const subject = await subjectOf(ctx, id)
    subject.assertMayDecide(ctx.actor)
    return subject
  },
  async run(ctx, { days: most }, { kind, id, key }) {
    const item = await itemShown(ctx, { kind, id }, most)
    if (!item) throw 'postId' in key ? postNotFound(id) : commentNotFound(id)
    const last = await lastDecision(ctx.db, kind, id)
    return { item, ...(last && { decided: decidedShown(last) }) }
  },
})

export const blockField = Type.Optional(
  Type.Boolean({
    description:
      'With spam: block the author too, which needs user:block. Nobody is blocked where the author has no account',
  }),
)

export function assertBlocks(block: boolean, decision: string | undefined): void {
  if (!block || decision === 'spam') return
  const rule = 'absent unless decision is spam'
  throw invalidField({ code: 'UNKNOWN_CHOICE', message: `block must be ${rule}.`, field: 'block', rule, value: 'true' })
}

export const decide = operation({
  id: 'moderation.decide',
  summary: 'Decide about a post or comment: keep it, hide it as spam, snooze it, or put it back in the queue',
  http: 'POST /moderation/:id 200',
  access: MODERATORS,
  writes: 'content',
  errors: [
    'POST_NOT_FOUND',
    'COMMENT_NOT_FOUND',
    'NOT_ENOUGH_PERMISSION',
    'CONTENT_CHANGED',
    'ALREADY_DECIDED',
    'CANNOT_CHANGE_OWNER',
  ],
  input: fields({
    id: inPath('Id of the comment, or id, slug or number of the post', 'item'),
    decision: oneOf(['keep', 'spam', 'reopen', 'snooze', 'wake'], {
      description:
        'keep: show it, and close its reports; spam: hide it; reopen: put it back in the queue; snooze: let it wait again at a later time, or once it is reported or edited; wake: let it wait again now',
    }),
    is_spam: Type.Optional(Type.Boolean({ description: 'With reopen: keep it hidden as spam' })),
    is_held: Type.Optional(Type.Boolean({ description: 'With reopen: hold it until it is kept, as the first of a new person' })), // prettier-ignore
    block: blockField,
    until: untilField,
    if_updated_at: ifUnchanged('updated_at'),
    if_waiting: ifWaiting,
  }),
  output: Type.Object({
    decided: Type.Object({
      id: Type.String(),
      kind: Type.String(),
      is_spam: Type.Boolean(),
      title: Type.String(),
      number: Type.Integer({ description: 'Of the post' }),
      snoozed_until: Type.Optional(Type.String({ format: 'date-time', description: 'Present if it was snoozed' })),
      author: Type.Optional(
        Type.Unsafe<'blocked'>({ type: 'string', enum: ['blocked'], description: 'Present if it blocked the author' }),
      ),
    }),
  }),
  async subject(ctx, { id }) {
    const subject = await subjectOf(ctx, id)
    subject.assertMayDecide(ctx.actor)
    return subject
  },
  run(
    ctx,
    { decision, is_spam, is_held, block = false, until: given, if_updated_at: seen, if_waiting: waits },
    { id },
  ) {
    assertBlocks(block, decision)
    const until = untilOf(ctx.now(), decision, given)
    return change(ctx, async (tx) => {
      if (waits) await assertWaiting(tx, () => subjectOf(tx, id), decision, block)
      if (decision === 'snooze' || decision === 'wake') {
        const its = await subjectToDecide(tx, id, seen)
        await snoozeIn(tx, its, until ?? null)
        return { decided: { id: its.id, kind: its.kind, is_spam: its.hidden === SPAM, title: its.title, number: its.number, ...(until && { snoozed_until: until }) } } // prettier-ignore
      }
      const { subject, isSpam, blocked } = await decideIn(tx, id, {
        decision,
        isSpam: is_spam,
        isHeld: is_held,
        block,
        seen,
      })
      const { kind, title, number } = subject
      return { decided: { id: subject.id, kind, is_spam: isSpam, title, number, ...(blocked && { author: 'blocked' as const }) } } // prettier-ignore
    })
  },
})

interface Decision {
  decision: 'keep' | 'spam' | 'reopen'
  /** With reopen: stays hidden as spam. */
  isSpam?: boolean | undefined
  /** With reopen: stays held. */
  isHeld?: boolean | undefined
  /** With spam: the author is blocked too. */
  block?: boolean | undefined
  /** CONTENT_CHANGED if it was updated at another time. */
  seen?: string | undefined
}

/** Decides in a transaction. `subject` is as it was before. What it throws of the contract, it throws before it writes. */
export async function decideIn(
  tx: Change,
  given: string,
  { decision, isSpam: staysSpam = false, isHeld: staysHeld = false, block = false, seen }: Decision,
) {
  const subject = await subjectToDecide(tx, given, seen)
  const author = block && subject.authorId !== null ? await blockIn(tx, subject.authorId, 'block') : undefined
  const isSpam = decision === 'spam' || (decision === 'reopen' && staysSpam)
  const isHeld = !isSpam && decision === 'reopen' && (staysHeld || subject.hidden === HELD)
  const decidedAt = tx.now().toISOString()
  const hidden = isSpam ? SPAM : isHeld ? HELD : SHOWN
  await setHidden(tx, subject, hidden)
  await setReportsOpen(tx.db, subject.key, decision === 'reopen')
  if (decision === 'reopen') await reopenReview(tx.db, subject.key)
  else await putReview(tx.db, subject.key, { reviewId: newId(), decidedAt })
  tx.record(
    `${subject.kind}.${EVENTS[decision]}`,
    subject.id,
    subject.title,
    undefined,
    shownChange(subject.hidden, hidden),
  )
  return { subject, isSpam, decidedAt, blocked: author?.isChanged ? author.user : undefined }
}

/** What events say of a post or comment: whether everybody sees it, and why not. */
const SHOWING = { [SHOWN]: 'yes', [SPAM]: 'spam', [HELD]: 'held', [MERGED]: 'merged' } as const

export const shownChange = (before: Hidden, after: Hidden): FieldChange[] =>
  before === after ? [] : [changeOf('shown', SHOWING[before], SHOWING[after])]

/** What is decided about, which nobody edits before the transaction ends. */
export async function subjectToDecide(tx: Change, given: string, seen: string | undefined): Promise<Subject> {
  await lock(tx.db, 'post_counts')
  const first = await subjectOf(tx, given)
  if (first.kind === 'comment') await lockComment(tx.db, first.id) // or an edit meanwhile would not see the decision
  const subject = first.kind === 'comment' ? await subjectOf(tx, first.id) : first
  subject.assertMayDecide(tx.actor)
  assertUnchanged('if_updated_at', seen, subject.updatedAt)
  return subject
}

const EVENTS = { keep: 'kept', spam: 'marked_spam', reopen: 'reopened' } as const

export interface Subject {
  kind: 'post' | 'comment'
  id: string
  key: ItemKey
  title: string
  number: number
  hidden: Hidden
  /** Null after the author's account is deleted. */
  authorId: string | null
  updatedAt: string
  post?: PostView
  /** What a comment says. */
  text?: string
  assertMayDecide(this: void, actor: Actor): void
  /** Throws what the contract refuses before it writes. Lock a comment first. */
  remove(this: void, tx: Change): Promise<void>
}

export const subjectOfPost = (post: PostView): Subject => ({
  kind: 'post',
  id: post.postId,
  key: { postId: post.postId },
  title: post.title,
  number: post.number,
  hidden: post.is_spam as Hidden,
  authorId: post.userId,
  updatedAt: post.updatedAt,
  post,
  assertMayDecide: (actor) => postPolicy.assert('spam', actor, post),
  remove: (tx) => removePost(tx, post),
})

/** A comment by id, or a post by id or slug, that the actor may see. */
export async function subjectOf(ctx: Context, given: unknown): Promise<Subject> {
  const comment = typeof given === 'string' && isId(given.trim()) ? await findComment(ctx.db, given.trim()) : undefined
  if (!comment) return subjectOfPost(await postItself(ctx, given))
  const { title, number } = await visiblePost(ctx, comment.post_id)
  if (!maySee(ctx.actor, comment)) throw commentNotFound(String(given))
  return {
    kind: 'comment',
    id: comment.id,
    key: { commentId: comment.id },
    title,
    number,
    hidden: comment.is_spam as Hidden,
    authorId: comment.author_id,
    updatedAt: comment.updated_at,
    text: comment.body,
    assertMayDecide: (actor) => commentPolicy.assert('spam', actor, comment),
    remove: (tx) => removeComment(tx, { ...comment, title }),
  }
}

/** A post that is hidden is as private as one of a private board. */
export async function setHidden({ db }: Change, { id, kind, hidden, post }: Subject, wanted: Hidden): Promise<void> {
  if (hidden === wanted) return
  const mark = { is_spam: wanted }
  if (kind === 'comment') return updateComment(db, id, mark)
  const board = post?.boardId ? await findBoard(db, post.boardId) : undefined
  await updatePost(db, id, { ...mark, display: wanted === SHOWN ? (board?.display ?? 1) : 0 })
}

const reason = Type.Optional(
  nullable('string', { maxLength: LENGTHS.reason, trim: true, plain: true, description: 'What is wrong with it' }),
)
const Noted = Type.Object({ noted: Type.Boolean() })

export const reportPost = operation({
  id: 'posts.report',
  summary: 'Report a post to the moderators',
  http: 'POST /posts/:post_id/report 200',
  access: 'signed-in',
  writes: 'content',
  limit: 'reports',
  errors: ['POST_NOT_FOUND'],
  input: fields({ post_id: inPath('Id, slug or number of the post', 'post'), reason }),
  output: Noted,
  subject: (ctx, { post_id: given }) => visiblePost(ctx, given),
  run: (ctx, input, post) =>
    report(ctx, input.reason, async (tx) => {
      const { postId, title } = await keptPost(tx, post.postId)
      return { key: { postId }, title }
    }),
})

export const reportComment = operation({
  id: 'comments.report',
  summary: 'Report a comment to the moderators',
  http: 'POST /posts/:post_id/comments/:comment_id/report 200',
  access: 'signed-in',
  writes: 'content',
  limit: 'reports',
  errors: ['POST_NOT_FOUND', 'COMMENT_NOT_FOUND'],
  input: fields({
    post_id: inPath('Id, slug or number of the post', 'post'),
    comment_id: inPath('Id of the comment', 'comment'),
    reason,
  }),
  output: Noted,
  subject: shownComment,
  run: (ctx, input, { id, title }) =>
    report(ctx, input.reason, async (tx) => {
      if (!(await lockComment(tx.db, id))) throw commentNotFound(id)
      return { key: { commentId: id }, title }
    }),
})

/**
 * The answer is the same for a second report, which changes nothing. `keep` returns what is reported, which nobody may
 * delete or merge before the transaction ends.
 */
const report = (
  ctx: Context,
  given: string | null | undefined,
  keep: (tx: Change) => Promise<{ key: ItemKey; title: string }>,
) =>
  change(ctx, async (tx) => {
    const { key, title } = await keep(tx)
    const report = { reportId: newId(), ...key, userId: await personOf(tx), reason: given || null, createdAt: ctx.now().toISOString() } // prettier-ignore
    if (await putReport(tx.db, report)) {
      await wakeReported(tx, key)
      tx.record('postId' in key ? 'post.reported' : 'comment.reported', 'postId' in key ? key.postId : key.commentId, title) // prettier-ignore
    }
    return { noted: true }
  })
