import * as Type from 'typebox'
import { asStored } from '../core/ids.js'
import { hidesFinished, UNFINISHED } from '../core/statuskinds.js'
import { followedAmong } from '../db/posts/followed.js'
import { teamAmong } from '../db/team.js'
import { postList } from '../db/posts/list.js'
import { SORTS, STEADY } from '../db/posts/order.js'
import { postAtCursor, searchPosts } from '../db/posts/read.js'
import type { PostView } from '../db/posts/row.js'
import { postsNumbered } from '../db/searchhits.js'
import { can, SIGN_IN_ERRORS } from './lib/access.js'
import { postCells } from './lib/cells.js'
import type { CachedContext } from './lib/context.js'
import { csvOf } from './lib/csvof.js'
import { undecidedAmong } from './lib/mergeable.js'
import { operation } from './lib/operation.js'
import {
  alias,
  cappedKey,
  pageFields,
  pageKeys,
  pageOf,
  uncountedKeys,
  uncountedPage,
  type Listing,
} from './lib/paging.js'
import { filterFields, filterFrom, queryField, wordsOf } from './lib/postfilter.js'
import { Post, tagsAmong, takenAmong, toPost } from './lib/postshapes.js'
import { fields, inPath, oneOf } from './lib/schemas.js'
import { filterAsked } from './lib/searchquery.js'
import { viewerOf } from './lib/sessions.js'
import { findSimilar } from './lib/similar.js'
import { reasonsOf, SimilarReason } from './lib/similarreasons.js'
import { orderFields } from './lib/times.js'
import { OpenView, viewField, withView } from './lib/views.js'
import { orderFor } from './lib/order.js'
import { voterGiven, votersOf, votesGiven, type VotesAsked } from './lib/voters.js'

const POSTS: Listing<PostView> = { row: 'post', rows: 'Posts', id: 'postId', alias: true }

const FOUND: Listing<PostView> = { row: 'post', rows: 'Posts', id: 'postId', size: 20, pages: 250 }

/** The default and the maximum of `limit`. */
const [SIMILAR, MAX_SIMILAR] = [5, 20]
/** Characters of a title and of a text that are read. */
const [MAX_TITLE, MAX_TEXT] = [200, 1000]

export const list = operation({
  id: 'posts.list',
  summary: 'List posts, newest first',
  http: 'POST /posts/get 200',
  access: 'public',
  cache: 'actor',
  errors: [...SIGN_IN_ERRORS, 'NOT_ENOUGH_PERMISSION', 'VIEW_NOT_FOUND'],
  input: fields({
    sort: Type.Optional(
      oneOf(SORTS, {
        anyCase: true,
        steady: STEADY,
        description:
          'Order (default: newest). trending sorts by votes, and each vote counts half as much after a week. It hides posts that are done or declined unless you filter by status, query, view or your own posts',
      }),
    ),
    created: Type.Optional(
      oneOf(['asc', 'desc'], {
        anyCase: true,
        description: 'Direction of creation time, for older clients; sort wins',
      }),
    ),
    ...pageFields(POSTS),
    ...filterFields,
    query: queryField,
    view: viewField,
    votes: votesGiven,
    userId: voterGiven,
  }),
  output: Type.Object({
    posts: Type.Array(Post),
    results: alias(Post),
    view: Type.Optional(OpenView),
    ...pageKeys,
    ...cappedKey,
  }),
  async run(ctx, input) {
    const { db } = ctx
    const { input: asked, view, isNothing } = await withView(ctx, input)
    const { sort, created, votes, userId } = asked
    const filter = await filterAsked(ctx, hidesFinished({ ...asked, view: input.view }) ? { ...asked, statusKind: [...UNFINISHED] } : asked, { isNothing }) // prettier-ignore
    const { order, cover } = await orderFor(ctx, filter, sort ?? (created === 'asc' ? 'oldest' : 'newest'))
    const found = postList(db, filter, order, cover)
    const totalOf = async () => (await found.count()).total
    const { rows: posts, keys } = await pageOf(POSTS, input, {
      total: found.countsPages ? totalOf : await totalOf(),
      find: (after) => postAtCursor(db, filter, after),
      read: (slice) => found.read(slice),
      show: (rows) => postsShown(ctx, rows, { votes, voter: userId }),
    })
    const { isCapped } = await found.count()
    return { posts, ...(view && { view }), ...keys, ...(isCapped && { is_capped: true }) }
  },
})

export const downloadAll = csvOf(list, {
  id: 'posts.download',
  summary: 'Download all posts of a list as CSV or JSON lines',
  http: 'GET /export/posts 200',
  file: 'posts',
  rows: ({ posts }) => posts,
  cells: postCells,
  fixed: { votes: false, userId: undefined, created: undefined },
  fields: { sort: oneOf(STEADY, { default: 'newest', anyCase: true, description: 'Order' }) },
})

export const search = operation({
  id: 'posts.search',
  summary: 'Find posts with all these words in the title or text, newest first',
  http: 'GET /posts/search/:words 200',
  access: 'public',
  errors: [...SIGN_IN_ERRORS, 'NOT_ENOUGH_PERMISSION'],
  input: fields({
    words: inPath('Words, or how words begin; letter case, accents and punctuation do not count'),
    ...filterFields,
    ...orderFields('desc'),
    ...pageFields(FOUND),
    votes: votesGiven,
  }),
  output: Type.Object({
    posts: Type.Array(Post),
    has_next_page: Type.Boolean({ description: 'The same as in page_info' }),
    ...uncountedKeys,
    ...cappedKey,
  }),
  async run(ctx, input) {
    const { words: text, votes, created } = input
    const filter = await filterFrom(ctx, input, wordsOf(text))
    let isCapped: boolean | undefined
    const { rows: posts, keys } = await uncountedPage(FOUND, input, {
      find: (after) => postAtCursor(ctx.db, filter, after),
      async read(slice) {
        const found = await searchPosts(ctx.db, filter, created, slice)
        isCapped = found.isCapped
        return found.rows
      },
      show: (rows) => postsShown(ctx, rows, { votes }),
    })
    return {
      posts,
      has_next_page: keys.page_info.has_next_page,
      ...keys,
      ...(isCapped && { is_capped: true }),
    }
  },
})

export const similar = operation({
  id: 'posts.similar',
  summary: 'Find the posts that a new one may repeat, by its title, the most alike first',
  http: 'GET /posts/similar 200',
  access: 'public',
  limit: 'similar',
  errors: [],
  input: fields({
    title: Type.String({ description: `Title of the new post; its first ${MAX_TITLE} characters count` }),
    text: Type.Optional(
      Type.String({ description: `Its text, which counts less; its first ${MAX_TEXT} characters count` }),
    ),
    except: Type.Optional(
      Type.String({ format: 'uuid', description: 'The post that has this title, which is left out' }),
    ),
    limit: Type.Integer({ minimum: 1, maximum: MAX_SIMILAR, default: SIMILAR, description: 'Posts, at most' }),
  }),
  output: Type.Object({
    posts: Type.Array(Post),
    reasons: Type.Array(SimilarReason, { description: 'Why each of them is like it, in the same order' }),
  }),
  async run(ctx, { title, text = '', except, limit }) {
    const asked = {
      title: title.slice(0, MAX_TITLE),
      text: text.slice(0, MAX_TEXT),
      except: except && asStored(except),
      limit,
    }
    const hidden = can(ctx.actor, 'board:read')
    const { found, parts } = await findSimilar(ctx.db, await filterFrom(ctx, {}), asked, { hidden })
    const rows = await postsNumbered(ctx.db, found.map(({ post }) => post.number)) // prettier-ignore
    const byNumber = new Map(rows.map((row) => [row.number, row]))
    const alike = found.flatMap(({ post, score }) => {
      const row = byNumber.get(post.number)
      return row ? [{ row, score }] : [] // deleted meanwhile
    })
    return {
      posts: await postsShown(ctx, alike.map(({ row }) => row), { votes: false }), // prettier-ignore
      reasons: await reasonsOf(ctx, parts, alike),
    }
  },
})

export async function postsShown(ctx: CachedContext, rows: PostView[], asked: VotesAsked): Promise<Post[]> {
  const voters = await votersOf(ctx, rows, asked)
  const taken = await takenAmong(ctx, rows)
  const viewer = await viewerOf(ctx)
  const ids = rows.map(({ postId }) => postId)
  const followed = viewer === null ? new Set<string>() : await followedAmong(ctx.db, viewer, ids)
  const tags = await tagsAmong(ctx, ids)
  const team = await teamAmong(
    ctx.db,
    rows.map(({ userId }) => userId),
  )
  const undecided = await undecidedAmong(ctx, rows)
  return rows.map((post, index) => toPost(ctx, post, voters[index], { taken, followed, tags, team, undecided }))
}
