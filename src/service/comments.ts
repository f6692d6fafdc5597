import { withoutHtml } from '../core/markdown/index.js'
import { quoted, unescaped } from '../core/text.js'
import * as Type from 'typebox'
import { changesOf, EDITED } from '../core/details.js'
import { AppError } from '../core/errors.js'
import { invalidField } from '../core/fields.js'
import { SHOWN, SPAM } from '../core/hidden.js'
import { newId } from '../core/ids.js'
import type { Permission } from '../core/permissions.js'
import {
  countComments,
  deleteComment,
  findComment,
  hasPublicReply,
  lockComment,
  insertComment,
  listComments,
  updateComment,
  type CommentFilter,
  type CommentView,
} from '../db/comments.js'
import type { Sorting } from '../db/paging.js'
import type { PostView } from '../db/posts/row.js'
import type { CommentRow, Db } from '../db/tables.js'
import { teamAmong } from '../db/team.js'
import { can, notAllowed, type Actor } from './lib/access.js'
import { change, type Change } from './lib/change.js'
import { activitiesOf, Activity, badBody, body, Comment, commentNotFound, commentPolicy, editedBody, isHidden, MAX_BODY, maySee, takenAmong, toActivity, toComment } from './lib/commentshapes.js' // prettier-ignore
import type { Context } from './lib/context.js'
import { hiddenFirst } from './lib/holding.js'
import { imagesToShow } from './lib/images.js'
import { operation } from './lib/operation.js'
import { pageFields, pageKeys, pageOf, type Listing } from './lib/paging.js'
import { authorIdFrom } from './lib/postplaces.js'
import { reviewAgain } from './lib/reviews.js'
import { fields, inPath, nullable, someOf } from './lib/schemas.js'
import { personOf, viewerOf } from './lib/sessions.js'
import { assertTakes } from './lib/taking.js'
import { assertUnchanged, ifUnchanged, isWithin, orderFields, periodFields, periodFrom } from './lib/times.js'
import { keptPost, visiblePost } from './lib/whichpost.js'

const internal = Type.Boolean({
  description: 'Only for the team; needs comment:create_internal. A reply to an internal comment is internal too',
})
const inPost = inPath('Id, slug or number of the post', 'post')
const inThread = { post_id: inPost, comment_id: inPath('Id of the comment', 'comment') }

const COMMENTS: Listing<CommentView> = { row: 'comment', rows: 'Comments', id: 'id' }

export const list = operation({
  id: 'comments.list',
  summary: 'List the comments on a post, newest first',
  http: 'GET /posts/:post_id/activity 200',
  access: 'public',
  cache: 'actor',
  errors: ['POST_NOT_FOUND'],
  input: fields(
    {
      post_id: inPost,
      ...orderFields('desc'),
      ...pageFields(COMMENTS),
      per_page: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 100,
          fromText: true,
          description: 'Same as limit, for older clients',
        }),
      ),
      visibility: someOf(['public', 'internal'], {
        default: ['public', 'internal'],
        description: 'Which comments; internal ones need comment:view_internal',
      }),
      authorId: Type.Optional(Type.String({ description: 'Only by this user: id or user name', names: 'user' })),
      official: Type.Optional(
        Type.Boolean({
          fromText: true,
          description: 'Only updates of the team, and the comment that answers the post',
        }),
      ),
      ...periodFields('comments written'),
    },
    ['sort'],
  ),
  output: Type.Object({ activity: Type.Array(Activity), ...pageKeys }),
  subject: (ctx, { post_id: given }) => visiblePost(ctx, given),
  async run(ctx, { visibility, per_page: perPage, authorId, official, created, since, until, ...input }, { postId }) {
    const { db, actor } = ctx
    const page = { ...(perPage !== undefined && { limit: perPage }), ...input }
    const words = can(actor, 'comment:view_internal') ? visibility : visibility.filter((word) => word === 'public')
    const filter: CommentFilter & Sorting = {
      postId,
      created,
      visibility: words,
      spam: can(actor, 'comment:update:any'),
      viewer: await viewerOf(ctx),
      author: await authorIdFrom(ctx, authorId),
      ...(official && { official }),
      period: periodFrom({ since, until }),
    }
    const { rows: activity, keys } = await pageOf(COMMENTS, page, {
      total: await countComments(db, filter),
      async find(after) {
        const comment = await findComment(db, after)
        return comment?.post_id === postId && maySee(actor, comment) && isListed(filter, comment) ? comment : undefined
      },
      read: (slice) => listComments(db, filter, slice),
      async show(rows) {
        return activitiesOf(ctx, rows)
      },
    })
    return { activity, ...keys }
  },
})

export { downloadAll, listAll } from './commentlists.js'

export const show = operation({
  id: 'comments.show',
  summary: 'Show a comment and its post',
  http: 'GET /comments/:comment_id 200',
  access: 'public',
  cache: 'actor',
  errors: ['COMMENT_NOT_FOUND'],
  input: fields({ comment_id: inPath('Id of the comment', 'comment') }),
  output: Type.Object({
    activity: Activity,
    post: Type.Object({
      postId: Type.String({ format: 'uuid' }),
      number: Type.Integer(),
      title: Type.String(),
      slug: Type.String(),
    }),
  }),
  subject: commentAnywhere,
  run: async (ctx, _input, { comment, post: { postId, number, title, slug } }) => ({
    activity: (await activitiesOf(ctx, [comment]))[0] as Activity, // one row in, one row out
    post: { postId, number, title, slug },
  }),
})

export const create = operation({
  id: 'comments.create',
  summary: 'Comment on a post, or reply to a comment',
  http: 'POST /posts/:post_id/comments 201',
  access: 'comment:create',
  writes: 'content',
  limit: 'comments',
  errors: ['POST_NOT_FOUND', 'COMMENT_NOT_FOUND', 'POST_LOCKED', 'BOARD_ARCHIVED'],
  input: fields({
    post_id: inPost,
    body,
    is_internal: Type.Optional(internal),
    parent_id: Type.Optional(
      nullable('string', {
        description: 'Id of the comment to reply to; ignored if that comment is deleted',
        names: 'comment',
        early: true,
      }),
    ),
  }),
  output: Type.Object({ activity: Activity }),
  subject: (ctx, { post_id: given }) => visiblePost(ctx, given),
  async run(ctx, { body: text, is_internal: wanted, parent_id: given }, post) {
    if (wanted) assertMay(ctx.actor, 'comment:create_internal')
    const written = await withoutHtml(text)
    return change(ctx, async (tx) => {
      const kept = await keptPost(tx, post.postId) // it may have been deleted or merged since the first look-up
      assertTakes(ctx.actor, 'comments', kept)
      const { postId, title } = kept
      const now = ctx.now().toISOString()
      const parent = await parentIn(tx, postId, given)
      const isInternal = wanted ?? parent?.is_internal === 1
      if (isInternal) assertMay(ctx.actor, 'comment:create_internal')
      else if (parent?.is_internal) throw publicReply()
      const author = await personOf(tx)
      const comment = {
        id: newId(),
        post_id: postId,
        parent_id: parent?.id ?? null,
        author_id: author,
        body: written,
        is_internal: isInternal ? 1 : 0,
        is_spam: await hiddenFirst(tx, author),
        created_at: now,
        updated_at: now,
      }
      await insertComment(tx.db, comment, await imagesToShow(tx, written))
      tx.record('comment.created', comment.id, title)
      const stored = await existing(tx, comment.id)
      const team = await teamAmong(tx.db, [stored.author_id])
      return { activity: toActivity(ctx, stored, { taken: new Set(), team }) }
    })
  },
})

export const update = operation({
  id: 'comments.update',
  summary: 'Change a comment; needs comment:update:own for your own, comment:update:any for others',
  http: 'PUT /posts/:post_id/comments/:comment_id 200',
  access: 'signed-in',
  writes: 'content',
  limit: 'edits',
  errors: [
    'POST_NOT_FOUND',
    'COMMENT_NOT_FOUND',
    'UNAUTHORIZED_NOT_AUTHOR',
    'NOT_ENOUGH_PERMISSION',
    'CONTENT_CHANGED',
    'POST_LOCKED',
    'BOARD_ARCHIVED',
  ],
  input: fields({
    ...inThread,
    body: Type.Optional(editedBody),
    is_internal: Type.Optional(internal),
    is_spam: Type.Optional(Type.Boolean({ description: 'Hide it as spam; needs comment:update:any' })),
    partial: Type.Optional(Type.Boolean({ description: 'Keep the body if none is given; otherwise a body is needed' })),
    if_updated_at: ifUnchanged('updated_at'),
  }),
  output: Type.Object({ comment: Comment }),
  subject: shownComment,
  async run(ctx, input, { id }) {
    if (input.body === undefined && !input.partial) throw badBody('COMMENT_BODY_MISSING', 'is missing: it must be')
    if (unescaped(input.body ?? '').length > MAX_BODY) throw badBody('TOO_LONG', 'must be')
    const written = input.body === undefined ? undefined : await withoutHtml(input.body)
    return change(ctx, async (tx) => {
      const comment = await lockedComment(tx, id, () => shownComment(tx, input))
      commentPolicy.assert('update', ctx.actor, comment)
      assertUnchanged('if_updated_at', input.if_updated_at, comment.updated_at)
      if (flips(input.is_internal, comment.is_internal)) assertMay(ctx.actor, 'comment:create_internal')
      if (flips(input.is_spam, comment.is_spam)) assertMay(ctx.actor, 'comment:update:any')
      if (flips(input.is_internal, comment.is_internal)) await assertNoPublicReply(tx.db, comment, input.is_internal)
      const isEdited = written !== undefined && written !== comment.body
      const images = isEdited ? await imagesToShow(tx, written) : []
      await updateComment(
        tx.db,
        id,
        {
          ...(isEdited && { body: written, is_edited: 1 }),
          ...(input.is_internal !== undefined && { is_internal: input.is_internal ? 1 : 0 }),
          ...(flips(input.is_spam, comment.is_spam) && { is_spam: input.is_spam ? SPAM : SHOWN }), // false does not end a hold
          updated_at: ctx.now().toISOString(),
        },
        images,
      )
      if (isEdited && comment.is_spam === 0) await reviewAgain(tx, { commentId: id }, comment.created_at)
      const after = await existing(tx, id)
      tx.record('comment.updated', id, comment.title, undefined, [
        ...changesOf('comment', comment, after),
        ...(isEdited ? [EDITED] : []),
      ])
      return { comment: toComment(ctx.actor, after, await takenAmong(tx, [after])) }
    })
  },
})

export const remove = operation({
  id: 'comments.delete',
  summary:
    'Delete a comment; needs comment:delete:any, or comment:delete:own if it is yours and nobody else has replied',
  http: 'DELETE /posts/:post_id/comments/:comment_id 204',
  access: 'signed-in',
  writes: 'content',
  errors: ['POST_NOT_FOUND', 'COMMENT_NOT_FOUND', 'UNAUTHORIZED_NOT_AUTHOR', 'NOT_ENOUGH_PERMISSION', 'BOARD_ARCHIVED'],
  input: fields(inThread),
  output: Type.Undefined(),
  subject: commentGiven,
  run: (ctx, input, { id }) =>
    change(ctx, async (tx) => {
      await removeIn(tx, await lockedComment(tx, id, () => commentGiven(tx, input)))
      return undefined
    }),
})

/** Deletes a comment that is locked. What it throws of the contract, it throws before it writes. */
export async function removeIn(tx: Change, comment: CommentView & { title: string }): Promise<void> {
  const taken = await takenAmong(tx, [comment])
  commentPolicy.assert('delete', tx.actor, { ...comment, isTaken: taken.has(comment.id) })
  await deleteComment(tx.db, comment.id)
  tx.record('comment.deleted', comment.id, comment.title)
}

const flips = (wanted: boolean | undefined, present: number): boolean =>
  wanted !== undefined && wanted !== (present === 1)

/** A public reply would tell what the internal comment above it is about. */
async function assertNoPublicReply(db: Db, comment: CommentRow, isInternal = false): Promise<void> {
  if (!isInternal && comment.parent_id !== null) {
    const parent = await lockComment(db, comment.parent_id) // or it could become internal meanwhile
    if (parent?.is_internal) throw publicReply()
  }
  if (isInternal && (await hasPublicReply(db, comment.id)))
    throw badInternal('a comment with public replies cannot become internal. Make its replies internal first')
}

const publicReply = () => badInternal('a reply to an internal comment is internal')

const badInternal = (reason: string) =>
  invalidField({ code: 'VALIDATION_ERROR', message: `is_internal: ${reason}.`, field: 'is_internal', rule: reason })

function assertMay(actor: Actor, permission: Permission): void {
  if (!can(actor, permission)) throw notAllowed([permission])
}

const isListed = ({ author, official, period }: CommentFilter, comment: CommentView): boolean =>
  (!official || comment.official !== null) &&
  (author === undefined || comment.author_id === author) &&
  isWithin(period, comment.created_at)

/** The comment, with the title of its post. */
export async function commentGiven(
  ctx: Context,
  { post_id: post, comment_id: given }: Record<string, unknown>,
): Promise<CommentView & { title: string }> {
  const { postId, title }: PostView = await visiblePost(ctx, post)
  const comment = typeof given === 'string' ? await findComment(ctx.db, given) : undefined
  if (comment?.post_id !== postId || !maySee(ctx.actor, comment)) throw commentNotFound(String(given))
  return { ...comment, title }
}

/** The comment and its post. A comment on a post that the actor may not see does not exist for them. */
async function commentAnywhere(
  ctx: Context,
  { comment_id: given }: Record<string, unknown>,
): Promise<{ comment: CommentView; post: PostView }> {
  const unknown = new AppError('COMMENT_NOT_FOUND', `Comment ${quoted(String(given))} not found.`)
  const comment = typeof given === 'string' ? await findComment(ctx.db, given) : undefined
  if (!comment || !maySee(ctx.actor, comment)) throw unknown
  const post = await visiblePost(ctx, comment.post_id).catch((error: unknown) => {
    throw error instanceof AppError && error.code === 'POST_NOT_FOUND' ? unknown : error
  })
  return { comment, post }
}

/** The author sees a comment that is hidden as spam, but nothing more can be done with it, as with a hidden post. */
export async function shownComment(ctx: Context, input: Record<string, unknown>): ReturnType<typeof commentGiven> {
  const comment = await commentGiven(ctx, input)
  if (isHidden(ctx.actor, comment)) throw commentNotFound(comment.id)
  return comment
}

/** Locks the comment and looks it up again: it, or who may see it, may have changed since the first look-up. */
export async function lockedComment<T>({ db }: Context, id: string, lookUp: () => Promise<T>): Promise<T> {
  await lockComment(db, id)
  return lookUp()
}

/** As in the contract, a reply to a comment that is missing or not visible is a comment of its own. */
async function parentIn(
  { db, actor }: Context,
  postId: string,
  given: string | null | undefined,
): Promise<Pick<CommentRow, 'id' | 'is_internal' | 'is_spam'> | undefined> {
  const found = given ? await findComment(db, given) : undefined
  if (found?.post_id !== postId || !maySee(actor, found)) return undefined
  const parent = await lockComment(db, found.id) // or it could be deleted, or become internal, before the reply refers to it
  if (parent && isHidden(actor, parent)) throw commentNotFound(parent.id)
  return parent
}

export async function existing({ db }: Context, id: string): Promise<CommentView> {
  const comment = await findComment(db, id)
  if (!comment) throw commentNotFound(id)
  return comment
}
