import * as Type from 'typebox'
import { LOCKS } from '../../core/boardrules.js'
import { HELD, SPAM } from '../../core/hidden.js'
import { UNDECIDED } from '../../core/mergereasons.js'
import { STATUS_KINDS } from '../../core/statuskinds.js'
import { postsWithOthers, type PostView } from '../../db/posts/row.js'
import type { PostRow as Row } from '../../db/tables.js'
import { tagsOf } from '../../db/tags.js'
import { can, notAllowed, othersTookPart, type Actor } from './access.js'
import type { CachedContext, Context } from './context.js'
import { nullable, oneOf } from './schemas.js'
import { authorOf, PublicUser } from './people.js'
import { hidesPosts, mergingOf, refusalToMerge, type Merging, type Undecided } from './mergeable.js'
import { needs, policy } from './policies.js'
import { refusalToChange } from './taking.js'
import { PostVote } from './voters.js'

export const isAuthor = (actor: Actor, { userId }: Pick<PostView, 'userId'>): boolean =>
  actor.userId !== null && actor.userId === userId && (!actor.key?.isLimited || can(actor, 'post:create'))

/** A post, with what is read of it beyond its row. */
type Judged = Pick<PostView, 'userId' | 'archived'> & {
  /** Whether others took part in it: known where its author may delete it for that reason alone. */
  isTaken?: boolean
  /** Known where it may be merged. */
  merging?: Merging
}

const byAuthorOr = (permission: 'post:update' | 'post:destroy') => (actor: Actor, post: Judged) => {
  if (can(actor, permission)) return undefined
  return isAuthor(actor, post) ? refusalToChange(post) : notAllowed([permission])
}
const destroys = byAuthorOr('post:destroy')

/** `merge` is to merge the post into another, which the other one may refuse. */
export const postPolicy = policy(
  {
    update: byAuthorOr('post:update'),
    delete: (actor: Actor, post: Judged) => destroys(actor, post) ?? (post.isTaken ? othersTookPart('post:destroy') : undefined), // prettier-ignore
    spam: hidesPosts,
    merge: (actor: Actor, { merging }: Judged) =>
      merging
        ? (needs('post:update')(actor, undefined) ?? refusalToMerge(actor, merging))
        : notAllowed(['post:update']),
  },
  { writes: 'content' },
)

const Board = Type.Object({
  boardId: Type.String({ format: 'uuid' }),
  name: Type.String(),
  url: Type.String(),
  color: Type.String(),
  createdAt: Type.String({ format: 'date-time' }),
})
const Roadmap = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  url: Type.String(),
  color: Type.String(),
  kind: oneOf(STATUS_KINDS, { description: 'What it says of its posts' }),
})

const PostTag = Type.Object({
  tagId: Type.String({ format: 'uuid' }),
  name: Type.String(),
  url: Type.String(),
  color: Type.String(),
  display: Type.Boolean({ description: 'false: only with dashboard:read' }),
})
type PostTag = Type.Static<typeof PostTag>

/** Where a post is. */
export const Place = { board: Board, roadmap: Roadmap }

const text = {
  postId: Type.String({ format: 'uuid' }),
  number: Type.Integer({ description: 'Number of the post on the site; never reused' }),
  title: Type.String(),
  slug: Type.String({ description: 'Part of the address; former slugs still work' }),
  contentMarkdown: nullable('string'),
  createdAt: Type.String({ format: 'date-time' }),
  updatedAt: Type.String({ format: 'date-time' }),
}
const slugId = Type.String({ description: 'End of every slug of this post' })
const isSpam = Type.Optional(Type.Boolean({ description: 'true if the team hides the post as spam; otherwise absent' }))
export const isHeld = Type.Optional(Type.Boolean({ description: 'true until the team has looked at it, as the first of a new person: others do not see it; otherwise absent' })) // prettier-ignore
const takenBy = Type.Optional(
  Type.Boolean({
    description: 'true if you wrote the post, but may not delete it, as others have voted or commented; otherwise absent', // prettier-ignore
  }),
)
const mergeRefused = Type.Optional(
  oneOf(UNDECIDED, {
    description:
      'For users who may change posts of others: what is to be decided before it can be merged; otherwise absent',
  }),
)
const commentsCount = Type.Integer({ description: 'Number of public comments' })
const whole = {
  ...text,
  commentsCount,
  is_spam: isSpam,
  is_held: isHeld,
  others_took_part: takenBy,
  author: PublicUser,
  voters: PostVote,
  pinned: Type.Optional(
    Type.Boolean({ description: 'true if it is above the other posts of its board; otherwise absent' }),
  ),
  locked: Type.Optional(oneOf(LOCKS, { description: 'What it takes no more; absent where it takes all' })),
  is_archived: Type.Optional(
    Type.Boolean({ description: 'true if its board is archived: it can only be read; otherwise absent' }),
  ),
  roadmap: Type.Optional(Roadmap),
  tags: Type.Optional(Type.Array(PostTag, { description: 'By name; absent without any' })),
}

const isFollowed = Type.Optional(Type.Boolean({ description: 'true if you follow the post; otherwise absent' }))

/** A post in a list. Without a board, `board` is null; without a roadmap, `roadmap` is absent. */
export const Post = Type.Object({
  ...whole,
  is_followed: isFollowed,
  board: Type.Union([Board, Type.Null()]),
  may: postPolicy.field,
})
export type Post = Type.Static<typeof Post>

/** A single post. Without a board, `board` is absent. */
export const DashboardPost = Type.Object({
  ...whole,
  merge_refused: mergeRefused,
  slugId,
  board: Type.Optional(Board),
  may: postPolicy.field,
})
export type DashboardPost = Type.Static<typeof DashboardPost>

/** A post as it is stored: the response to a change. */
export const PostRow = Type.Object({
  ...text,
  slugId,
  userId: nullable('string', { description: 'Its author; null once the account is deleted' }),
  boardId: nullable('string'),
  roadmap_id: nullable('string'),
  is_held: isHeld,
})
export type PostRow = Type.Static<typeof PostRow>

type Viewer = Pick<Context, 'actor' | 'siteUrl'>

/** Those of some posts that the actor may not delete, though they wrote them. */
export async function takenAmong(
  { db, actor }: CachedContext,
  posts: readonly PostView[],
): Promise<ReadonlySet<string>> {
  const own = can(actor, 'post:destroy') ? [] : posts.filter((post) => isAuthor(actor, post))
  const ids = own.map(({ postId }) => postId)
  return new Set(ids.length > 0 && actor.userId !== null ? await postsWithOthers(db, ids, actor.userId) : [])
}

/** The tags of posts by post. */
type Tags = ReadonlyMap<string, PostTag[]>

/** The tags of some posts, with private ones for those who may see them. */
export async function tagsAmong({ db, actor }: CachedContext, postIds: readonly string[]): Promise<Tags> {
  const rows = await tagsOf(db, postIds, can(actor, 'dashboard:read'))
  const found = new Map<string, PostTag[]>()
  for (const { postId, nameFolded: _folded, display, ...tag } of rows) {
    const list = found.get(postId) ?? []
    found.set(postId, [...list, { ...tag, display: display === 1 }])
  }
  return found
}

/** What lists tell the actor of their posts. */
export interface Own {
  /** See `takenAmong`. */
  taken: ReadonlySet<string>
  /** Posts that they follow. */
  followed: ReadonlySet<string>
  /** Authors who are of the team. */
  team: ReadonlySet<string>
  tags: Tags
  undecided: Undecided
}

export function toPost(
  ctx: Viewer,
  post: PostView,
  voters: PostVote | undefined,
  { taken, followed, team, tags, undecided }: Own,
): Post {
  const roadmap = roadmapOf(ctx.actor, post)
  const isTaken = taken.has(post.postId)
  return {
    ...commonOf(ctx, post, voters, team),
    board: boardOf(post) ?? null,
    may: postPolicy.may(ctx.actor, { ...post, isTaken, merging: mergingOf(post, undecided) }),
    ...spamOf(post),
    ...(isTaken && { others_took_part: true }),
    ...rulesOf(post),
    ...(roadmap && { roadmap }),
    ...tagged(tags, post),
    ...(followed.has(post.postId) && { is_followed: true }),
  }
}

export function toDashboardPost(
  ctx: Viewer,
  post: PostView,
  voters: PostVote | undefined,
  { taken, tags, team, undecided }: Omit<Own, 'followed'>,
): DashboardPost {
  const [isTaken, merging] = [taken.has(post.postId), mergingOf(post, undecided)]
  const refused = can(ctx.actor, 'post:update') ? refusalToMerge(ctx.actor, merging) : undefined
  const unmerged = UNDECIDED.find((each) => each === refused?.reason)
  const [roadmap, board] = [roadmapOf(ctx.actor, post), boardOf(post)]
  return {
    ...commonOf(ctx, post, voters, team),
    slugId: post.slugId,
    may: postPolicy.may(ctx.actor, { ...post, isTaken, merging }),
    ...spamOf(post),
    ...(isTaken && { others_took_part: true }),
    ...(unmerged && { merge_refused: unmerged }),
    ...rulesOf(post),
    ...(roadmap && { roadmap }),
    ...tagged(tags, post),
    ...(board && { board }),
  }
}

function tagged(tags: Tags, { postId }: PostView) {
  const found = tags.get(postId)
  return found && { tags: found }
}

export const toPostRow = (actor: Actor, post: PostView): PostRow => ({
  ...textOf(post),
  slugId: post.slugId,
  userId: post.userId,
  boardId: post.boardId,
  roadmap_id: roadmapOf(actor, post)?.id ?? null,
  ...(post.is_spam === HELD && { is_held: true }),
})

const textOf = ({
  postId,
  number,
  title,
  slug,
  contentMarkdown,
  createdAt,
  updatedAt,
}: Pick<Row, keyof typeof text>) => ({
  postId,
  number,
  title,
  slug,
  contentMarkdown,
  createdAt,
  updatedAt,
})

/** After what every post has, as the server sends it. */
const spamOf = ({ is_spam: hidden }: PostView) => ({
  ...(hidden === SPAM && { is_spam: true }),
  ...(hidden === HELD && { is_held: true }),
})

const rulesOf = ({ pinned, locked, archived }: PostView) => ({
  ...(pinned === 1 && { pinned: true }),
  ...(locked !== 'none' && { locked }),
  ...(archived === 1 && { is_archived: true }),
})

function commonOf(
  ctx: Viewer,
  post: PostView,
  voters: PostVote = { votes: [], votesCount: post.votesCount },
  team: ReadonlySet<string>,
) {
  // prettier-ignore
  const { userId, authorName: name, authorUsername: username, authorAvatar: avatar } = post
  const author = authorOf(ctx, { userId, name, username, avatar }, team)
  return { ...textOf(post), commentsCount: post.commentsCount, author, voters }
}

function boardOf({ boardId, boardName: name, boardUrl: url, boardColor: color, boardCreatedAt: createdAt }: PostView) {
  return boardId === null || name === null || url === null || color === null || createdAt === null
    ? undefined
    : { boardId, name, url, color, createdAt }
}

/** The roadmap of a row that was read with it. */
type Standing = Pick<
  PostView,
  'roadmap_id' | 'roadmapName' | 'roadmapUrl' | 'roadmapColor' | 'roadmapKind' | 'roadmapDisplay'
>

/** A private roadmap is shown only with roadmap:read. */
export function roadmapOf(
  actor: Actor,
  {
    roadmap_id: id,
    roadmapName: name,
    roadmapUrl: url,
    roadmapColor: color,
    roadmapKind: kind,
    roadmapDisplay: display,
  }: Standing,
) {
  if (id === null || name === null || url === null || color === null || kind === null) return undefined
  return display === 1 || can(actor, 'roadmap:read') ? { id, name, url, color, kind } : undefined
}
