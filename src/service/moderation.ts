import * as Type from 'typebox'
import { isId, newId } from '../core/ids.js'
import { LENGTHS } from '../core/lengths.js'
import { lock } from '../db/counters.js'
import { findBoard } from '../db/boards.js'
import { findComment, lockComment, updateComment } from '../db/comments.js'
import {
  itemsOf,
  listCandidates,
  MOST,
  openReports,
  putReport,
  putReview,
  REASONS,
  reopenReview,
  setReportsOpen,
  type Candidate,
  type Item as ItemKey,
  type ItemView,
  type Reason,
} from '../db/moderation.js'
import type { Direction } from '../db/paging.js'
import { updatePost, type PostView } from '../db/posts/row.js'
import { shownComment } from './comments.js'
import { can, MODERATORS, type Actor } from './lib/access.js'
import { change, type Change } from './lib/change.js'
import { commentNotFound, commentPolicy, maySee } from './lib/commentshapes.js'
import type { Context } from './lib/context.js'
import { operation } from './lib/operation.js'
import { postPolicy } from './lib/postshapes.js'
import { authorOf, PublicUser } from './lib/people.js'
import { pageFields, pageKeys, pageOf, type Listing } from './lib/paging.js'
import { fields, inPath, nullable, oneOf, someOf } from './lib/schemas.js'
import { personOf } from './lib/sessions.js'
import { assertUnchanged, ifUnchanged, isWithin, orderFields, periodFields, periodFrom } from './lib/times.js'
import { visiblePost } from './posts.js'

const DAY_MS = 24 * 60 * 60 * 1000

const Item = Type.Object({
  id: Type.String({ format: 'uuid', description: 'Of the post or comment' }),
  kind: Type.Union([Type.Literal('post'), Type.Literal('comment')]),
  reasons: Type.Array(Type.String(), {
    description: 'Why it waits: new, edited (since it was kept), reported, spam, blocked',
  }),
  text: nullable('string'),
  author: PublicUser,
  author_is_blocked: Type.Boolean(),
  is_spam: Type.Boolean(),
  is_internal: Type.Boolean(),
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time', description: 'Send it back with the decision' }),
  post: Type.Object({
    postId: Type.String({ format: 'uuid' }),
    number: Type.Integer(),
    title: Type.String(),
    slug: Type.String(),
  }),
  board: Type.Union([Type.Object({ name: Type.String(), url: Type.String() }), Type.Null()]),
  reports: Type.Array(
    Type.Object({
      reason: nullable('string'),
      created_at: Type.String({ format: 'date-time' }),
      person: Type.Object({ name: Type.String(), username: Type.String() }),
    }),
  ),
})
export type Item = Type.Static<typeof Item>

type Waiting = Omit<Candidate, 'reason'> & { reasons: Reason[] }
const QUEUE: Listing<Waiting> = { row: 'post or comment', rows: 'Posts and comments', id: 'id', size: 20, pages: 1000 }

export const list = operation({
  id: 'moderation.list',
  summary:
    'List posts and comments that wait for a decision, reported ones first, then the newest; new ones by the team need no decision',
  http: 'GET /moderation 200',
  access: MODERATORS,
  errors: [],
  input: fields({
    reasons: someOf(REASONS, {
      default: [...REASONS],
      description:
        'Why they wait: new, edited since they were kept, reported, marked as spam, written by a blocked user',
    }),
    days: Type.Integer({
      minimum: 1,
      maximum: 3650,
      default: 7,
      description: 'For how many days posts and comments count as new',
    }),
    ...orderFields('desc', 'Sort by time, the reported ones first in either direction'),
    ...periodFields('posts and comments written or edited'),
    ...pageFields(QUEUE),
  }),
  output: Type.Object({
    items: Type.Array(Item),
    total: Type.Integer({ description: `How many wait; of more than ${MOST} for a reason, ${MOST} are counted` }),
    ...pageKeys,
  }),
  async run(ctx, { reasons, days, created, since, until, ...page }) {
    const period = periodFrom({ since, until })
    const { db, actor } = ctx
    const candidates = await listCandidates(db, {
      reasons,
      created,
      since: new Date(ctx.now().getTime() - days * DAY_MS).toISOString(),
      posts: can(actor, 'post:destroy'),
      comments: can(actor, 'comment:update:any'),
      hidden: can(actor, 'board:read'),
      internal: can(actor, 'comment:view_internal'),
    })
    const waiting = queueOf(
      candidates.filter(({ createdAt }) => isWithin(period, createdAt)),
      created,
    )
    const placeOf = (item: Waiting) => waiting.indexOf(item) + 1
    const { rows: items, keys } = await pageOf(QUEUE, page, {
      total: waiting.length,
      find: async (cursor) => waiting.find(({ id }) => id === cursor),
      countAfter: async (item) => waiting.length - placeOf(item),
      read: async ({ limit, offset = 0, after: last }) => {
        const from = last ? placeOf(last) : offset
        return waiting.slice(from, from + limit)
      },
      show: (rows) => itemsShown(ctx, rows),
    })
    return { items, total: waiting.length, ...keys }
  },
})

/** Each once, with all reasons: reported ones first, then by time. */
function queueOf(candidates: readonly Candidate[], created: Direction): Waiting[] {
  const waiting = new Map<string, Waiting>()
  for (const { reason, ...item } of candidates) {
    const present = waiting.get(item.id)
    if (!present) waiting.set(item.id, { ...item, reasons: [reason] })
    else if (!present.reasons.includes(reason)) present.reasons.push(reason)
  }
  const isReported = ({ reasons }: Waiting) => Number(reasons.includes('reported'))
  const byTime = (one: Waiting, other: Waiting) =>
    one.createdAt.localeCompare(other.createdAt) || one.id.localeCompare(other.id)
  return [...waiting.values()].toSorted(
    (one, other) =>
      isReported(other) - isReported(one) || (created === 'asc' ? byTime(one, other) : byTime(other, one)),
  )
}

async function itemsShown(ctx: Context, waiting: readonly Waiting[]): Promise<Item[]> {
  const shown = new Map<string, Item>()
  for (const kind of ['post', 'comment'] as const) {
    const those = waiting.filter((item) => item.kind === kind)
    const ids = those.map(({ id }) => id)
    if (ids.length === 0) continue
    const [views, reports] = [await itemsOf(ctx.db, kind, ids), await openReports(ctx.db, kind, ids)]
    for (const view of views) {
      const { reasons = [] } = those.find(({ id }) => id === view.id) ?? {}
      const ofItem = reports.filter((report) => (kind === 'post' ? report.postId : report.commentId) === view.id)
      shown.set(view.id, toItem(ctx, view, kind, reasons, ofItem))
    }
  }
  return waiting.flatMap(({ id }) => shown.get(id) ?? []) // one that was deleted meanwhile is left out
}

const toItem = (
  ctx: Context,
  view: ItemView,
  kind: Candidate['kind'],
  reasons: Reason[],
  reports: Awaited<ReturnType<typeof openReports>>,
): Item => ({
  id: view.id,
  kind,
  reasons,
  text: view.text,
  author: authorOf(ctx, view),
  author_is_blocked: view.isBlocked === 1,
  is_spam: view.isSpam === 1,
  is_internal: view.isInternal === 1,
  created_at: view.createdAt,
  updated_at: view.updatedAt,
  post: { postId: view.postId, number: view.number, title: view.postTitle, slug: view.slug },
  board: view.boardName === null || view.boardUrl === null ? null : { name: view.boardName, url: view.boardUrl },
  reports: reports
    .toSorted((one, other) => one.createdAt.localeCompare(other.createdAt))
    .map(({ reason, createdAt, name, username }) => ({
      reason,
      created_at: createdAt,
      person: { name, username },
    })),
})

export const decide = operation({
  id: 'moderation.decide',
  summary: 'Decide about a post or comment: keep it, hide it as spam, or put it back in the queue',
  http: 'POST /moderation/:id 200',
  access: MODERATORS,
  writes: 'content',
  errors: ['POST_NOT_FOUND', 'COMMENT_NOT_FOUND', 'NOT_ENOUGH_PERMISSION', 'CONTENT_CHANGED'],
  input: fields({
    id: inPath('Id of the comment, or id, slug or number of the post', 'item'),
    decision: oneOf(['keep', 'spam', 'reopen'], {
      description: 'keep: show it, and close its reports; spam: hide it; reopen: put it back in the queue',
    }),
    is_spam: Type.Optional(Type.Boolean({ description: 'With reopen: keep it hidden as spam' })),
    if_updated_at: ifUnchanged('updated_at'),
  }),
  output: Type.Object({
    decided: Type.Object({
      id: Type.String(),
      kind: Type.String(),
      is_spam: Type.Boolean(),
      title: Type.String(),
      number: Type.Integer({ description: 'Of the post' }),
    }),
  }),
  async subject(ctx, { id }) {
    const subject = await subjectOf(ctx, id)
    subject.assertMayDecide(ctx.actor)
    return subject
  },
  run: (ctx, { decision, is_spam, if_updated_at: seen }, { id }) =>
    change(ctx, async (tx) => {
      const { subject, isSpam } = await decideIn(tx, id, { decision, isSpam: is_spam, seen })
      return { decided: { id: subject.id, kind: subject.kind, is_spam: isSpam, title: subject.title, number: subject.number } } // prettier-ignore
    }),
})

interface Decision {
  decision: 'keep' | 'spam' | 'reopen'
  /** With reopen: stays hidden as spam. */
  isSpam?: boolean | undefined
  /** CONTENT_CHANGED if it was updated at another time. */
  seen?: string | undefined
}

/** Decides in a transaction. `subject` is as it was before. What it throws of the contract, it throws before it writes. */
export async function decideIn(tx: Change, given: string, { decision, isSpam: hidden = false, seen }: Decision) {
  await lock(tx.db, 'post_counts')
  const first = await subjectOf(tx, given)
  if (first.kind === 'comment') await lockComment(tx.db, first.id) // or an edit meanwhile would not see the decision
  const subject = first.kind === 'comment' ? await subjectOf(tx, first.id) : first
  subject.assertMayDecide(tx.actor)
  assertUnchanged('if_updated_at', seen, subject.updatedAt)
  const isSpam = decision === 'spam' || (decision === 'reopen' && hidden)
  const decidedAt = tx.now().toISOString()
  await setSpam(tx, subject, isSpam)
  await setReportsOpen(tx.db, subject.key, decision === 'reopen')
  if (decision === 'reopen') await reopenReview(tx.db, subject.key)
  else await putReview(tx.db, subject.key, { reviewId: newId(), decidedAt })
  tx.record(`${subject.kind}.${EVENTS[decision]}`, subject.id, subject.title)
  return { subject, isSpam, decidedAt }
}

const EVENTS = { keep: 'kept', spam: 'marked_spam', reopen: 'reopened' } as const

export interface Subject {
  kind: 'post' | 'comment'
  id: string
  key: ItemKey
  title: string
  number: number
  isSpam: boolean
  updatedAt: string
  post?: PostView
  assertMayDecide(this: void, actor: Actor): void
}

export const subjectOfPost = (post: PostView): Subject => ({
  kind: 'post',
  id: post.postId,
  key: { postId: post.postId },
  title: post.title,
  number: post.number,
  isSpam: post.is_spam === 1,
  updatedAt: post.updatedAt,
  post,
  assertMayDecide: (actor) => postPolicy.assert('spam', actor, post),
})

/** A comment by id, or a post by id or slug, that the actor may see. */
export async function subjectOf(ctx: Context, given: unknown): Promise<Subject> {
  const comment = typeof given === 'string' && isId(given.trim()) ? await findComment(ctx.db, given.trim()) : undefined
  if (!comment) return subjectOfPost(await visiblePost(ctx, given))
  const { title, number } = await visiblePost(ctx, comment.post_id)
  if (!maySee(ctx.actor, comment)) throw commentNotFound(String(given))
  return {
    kind: 'comment',
    id: comment.id,
    key: { commentId: comment.id },
    title,
    number,
    isSpam: comment.is_spam === 1,
    updatedAt: comment.updated_at,
    assertMayDecide: (actor) => commentPolicy.assert('spam', actor, comment),
  }
}

/** A post that is spam is as private as one of a private board. */
export async function setSpam({ db }: Change, { id, kind, isSpam, post }: Subject, wanted: boolean): Promise<void> {
  if (isSpam === wanted) return
  const mark = { is_spam: wanted ? 1 : 0 }
  if (kind === 'comment') return void (await updateComment(db, id, mark))
  const board = post?.boardId ? await findBoard(db, post.boardId) : undefined
  await updatePost(db, id, { ...mark, display: wanted ? 0 : (board?.display ?? 1) })
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
  run: (ctx, input, { postId, title }) => report(ctx, { key: { postId }, title, reason: input.reason }),
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
  run: (ctx, input, { id, title }) => report(ctx, { key: { commentId: id }, title, reason: input.reason }),
})

/** The answer is the same for a second report, which changes nothing. */
const report = (
  ctx: Context,
  { key, title, reason: given }: { key: ItemKey; title: string; reason?: string | null | undefined },
) =>
  change(ctx, async (tx) => {
    const report = { reportId: newId(), ...key, userId: await personOf(tx), reason: given || null, createdAt: ctx.now().toISOString() } // prettier-ignore
    if ('commentId' in key && !(await lockComment(tx.db, key.commentId))) throw commentNotFound(key.commentId)
    if (await putReport(tx.db, report))
      tx.record('postId' in key ? 'post.reported' : 'comment.reported', 'postId' in key ? key.postId : key.commentId, title) // prettier-ignore
    return { noted: true }
  })
