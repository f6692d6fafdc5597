import { teamAmong } from '../../db/team.js'
import * as Type from 'typebox'
import { invalidField } from '../../core/fields.js'
import { HELD, SHOWN } from '../../core/hidden.js'
import { LENGTHS, MAX_ESCAPED } from '../../core/lengths.js'
import { quoted } from '../../core/text.js'
import { commentsWithReplies, type CommentView } from '../../db/comments.js'
import type { CommentRow } from '../../db/tables.js'
import { AppError } from '../../core/errors.js'
import type { Permission } from '../../core/permissions.js'
import { can, notAllowed, othersTookPart, type Actor } from './access.js'
import type { CachedContext } from './context.js'
import { authorOf, PublicUser } from './people.js'
import { needs, policy } from './policies.js'
import { isHeld, Place, roadmapOf } from './postshapes.js'
import { nullable } from './schemas.js'
import { refusalToChange, refusalToTake, type Taking } from './taking.js'

const isAuthor = (actor: Actor, { author_id: author }: Pick<CommentRow, 'author_id'>): boolean =>
  actor.userId !== null && actor.userId === author

/** A comment, and whether others replied to it: known where its author may delete it for that reason alone. */
type Judged = Pick<CommentView, 'id' | 'author_id' | 'is_internal' | 'is_spam' | 'official' | keyof ItsPost> & {
  isTaken?: boolean
}

/** What decides what the post of a comment takes. */
type ItsPost = Pick<CommentView, 'archived' | 'locked' | 'postNumber'>

const takingOf = ({ archived, locked, postNumber: number }: ItsPost): Taking => ({ archived, locked, number })

/** The author sees a comment that is hidden as spam, but nothing more can be done with it, as with a hidden post. */
export const isHidden = (actor: Actor, comment: Pick<CommentRow, 'is_spam'>): boolean =>
  comment.is_spam === 1 && !can(actor, 'comment:update:any')

export const commentNotFound = (given: string) =>
  new AppError('COMMENT_NOT_FOUND', `Comment ${quoted(given)} not found on this post.`)

interface Rights {
  own: Permission
  any: Permission
  /** What the post refuses those with `own` alone. */
  refusal: (actor: Actor, post: Taking) => AppError | undefined
}

const byAuthorOr =
  ({ own, any, refusal }: Rights) =>
  (actor: Actor, comment: Judged): AppError | undefined => {
    if (can(actor, any)) return undefined
    if (!isAuthor(actor, comment))
      return new AppError(
        'UNAUTHORIZED_NOT_AUTHOR',
        `Only the author may do this, or an account with the permission ${any}.`,
      )
    return can(actor, own) ? refusal(actor, takingOf(comment)) : notAllowed([own])
  }

/** A new text is as good as a new comment, and a note that becomes public is one. */
const changes = byAuthorOr({
  own: 'comment:update:own',
  any: 'comment:update:any',
  refusal: (actor, post) => refusalToTake(actor, 'comments', post),
})
const deletes = byAuthorOr({
  own: 'comment:delete:own',
  any: 'comment:delete:any',
  refusal: (_actor, post) => refusalToChange(post),
})

export const commentPolicy = policy(
  {
    update: (actor: Actor, comment: Judged) =>
      isHidden(actor, comment) ? commentNotFound(comment.id) : changes(actor, comment),
    delete: (actor: Actor, comment: Judged) =>
      deletes(actor, comment) ?? (comment.isTaken ? othersTookPart('comment:delete:any') : undefined),
    spam: needs('comment:update:any'),
    answer: (actor: Actor, comment: Judged) =>
      can(actor, 'post:update') ? cannotAnswer(comment) : notAllowed(['post:update']),
  },
  { writes: 'content' },
)

/** Everybody must be able to read the answer, and an update stands above it already. */
function cannotAnswer({ is_internal, is_spam, official }: Judged): AppError | undefined {
  const [what] = [
    is_internal === 1 && 'An internal comment',
    is_spam === 1 && 'A comment that is hidden as spam',
    is_spam === HELD && 'A comment that waits for a look',
    official === 'update' && 'An update',
  ].filter((each) => each !== false)
  return what === undefined
    ? undefined
    : new AppError('COMMENT_CANNOT_ANSWER', `${what} cannot be the answer of a post.`)
}

export const Comment = Type.Object({
  id: Type.String({ format: 'uuid' }),
  parent_id: nullable('string', { description: 'The comment it replies to' }),
  body: Type.String(),
  is_internal: Type.Boolean({ description: 'Shown only with comment:view_internal' }),
  is_edited: Type.Boolean(),
  is_spam: Type.Boolean({ description: 'Shown only to the author and with comment:update:any' }),
  is_held: isHeld,
  is_update: Type.Optional(
    Type.Boolean({ description: 'true if the team says what became of the post; otherwise absent' }),
  ),
  roadmap: Type.Optional(Type.Object(Place.roadmap.properties, { description: 'Where this update moved the post' })),
  is_answer: Type.Optional(
    Type.Boolean({ description: 'true of the comment that answers the post; otherwise absent' }),
  ),
  from_post: Type.Optional(
    Type.Object(
      { number: Type.Integer(), title: Type.String() },
      { description: 'The merged post that it was written on; otherwise absent' },
    ),
  ),
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
  may: commentPolicy.field,
  others_took_part: Type.Optional(
    Type.Boolean({
      description: 'true if you wrote the comment, but may not delete it, as others have replied; otherwise absent',
    }),
  ),
})

export const Activity = Type.Object({
  id: Type.String({ format: 'uuid' }),
  type: Type.Literal('comment'),
  created_at: Type.String({ format: 'date-time' }),
  author: PublicUser,
  comment: Comment,
})
export type Activity = Type.Static<typeof Activity>

export const MAX_BODY = LENGTHS.comment
const BODY_RULE = `text of 1 to ${MAX_BODY} characters`
const bodyOf = (maxLength: number) =>
  Type.String({
    minLength: 1,
    maxLength,
    trim: true,
    rule: BODY_RULE,
    description: `Text of at most ${MAX_BODY} characters`,
    codes: { required: 'COMMENT_BODY_MISSING', type: 'COMMENT_BODY_MISSING', minLength: 'COMMENT_BODY_MISSING' },
  })
export const body = bodyOf(MAX_BODY)
/** An editor sends the text as it is stored, where each `<` of HTML is four characters. */
export const editedBody = bodyOf(MAX_BODY * MAX_ESCAPED)
export const badBody = (code: string, problem: string) =>
  invalidField({ code, message: `body ${problem} ${BODY_RULE}.`, field: 'body', rule: BODY_RULE })

/** Authors also see their own spam. */
export const maySee = (actor: Actor, comment: Pick<CommentRow, 'is_internal' | 'is_spam' | 'author_id'>): boolean =>
  (comment.is_internal === 0 || can(actor, 'comment:view_internal')) &&
  (comment.is_spam === SHOWN || can(actor, 'comment:update:any') || isAuthor(actor, comment))

/** Those of some comments that the actor may not delete, though they wrote them. */
export async function takenAmong(
  { db, actor }: Pick<CachedContext, 'db' | 'actor'>,
  comments: readonly CommentView[],
): Promise<ReadonlySet<string>> {
  const own = comments.filter((comment) => isAuthor(actor, comment) && deletes(actor, comment) === undefined)
  const isAny = can(actor, 'comment:delete:any')
  if (isAny || own.length === 0 || actor.userId === null) return new Set()
  return new Set(await commentsWithReplies(db, own, actor.userId))
}

/** Data from other tables that comments are shown with. */
interface Beside {
  /** See `takenAmong`. */
  taken: ReadonlySet<string>
  /** Authors of the team. */
  team: ReadonlySet<string>
}

/** Comments as the actor sees them, in the order given. */
export async function activitiesOf(ctx: CachedContext, comments: readonly CommentView[]): Promise<Activity[]> {
  const [taken, team] = [await takenAmong(ctx, comments), await teamAmong(ctx.db, comments.map(({ author_id: id }) => id))] // prettier-ignore
  return comments.map((comment) => toActivity(ctx, comment, { taken, team }))
}

export function toActivity(ctx: CachedContext, comment: CommentView, { taken, team }: Beside): Activity {
  const { author_id: userId, name, username, avatar } = comment
  const author = authorOf(ctx, { userId, name, username, avatar }, team)
  return {
    id: comment.id,
    type: 'comment',
    created_at: comment.created_at,
    author,
    comment: toComment(ctx.actor, comment, taken),
  }
}

export function toComment(actor: Actor, comment: CommentView, taken: ReadonlySet<string>): Type.Static<typeof Comment> {
  const { id, body: text, is_internal, is_edited, is_spam, official, created_at, updated_at, ...row } = comment
  return {
    id,
    parent_id: parentSeen(actor, row) ? row.parent_id : null,
    body: text,
    is_internal: is_internal === 1,
    is_edited: is_edited === 1,
    is_spam: is_spam === 1,
    created_at,
    updated_at,
    may: commentPolicy.may(actor, { ...comment, isTaken: taken.has(id) }),
    ...(is_spam === HELD && { is_held: true }),
    ...(official === 'update' && { is_update: true, ...movedTo(actor, row) }),
    ...(official === 'answer' && { is_answer: true }),
    ...originOf(actor, row),
    ...(taken.has(id) && { others_took_part: true }),
  }
}

function originOf(
  actor: Actor,
  {
    originNumber: number,
    originTitle: title,
    originDisplay: display,
  }: Pick<CommentView, 'originNumber' | 'originTitle' | 'originDisplay'>,
) {
  if (number === null || title === null || (display === 0 && !can(actor, 'board:read'))) return undefined
  return { from_post: { number, title } }
}

function movedTo(actor: Actor, row: Parameters<typeof roadmapOf>[1]) {
  const roadmap = roadmapOf(actor, row)
  return roadmap && { roadmap }
}

/** Hidden with the comment: the id tells that it exists, and when it was created. */
const parentSeen = (actor: Actor, row: Pick<CommentView, 'parentInternal' | 'parentSpam' | 'parentAuthor'>): boolean =>
  maySee(actor, { is_internal: row.parentInternal ?? 0, is_spam: row.parentSpam ?? 0, author_id: row.parentAuthor })
