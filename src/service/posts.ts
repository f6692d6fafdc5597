import { teamAmong } from '../db/team.js'
import { withoutHtml } from '../core/markdown/index.js'
import * as Type from 'typebox'
import { LOCKS, type Lock } from '../core/boardrules.js'
import { changesOf, EDITED } from '../core/details.js'
import { SHOWN } from '../core/hidden.js'
import { newId, randomWord } from '../core/ids.js'
import { postSlug, SLUG_ID } from '../core/slugs.js'
import { LENGTHS } from '../core/lengths.js'
import { lock } from '../db/counters.js'
import { membersOf } from '../db/merges.js'
import { movedBy } from '../db/posts/moves.js'
import { deletePost, hasOthers, insertPost, updatePost, type PostView } from '../db/posts/row.js'
import { insertVote } from '../db/votes.js'
import { can, notAllowed } from './lib/access.js'
import { change, type Change } from './lib/change.js'
import { hiddenFirst } from './lib/holding.js'
import { imagesToShow } from './lib/images.js'
import { undecidedAmong } from './lib/mergeable.js'
import { operation } from './lib/operation.js'
import { boardIdFrom, roadmapIdAfter } from './lib/postplaces.js'
import { title, titleMissing, withShortTitle } from './lib/posttitles.js'
import {
  DashboardPost,
  postPolicy,
  PostRow,
  tagsAmong,
  takenAmong,
  toDashboardPost,
  toPostRow,
} from './lib/postshapes.js'
import { reviewAgain } from './lib/reviews.js'
import { fields, nullable, oneOf } from './lib/schemas.js'
import { personOf } from './lib/sessions.js'
import { assertMoves, assertTakesPosts } from './lib/taking.js'
import { assertUnchanged, ifUnchanged } from './lib/times.js'
import { announce, assertSpeaks, updateFields, type Update } from './lib/updates.js'
import { voterGiven, votersOf } from './lib/voters.js'
import { idGiven, postItself, postNotFound, visiblePost } from './lib/whichpost.js'

const contentMarkdown = nullable('string', {
  maxLength: LENGTHS.text,
  trim: true,
  description: 'The text, as Markdown',
})
const boardId = nullable('string', { description: 'Id or url of the board; none or null for no board', names: 'board' })
const roadmapId = nullable('string', {
  description: 'Id or url of the roadmap; none or null for no roadmap',
  names: 'roadmap',
})

/** Published clients send `id`, `postId` or `slug`. Each may be the id, the number, or a present or former slug. */
const whichPost = {
  id: Type.Optional(Type.String({ description: 'Id, slug or number of the post', names: 'post' })),
  postId: Type.Optional(Type.String({ description: 'Same as id', names: 'post' })),
  slug: Type.Optional(Type.String({ trim: true, description: 'Same as id', names: 'post' })),
}

export { downloadAll, list, search, similar } from './postlists.js'

export const show = operation({
  id: 'posts.show',
  summary: 'Show a post',
  http: 'POST /posts/slug 200',
  access: 'public',
  cache: 'actor',
  errors: ['POST_NOT_FOUND'],
  input: fields({ ...whichPost, userId: voterGiven }),
  output: Type.Object({ post: DashboardPost }),
  subject: (ctx, input) => visiblePost(ctx, idGiven(input)),
  async run(ctx, { userId }, post) {
    const [voters] = await votersOf(ctx, [post], { voter: userId })
    const [taken, tags] = [await takenAmong(ctx, [post]), await tagsAmong(ctx, [post.postId])]
    const [team, undecided] = [await teamAmong(ctx.db, [post.userId]), await undecidedAmong(ctx, [post])]
    return { post: toDashboardPost(ctx, post, voters, { taken, tags, team, undecided }) }
  },
})

export const create = operation({
  id: 'posts.create',
  summary: 'Create a post, with the vote of its author',
  http: 'POST /posts 201',
  access: 'post:create',
  writes: 'content',
  limit: 'posts',
  errors: ['BOARD_NOT_FOUND', 'BOARD_ARCHIVED'],
  input: fields(
    { title: Type.Optional(title), contentMarkdown: Type.Optional(contentMarkdown), boardId: Type.Optional(boardId) },
    ['roadmapId', 'userId'],
  ),
  output: Type.Object({ post: PostRow }),
  adapt: withShortTitle,
  async run(ctx, input) {
    const contentMarkdown = await withoutHtml(input.contentMarkdown ?? '')
    return change(ctx, async (tx) => {
      await lock(tx.db, 'post_counts')
      const userId = await personOf(tx)
      const createdAt = ctx.now().toISOString()
      const name = input.title || 'new post'
      const slugId = randomWord(SLUG_ID)
      const hidden = await hiddenFirst(tx, userId)
      const board = await boardIdFrom(tx, input.boardId)
      await assertTakesPosts(tx, board)
      const post = await insertPost(
        tx.db,
        {
          postId: newId(),
          title: name,
          slug: postSlug(name, slugId),
          slugId,
          contentMarkdown: contentMarkdown || null,
          userId,
          boardId: board,
          roadmap_id: null,
          is_spam: hidden,
          ...(hidden !== SHOWN && { display: 0 }),
          createdAt,
          updatedAt: createdAt,
        },
        await imagesToShow(tx, contentMarkdown),
      )
      await insertVote(tx.db, { voteId: newId(), userId, postId: post.postId, createdAt })
      tx.record('post.created', post.postId, post.title)
      return { post: toPostRow(ctx.actor, await visiblePost(tx, post.postId)) }
    })
  },
})

export const update = operation({
  id: 'posts.update',
  summary: 'Change a post; needs post:update unless you are the author',
  http: 'PATCH /posts 200',
  access: 'signed-in',
  writes: 'content',
  limit: 'edits',
  errors: [
    'POST_NOT_FOUND',
    'BOARD_NOT_FOUND',
    'ROADMAP_NOT_FOUND',
    'NOT_ENOUGH_PERMISSION',
    'CONTENT_CHANGED',
    'POST_MERGED',
    'BOARD_ARCHIVED',
  ],
  input: fields(
    {
      ...whichPost,
      title: Type.Optional({
        ...title,
        minLength: 1,
        codes: { type: 'POST_TITLE_MISSING', minLength: 'POST_TITLE_MISSING' },
      }),
      contentMarkdown: Type.Optional(contentMarkdown),
      boardId: Type.Optional(boardId),
      roadmapId: Type.Optional(roadmapId),
      pinned: Type.Optional(
        Type.Boolean({ description: 'Keep it above the other posts of its board; needs post:update' }),
      ),
      locked: Type.Optional(
        oneOf(LOCKS, { description: 'What it takes no more, but of those with post:update; needs post:update' }),
      ),
      partial: Type.Optional(
        Type.Boolean({
          description: 'Keep the title if none is given; otherwise a title is needed',
        }),
      ),
      ...updateFields,
      ifUpdatedAt: ifUnchanged('updatedAt'),
    },
    ['slugId', 'userId', 'createdAt', 'updatedAt', 'author', 'board', 'roadmap', 'roadmap_id', 'voters', 'may'],
  ),
  output: Type.Object({ post: PostRow }),
  async subject(ctx, input) {
    const post = await postItself(ctx, idGiven(input))
    postPolicy.assert('update', ctx.actor, post)
    return post
  },
  async run(ctx, input, { postId }) {
    assertSpeaks(ctx.actor, input)
    if (!input.partial && input.title === undefined) throw titleMissing('given, unless partial is true')
    const contentMarkdown = await withoutHtml(input.contentMarkdown ?? '')
    const text = input.contentMarkdown === undefined ? {} : { contentMarkdown: contentMarkdown || null }
    const message = await withoutHtml(input.message ?? '')
    return change(ctx, async (tx) => {
      const { after } = await updateIn(tx, postId, { ...input, ...text, message })
      return { post: toPostRow(ctx.actor, after) }
    })
  },
})

/** What a change of a post may set. */
interface PostChange extends Update {
  title?: string | undefined
  /** Without HTML. */
  contentMarkdown?: string | null | undefined
  /** Id or url, or null for none. */
  boardId?: string | null | undefined
  roadmapId?: string | null | undefined
  pinned?: boolean | undefined
  locked?: Lock | undefined
  /** CONTENT_CHANGED if the post was updated at another time. */
  ifUpdatedAt?: string | undefined
}

/** Changes a post in a transaction. What it throws of the contract, it throws before it writes. */
export async function updateIn(
  tx: Change,
  given: string,
  { title, contentMarkdown, boardId, roadmapId, message, quiet, pinned, locked, ifUpdatedAt }: PostChange,
): Promise<{ before: PostView; after: PostView }> {
  await lock(tx.db, 'post_counts')
  const before = await postItself(tx, given) // after the lock: it, or who may see it, may have changed
  const { postId } = before
  postPolicy.assert('update', tx.actor, before)
  assertUnchanged('ifUpdatedAt', ifUpdatedAt, before.updatedAt)
  const board = boardId === undefined ? before.boardId : await boardIdFrom(tx, boardId, before.boardId)
  if (!can(tx.actor, 'post:update')) await assertByAuthor(tx, before, board, { pinned, locked })
  const roadmap = await roadmapIdAfter(tx, roadmapId, before)
  const images = await imagesToShow(tx, contentMarkdown)
  await movedBy(
    tx.db,
    { postId, actorId: board === before.boardId && roadmap === before.roadmap_id ? null : tx.actor.userId },
    () =>
      updatePost(
        tx.db,
        postId,
        {
          ...(title !== undefined && { title, slug: postSlug(title, before.slugId) }),
          ...(contentMarkdown !== undefined && { contentMarkdown }),
          ...(board !== before.boardId && { boardId: board }),
          ...(board === null && before.boardId !== null && before.is_spam === 0 && { display: 1 }), // a post without a board is public
          ...(roadmap !== before.roadmap_id && { roadmap_id: roadmap }),
          ...(pinned !== undefined && { pinned: pinned ? 1 : 0 }),
          ...(locked !== undefined && { locked }),
          updatedAt: tx.now().toISOString(),
        },
        images,
      ),
  )
  const after = await visiblePost(tx, postId)
  const isEdited = after.contentMarkdown !== before.contentMarkdown
  if (before.is_spam === 0 && (isEdited || after.title !== before.title))
    await reviewAgain(tx, { postId }, before.createdAt)
  const said = await announce(tx, after, { message, quiet, isMoved: after.roadmap_id !== before.roadmap_id })
  tx.record('post.updated', postId, after.title, undefined, [
    ...changesOf('post', before, after),
    ...(isEdited ? [EDITED] : []),
    ...said,
  ])
  return { before, after }
}

/** What an author may not do, who may not change posts of others. */
async function assertByAuthor(
  tx: Change,
  post: PostView,
  board: string | null,
  { pinned, locked }: Pick<PostChange, 'pinned' | 'locked'>,
): Promise<void> {
  if ((pinned ?? post.pinned === 1) !== (post.pinned === 1) || (locked ?? post.locked) !== post.locked)
    throw notAllowed(['post:update'])
  if (board !== post.boardId) await assertMoves(tx, post, board)
}

export const remove = operation({
  id: 'posts.delete',
  summary:
    'Delete a post, with its votes and comments; needs post:destroy, unless it is yours and nobody else took part',
  http: 'DELETE /posts 204',
  access: 'signed-in',
  writes: 'content',
  errors: ['POST_NOT_FOUND', 'NOT_ENOUGH_PERMISSION', 'POST_MERGED', 'BOARD_ARCHIVED'],
  input: fields(whichPost, ['userId']),
  output: Type.Undefined(),
  async subject(ctx, input) {
    const post = await postItself(ctx, idGiven(input))
    postPolicy.assert('delete', ctx.actor, post)
    return post
  },
  run: (ctx, _input, subject) =>
    change(ctx, async (tx) => {
      await removeIn(tx, subject)
      return undefined
    }),
})

/** Deletes a post in a transaction. What it throws of the contract, it throws before it writes. */
export async function removeIn({ db, actor, record }: Change, post: PostView): Promise<void> {
  await lock(db, 'post_counts')
  const isTaken = !can(actor, 'post:destroy') && (await hasOthers(db, post))
  postPolicy.assert('delete', actor, { ...post, isTaken })
  const merged = await membersOf(db, post.postId)
  if (!(await deletePost(db, post.postId))) throw postNotFound(post.postId)
  record('post.deleted', post.postId, post.title)
  for (const postId of merged) {
    const gone = await deletePost(db, postId) // its votes and comments went with the other
    if (gone) record('post.deleted', postId, gone.title)
  }
}
