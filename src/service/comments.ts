import { withoutHtml } from '../core/markdown.js'
import { quoted } from '../core/text.js'
import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { invalidField } from '../core/fields.js'
import { newId } from '../core/ids.js'
import type { Permission } from '../core/permissions.js'
import {
  countComments,
  deleteComment,
  findComment,
  lockComment,
  insertComment,
  listComments,
  updateComment,
  type CommentFilter,
  type CommentView,
} from '../db/comments.js'
import type { PostView } from '../db/posts.js'
import type { CommentRow } from '../db/tables.js'
import { can, notAllowed, type Actor } from './lib/access.js'
import { change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { operation } from './lib/operation.js'
import { pageFields, pageKeys, pageOf, type Listing } from './lib/paging.js'
import { visiblePost } from './posts.js'
import { fields, inPath, nullable, someOf } from './lib/schemas.js'
import { personOf, viewerOf } from './lib/sessions.js'
import { authorOf, PublicUser } from './lib/people.js'

const Comment = Type.Object({
  id: Type.String({ format: 'uuid' }),
  parent_id: nullable('string', { description: 'The comment it replies to' }),
  body: Type.String(),
  is_internal: Type.Boolean({ description: 'Shown only with comment:view_internal' }),
  is_edited: Type.Boolean(),
  is_spam: Type.Boolean({ description: 'Shown only to the author and with comment:update:any' }),
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
})

const Activity = Type.Object({
  id: Type.String({ format: 'uuid' }),
  type: Type.Literal('comment'),
  created_at: Type.String({ format: 'date-time' }),
  author: PublicUser,
  comment: Comment,
})
export type Activity = Type.Static<typeof Activity>

const MAX_BODY = 1000
const bodyOf = (maxLength: number) =>
  Type.String({
    minLength: 1,
    maxLength,
    trim: true,
    rule: `text of 1 to ${MAX_BODY} characters`,
    description: `Text of at most ${MAX_BODY} characters`,
    codes: { required: 'COMMENT_BODY_MISSING', type: 'COMMENT_BODY_MISSING', minLength: 'COMMENT_BODY_MISSING' },
  })
const body = bodyOf(MAX_BODY)
/** An editor sends the text as it is stored, where each `<` of HTML is four characters. */
const editedBody = bodyOf(MAX_BODY * 4)
const internal = Type.Boolean({ description: 'Only for the team; needs comment:create_internal' })
const inPost = inPath('Id, slug or number of the post')
const inThread = { post_id: inPost, comment_id: inPath('Id of the comment') }

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
    },
    ['sort'],
  ),
  output: Type.Object({ activity: Type.Array(Activity), ...pageKeys }),
  subject: (ctx, { post_id: given }) => visiblePost(ctx, given),
  async run(ctx, { visibility, per_page: perPage, ...input }, { postId }) {
    const { db, actor } = ctx
    const page = { ...(perPage !== undefined && { limit: perPage }), ...input }
    const words = can(actor, 'comment:view_internal') ? visibility : visibility.filter((word) => word === 'public')
    const filter: CommentFilter = {
      postId,
      visibility: words,
      spam: can(actor, 'comment:update:any'),
      viewer: await viewerOf(ctx),
    }
    const { rows: activity, keys } = await pageOf(COMMENTS, page, {
      total: await countComments(db, filter),
      async find(after) {
        const comment = await findComment(db, after)
        return comment?.post_id === postId && maySee(actor, comment) ? comment : undefined
      },
      read: (slice) => listComments(db, filter, slice),
      show: (rows) => rows.map((comment) => toActivity(ctx, comment)),
    })
    return { activity, ...keys }
  },
})

export const create = operation({
  id: 'comments.create',
  summary: 'Comment on a post, or reply to a comment',
  http: 'POST /posts/:post_id/comments 201',
  access: 'comment:create',
  writes: 'content',
  errors: ['POST_NOT_FOUND'],
  input: fields({
    post_id: inPost,
    body,
    is_internal: Type.Optional(internal),
    parent_id: Type.Optional(
      nullable('string', { description: 'Id of the comment it replies to; ignored if that is deleted' }),
    ),
  }),
  output: Type.Object({ activity: Activity }),
  subject: (ctx, { post_id: given }) => visiblePost(ctx, given),
  async run(ctx, { body: text, is_internal: isInternal = false, parent_id: parent }, post) {
    if (isInternal) assertMay(ctx.actor, 'comment:create_internal')
    const written = await withoutHtml(text)
    return change(ctx, async (tx) => {
      const { postId, title } = await visiblePost(tx, post.postId) // it may have been deleted since the first look-up
      const now = ctx.now().toISOString()
      const comment = {
        id: newId(),
        post_id: postId,
        parent_id: await parentIn(tx, postId, parent),
        author_id: await personOf(tx),
        body: written,
        is_internal: isInternal ? 1 : 0,
        created_at: now,
        updated_at: now,
      }
      await insertComment(tx.db, comment)
      tx.record('comment.created', comment.id, title)
      return { activity: toActivity(ctx, await existing(tx, comment.id)) }
    })
  },
})

export const update = operation({
  id: 'comments.update',
  summary: 'Change a comment; needs comment:update:own for your own, comment:update:any for others',
  http: 'PUT /posts/:post_id/comments/:comment_id 200',
  access: 'signed-in',
  writes: 'content',
  errors: ['POST_NOT_FOUND', 'COMMENT_NOT_FOUND', 'UNAUTHORIZED_NOT_AUTHOR', 'NOT_ENOUGH_PERMISSION'],
  input: fields({
    ...inThread,
    body: Type.Optional(editedBody),
    is_internal: Type.Optional(internal),
    is_spam: Type.Optional(Type.Boolean({ description: 'Hide it as spam; needs comment:update:any' })),
    partial: Type.Optional(
      Type.Boolean({ description: 'Leave the body as it is if it is not given; it is needed otherwise' }),
    ),
  }),
  output: Type.Object({ comment: Comment }),
  subject: commentGiven,
  async run(ctx, input, { id }) {
    if (input.body === undefined && !input.partial) throw bodyMissing()
    if ((input.body?.replaceAll('&lt;', '<').length ?? 0) > MAX_BODY) throw bodyTooLong()
    const written = input.body === undefined ? undefined : await withoutHtml(input.body)
    return change(ctx, async (tx) => {
      const comment = await lockedComment(tx, input, id)
      assertAuthor(ctx.actor, comment, { own: 'comment:update:own', any: 'comment:update:any' })
      if (flips(input.is_internal, comment.is_internal)) assertMay(ctx.actor, 'comment:create_internal')
      if (flips(input.is_spam, comment.is_spam)) assertMay(ctx.actor, 'comment:update:any')
      await updateComment(tx.db, id, {
        ...(written !== undefined && written !== comment.body && { body: written, is_edited: 1 }),
        ...(input.is_internal !== undefined && { is_internal: input.is_internal ? 1 : 0 }),
        ...(input.is_spam !== undefined && { is_spam: input.is_spam ? 1 : 0 }),
        updated_at: ctx.now().toISOString(),
      })
      tx.record('comment.updated', id, comment.title)
      return { comment: toComment(ctx.actor, await existing(tx, id)) }
    })
  },
})

export const remove = operation({
  id: 'comments.delete',
  summary: 'Delete a comment; needs comment:delete:own for your own, comment:delete:any for others',
  http: 'DELETE /posts/:post_id/comments/:comment_id 204',
  access: 'signed-in',
  writes: 'content',
  errors: ['POST_NOT_FOUND', 'COMMENT_NOT_FOUND', 'UNAUTHORIZED_NOT_AUTHOR', 'NOT_ENOUGH_PERMISSION'],
  input: fields(inThread),
  output: Type.Undefined(),
  subject: commentGiven,
  run: (ctx, input, { id }) =>
    change(ctx, async (tx) => {
      const comment = await lockedComment(tx, input, id)
      assertAuthor(ctx.actor, comment, { own: 'comment:delete:own', any: 'comment:delete:any' })
      await deleteComment(tx.db, id)
      tx.record('comment.deleted', id, comment.title)
      return undefined
    }),
})

const bodyMissing = () =>
  invalidField({
    code: 'COMMENT_BODY_MISSING',
    message: 'body is missing: it must be text of 1 to 1000 characters.',
    field: 'body',
    rule: 'text of 1 to 1000 characters',
  })

const bodyTooLong = () => {
  const rule = `text of 1 to ${MAX_BODY} characters`
  return invalidField({ code: 'TOO_LONG', message: `body must be ${rule}.`, field: 'body', rule })
}

const flips = (wanted: boolean | undefined, present: number): boolean =>
  wanted !== undefined && wanted !== (present === 1)

const isAuthor = (actor: Actor, { author_id: author }: Pick<CommentRow, 'author_id'>): boolean =>
  actor.userId !== null && actor.userId === author

function assertMay(actor: Actor, permission: Permission): void {
  if (!can(actor, permission)) throw notAllowed([permission])
}

function assertAuthor(actor: Actor, comment: CommentRow, { own, any }: { own: Permission; any: Permission }): void {
  if (can(actor, any)) return
  if (!isAuthor(actor, comment))
    throw new AppError(
      'UNAUTHORIZED_NOT_AUTHOR',
      `Only the author may do this, or an account with the permission ${any}.`,
    )
  assertMay(actor, own)
}

/** Authors also see their own spam. */
export const maySee = (actor: Actor, comment: Pick<CommentRow, 'is_internal' | 'is_spam' | 'author_id'>): boolean =>
  (comment.is_internal === 0 || can(actor, 'comment:view_internal')) &&
  (comment.is_spam === 0 || can(actor, 'comment:update:any') || isAuthor(actor, comment))

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

/** Locks the comment and looks it up again: it, or who may see it, may have changed since the first look-up. */
async function lockedComment(
  tx: Context,
  input: Record<string, unknown>,
  id: string,
): Promise<CommentView & { title: string }> {
  await lockComment(tx.db, id)
  return commentGiven(tx, input)
}

/** As in the contract, a reply to a comment that is missing or not visible is a comment of its own. */
async function parentIn(
  { db, actor }: Context,
  postId: string,
  given: string | null | undefined,
): Promise<string | null> {
  const parent = given ? await findComment(db, given) : undefined
  if (parent?.post_id !== postId || !maySee(actor, parent)) return null
  const held = await lockComment(db, parent.id) // or it could be deleted before the reply refers to it
  return held ? held.id : null
}

async function existing({ db }: Context, id: string): Promise<CommentView> {
  const comment = await findComment(db, id)
  if (!comment) throw commentNotFound(id)
  return comment
}

export const commentNotFound = (given: string) =>
  new AppError('COMMENT_NOT_FOUND', `There is no comment ${quoted(given)} on this post.`)

function toActivity(ctx: Context, comment: CommentView): Activity {
  const { author_id: userId, name, username, avatar } = comment
  const author = authorOf(ctx, { userId, name, username, avatar })
  return {
    id: comment.id,
    type: 'comment',
    created_at: comment.created_at,
    author,
    comment: toComment(ctx.actor, comment),
  }
}

const toComment = (
  actor: Actor,
  { id, body: text, is_internal, is_edited, is_spam, created_at, updated_at, ...row }: CommentView,
): Type.Static<typeof Comment> => ({
  id,
  parent_id: parentSeen(actor, row) ? row.parent_id : null,
  body: text,
  is_internal: is_internal === 1,
  is_edited: is_edited === 1,
  is_spam: is_spam === 1,
  created_at,
  updated_at,
})

/** Hidden with the comment: the id tells that it exists, and when it was created. */
const parentSeen = (actor: Actor, row: Pick<CommentView, 'parentInternal' | 'parentSpam' | 'parentAuthor'>): boolean =>
  maySee(actor, { is_internal: row.parentInternal ?? 0, is_spam: row.parentSpam ?? 0, author_id: row.parentAuthor })
