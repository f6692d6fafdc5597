import { withoutHtml } from '../core/markdown.js'
import { quoted } from '../core/text.js'
import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { invalidField } from '../core/fields.js'
import { isId, newId, randomWord } from '../core/ids.js'
import { postSlug, SLUG_ID } from '../core/slugs.js'
import { searchWords } from '../core/words.js'
import { lock } from '../db/counters.js'
import {
  deletePost,
  findPost,
  insertPost,
  listPosts,
  postTotal,
  searchPosts,
  updatePost,
  type PostFilter,
  type PostView,
} from '../db/posts.js'
import { insertVote } from '../db/votes.js'
import { can, notAllowed, type Actor } from './lib/access.js'
import { change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { operation } from './lib/operation.js'
import { alias, pageFields, pageKeys, pageOf, type Listing } from './lib/paging.js'
import { authorIdFrom, boardIdFrom, roadmapIdAfter, roadmapIdFrom, visibleBoard } from './lib/postplaces.js'
import { title, withShortTitle } from './lib/posttitles.js'
import { DashboardPost, Post, PostRow, toDashboardPost, toPost, toPostRow } from './lib/postshapes.js'
import { fields, inPath, nullable, oneOf } from './lib/schemas.js'
import { personOf } from './lib/sessions.js'
import { votersOf } from './lib/voters.js'

const contentMarkdown = nullable('string', { maxLength: 65_536, trim: true, description: 'The text, as Markdown' })
const boardId = nullable('string', { description: 'Id or url of the board' })
const roadmapId = nullable('string', { description: 'Id or url of the roadmap' })

/** Published clients send `id`, `postId` or `slug`. Each may be the id, the number, or a present or former slug. */
const whichPost = {
  id: Type.Optional(Type.String({ description: 'Id, slug or number of the post' })),
  postId: Type.Optional(Type.String({ description: 'Same as id' })),
  slug: Type.Optional(Type.String({ trim: true, description: 'Same as id' })),
}

/** Clients before 0.9 name their user here instead of sending a token. Others send anything. */
const voterGiven = Type.Optional(
  Type.Unknown({ description: 'Without a token: whose vote to show as viewerVote, where the board shows its voters' }),
)

const POSTS: Listing<PostView> = { row: 'post', rows: 'Posts', id: 'postId', alias: true }

/** Words of a search that count. */
const MAX_WORDS = 16

/** Which posts. */
const placeFields = {
  boardId: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 50,
      rule: 'a list of up to 50 board ids or urls',
      description: 'Only of these boards, by id or url',
    }),
  ),
  roadmapId: Type.Optional({ ...roadmapId, description: 'Only on this roadmap, by id or url' }),
  authorId: Type.Optional(Type.String({ description: 'Only by this person, by id or user name' })),
}

export const list = operation({
  id: 'posts.list',
  summary: 'List posts, newest first',
  http: 'POST /posts/get 200',
  access: 'public',
  cache: 'actor',
  errors: [],
  input: fields({
    sort: Type.Optional(
      oneOf(['newest', 'oldest', 'votes'], { anyCase: true, description: 'Order (default: newest)' }),
    ),
    created: Type.Optional(
      oneOf(['asc', 'desc'], {
        anyCase: true,
        description: 'Direction of creation time, for older clients; sort wins',
      }),
    ),
    ...pageFields(POSTS),
    ...placeFields,
    userId: voterGiven,
  }),
  output: Type.Object({ posts: Type.Array(Post), results: alias(Post), ...pageKeys }),
  async run(ctx, { boardId, roadmapId: roadmap, authorId, userId, sort, created, ...page }) {
    const { db } = ctx
    const filter: PostFilter = {
      ...(await filterFrom(ctx, { boardId, roadmapId: roadmap, authorId })),
      sort: sort ?? (created === 'asc' ? 'oldest' : 'newest'),
    }
    const { rows: posts, keys } = await pageOf(POSTS, page, {
      total: await postTotal(db, filter),
      find: (after) => postAtCursor(ctx, filter, after),
      read: (slice) => listPosts(db, filter, slice),
      show: (rows) => postsShown(ctx, rows, userId),
    })
    return { posts, ...keys }
  },
})

export const show = operation({
  id: 'posts.show',
  summary: 'Show a post',
  http: 'POST /posts/slug 200',
  access: 'public',
  cache: 'actor',
  errors: ['POST_NOT_FOUND'],
  input: fields({ ...whichPost, userId: voterGiven }),
  output: Type.Object({ post: DashboardPost }),
  subject: postGiven,
  async run(ctx, { userId }, post) {
    const [voters] = await votersOf(ctx, [post], userId)
    return { post: toDashboardPost(ctx, post, voters) }
  },
})

export const search = operation({
  id: 'posts.search',
  summary: 'Find posts that have all these words in title or text, in any order, newest first',
  http: 'GET /posts/search/:words 200',
  access: 'public',
  errors: [],
  input: fields({
    words: inPath('Words, or how words begin; letter case, accents and punctuation do not count'),
    ...placeFields,
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'How many' }),
    page: Type.Integer({ minimum: 1, maximum: 250, default: 1, description: 'Page number' }),
  }),
  output: Type.Object({ posts: Type.Array(Post), has_next_page: Type.Boolean() }),
  async run(ctx, { words: text, limit, page, ...places }) {
    const filter = await filterFrom(ctx, places)
    const words = searchWords(text).slice(0, MAX_WORDS)
    const offset = (page - 1) * limit
    const rows = words.length === 0 ? [] : await searchPosts(ctx.db, words, filter, { limit: limit + 1, offset })
    return { posts: await postsShown(ctx, rows.slice(0, limit)), has_next_page: rows.length > limit }
  },
})

export const create = operation({
  id: 'posts.create',
  summary: 'Create a post, with the vote of its author',
  http: 'POST /posts 201',
  access: 'post:create',
  writes: 'content',
  errors: ['BOARD_NOT_FOUND'],
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
      const post = await insertPost(tx.db, {
        postId: newId(),
        title: name,
        slug: postSlug(name, slugId),
        slugId,
        contentMarkdown: contentMarkdown || null,
        userId,
        boardId: await boardIdFrom(tx, input.boardId),
        roadmap_id: null,
        createdAt,
        updatedAt: createdAt,
      })
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
  errors: ['POST_NOT_FOUND', 'BOARD_NOT_FOUND', 'ROADMAP_NOT_FOUND', 'NOT_ENOUGH_PERMISSION'],
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
      partial: Type.Optional(
        Type.Boolean({
          description: 'Leave the title as it is where it is not given; otherwise it is needed',
        }),
      ),
    },
    ['slugId', 'userId', 'createdAt', 'updatedAt', 'author', 'board', 'roadmap', 'roadmap_id', 'voters'],
  ),
  output: Type.Object({ post: PostRow }),
  async subject(ctx, input) {
    const post = await postGiven(ctx, input)
    assertMayChange(ctx.actor, post)
    return post
  },
  async run(ctx, input, { postId }) {
    if (!input.partial && input.title === undefined) throw titleMissing()
    const contentMarkdown = await withoutHtml(input.contentMarkdown ?? '')
    return change(ctx, async (tx) => {
      await lock(tx.db, 'post_counts')
      const before = await visiblePost(tx, postId) // after the lock: it, or who may see it, may have changed
      assertMayChange(ctx.actor, before)
      const board = input.boardId === undefined ? before.boardId : await boardIdFrom(tx, input.boardId, before.boardId)
      const roadmap = await roadmapIdAfter(tx, input.roadmapId, before)
      await updatePost(tx.db, postId, {
        ...(input.title !== undefined && { title: input.title, slug: postSlug(input.title, before.slugId) }),
        ...(input.contentMarkdown !== undefined && { contentMarkdown: contentMarkdown || null }),
        ...(board !== before.boardId && { boardId: board }),
        ...(board === null && before.boardId !== null && before.is_spam === 0 && { display: 1 }), // a post without a board is public
        ...(roadmap !== before.roadmap_id && { roadmap_id: roadmap }),
        updatedAt: ctx.now().toISOString(),
      })
      const after = await visiblePost(tx, postId)
      tx.record('post.updated', postId, after.title)
      return { post: toPostRow(ctx.actor, after) }
    })
  },
})

export const remove = operation({
  id: 'posts.delete',
  summary: 'Delete a post, with its votes and comments',
  http: 'DELETE /posts 204',
  access: 'post:destroy',
  writes: 'content',
  errors: ['POST_NOT_FOUND'],
  input: fields(whichPost, ['userId']),
  output: Type.Undefined(),
  subject: postGiven,
  run: (ctx, _input, subject) =>
    change(ctx, async ({ db, record }) => {
      await lock(db, 'post_counts')
      if (!(await deletePost(db, subject.postId))) throw postNotFound(subject.postId)
      record('post.deleted', subject.postId, subject.title)
      return undefined
    }),
})

interface Places {
  boardId?: string[] | undefined
  roadmapId?: string | null | undefined
  authorId?: string | undefined
}

/** Throws a VALIDATION_ERROR for a place or a person that does not exist, or that the actor may not see. */
async function filterFrom(
  ctx: Context,
  { boardId: boards = [], roadmapId, authorId }: Places,
): Promise<Omit<PostFilter, 'sort'>> {
  return {
    boards: [...new Set(await Promise.all(boards.map(async (given) => (await visibleBoard(ctx, given)).boardId)))],
    roadmap: (await roadmapIdFrom(ctx, roadmapId)) ?? undefined,
    author: await authorIdFrom(ctx, authorId),
    hidden: can(ctx.actor, 'board:read'),
  }
}

async function postsShown(ctx: Context, rows: PostView[], voter?: unknown): Promise<Post[]> {
  const voters = await votersOf(ctx, rows, voter)
  return rows.map((post, index) => toPost(ctx, post, voters[index]))
}

function assertMayChange(actor: Actor, { userId }: PostView): void {
  const isAuthor =
    actor.userId !== null && actor.userId === userId && (!actor.key?.isLimited || can(actor, 'post:create'))
  if (!isAuthor && !can(actor, 'post:update')) throw notAllowed(['post:update'])
}

const titleMissing = () =>
  invalidField({
    code: 'POST_TITLE_MISSING',
    message: 'title is missing.',
    field: 'title',
    rule: 'given, unless partial is true',
  })

/** As in the contract, an id wins over a slug. `id` and `postId` may hold a slug too. */
async function postGiven(ctx: Context, { id, postId, slug }: Record<string, unknown>): Promise<PostView> {
  const given = [id, postId, slug].filter((text): text is string => typeof text === 'string' && text.trim() !== '')
  return visiblePost(
    ctx,
    given.find((text) => text !== slug && isId(text.trim())) ?? (given.includes(slug as string) ? slug : given[0]),
  )
}

/** The post by id, slug or number. Throws POST_NOT_FOUND, also where the actor may not see it. */
export async function visiblePost({ db, actor }: Pick<Context, 'db' | 'actor'>, given: unknown): Promise<PostView> {
  const which = typeof given === 'string' ? given.trim() : ''
  if (which === '') throw new AppError('POST_NOT_FOUND', 'Which post? Give its number, slug or id.')
  const post = await findPost(db, which)
  if (!post || (post.display === 0 && !can(actor, 'board:read'))) throw postNotFound(which)
  return post
}

/** The post of a cursor, if it is in this list. */
async function postAtCursor(
  { db }: Context,
  { boards, roadmap, author, hidden }: PostFilter,
  after: string,
): Promise<PostView | undefined> {
  const post = await findPost(db, after)
  const listed =
    post?.postId === after &&
    (hidden || post.display === 1) &&
    (boards.length === 0 || boards.includes(post.boardId ?? '')) &&
    (roadmap === undefined || post.roadmap_id === roadmap) &&
    (author === undefined || post.userId === author)
  return listed ? post : undefined
}

const postNotFound = (given: string) => new AppError('POST_NOT_FOUND', `There is no post ${quoted(given)}.`)
