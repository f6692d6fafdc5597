import * as Type from 'typebox'
import { searchWords } from '../core/words.js'
import type { PostFilter } from '../db/posts/filter.js'
import { postList } from '../db/posts/list.js'
import { SORTS, STEADY } from '../db/posts/order.js'
import { MOST_FOUND, postAtCursor, searchPosts } from '../db/posts/read.js'
import type { PostView } from '../db/posts/row.js'
import { similarPosts } from '../db/posts/similar.js'
import { assertSignedIn, can, SIGN_IN_ERRORS } from './lib/access.js'
import { postCells } from './lib/cells.js'
import type { CachedContext } from './lib/context.js'
import { csvOf } from './lib/csvof.js'
import { NONE } from './lib/named.js'
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
import { assertFew, authorIdFrom, boardIdsFrom, roadmapIdFrom, roadmapIdsFrom } from './lib/postplaces.js'
import { Post, takenAmong, toPost } from './lib/postshapes.js'
import { fields, inPath, nullable, oneOf } from './lib/schemas.js'
import { personOf } from './lib/sessions.js'
import { orderFields, periodFields, periodFrom } from './lib/times.js'
import { voterGiven, votersOf, votesGiven, type VotesAsked } from './lib/voters.js'

const POSTS: Listing<PostView> = { row: 'post', rows: 'Posts', id: 'postId', alias: true }

const FOUND: Listing<PostView> = { row: 'post', rows: 'Posts', id: 'postId', size: 20, pages: 250 }

/** Words of a search that count. */
const MAX_WORDS = 16

const wordsOf = (text: string) => searchWords(text).slice(0, MAX_WORDS)

/** Posts shown beside a new one. */
const MAX_SIMILAR = 5
/** Shorter words say little, in scripts that have them. */
const MIN_LENGTH = 3
/** Words of a title that are looked for: the longest. */
const MAX_TITLE_WORDS = 5
/** Characters of a title that are read. */
const MAX_TITLE = 200

/** Which posts. */
const placeFields = {
  boardId: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 50,
      rule: 'a list of up to 50 board ids or urls',
      description: `Only posts on these boards: ids or urls, or "${NONE}" for posts without a board`,
      names: 'board',
    }),
  ),
  roadmapIds: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 50,
      rule: 'a list of up to 50 roadmap ids or urls',
      description: `Only posts on these roadmaps: ids or urls, or "${NONE}" for posts without a roadmap, which needs roadmap:read`,
      names: 'roadmap',
    }),
  ),
  roadmapId: Type.Optional(
    nullable('string', { description: 'Only posts on this roadmap: id or url', names: 'roadmap' }),
  ),
  authorId: Type.Optional(Type.String({ description: 'Only by this user: id or user name', names: 'user' })),
  ...periodFields('posts written'),
}

export const list = operation({
  id: 'posts.list',
  summary: 'List posts, newest first',
  http: 'POST /posts/get 200',
  access: 'public',
  cache: 'actor',
  errors: [...SIGN_IN_ERRORS, 'NOT_ENOUGH_PERMISSION'],
  input: fields({
    sort: Type.Optional(
      oneOf(SORTS, {
        anyCase: true,
        steady: STEADY,
        description: 'Order (default: newest); trending is by votes, and a vote counts half as much after a week',
      }),
    ),
    created: Type.Optional(
      oneOf(['asc', 'desc'], {
        anyCase: true,
        description: 'Direction of creation time, for older clients; sort wins',
      }),
    ),
    ...pageFields(POSTS),
    ...placeFields,
    mine: Type.Optional(Type.Boolean({ description: 'Only your own posts; needs an account' })),
    query: Type.Optional(
      Type.String({
        maxLength: 500,
        description: `Only posts with all these words, or words that begin with them, in the title or text; of these posts only the newest ${MOST_FOUND} count`,
      }),
    ),
    votes: votesGiven,
    userId: voterGiven,
  }),
  output: Type.Object({ posts: Type.Array(Post), results: alias(Post), ...pageKeys, ...cappedKey }),
  async run(ctx, input) {
    const { db } = ctx
    const { mine = false, query, sort, created, votes, userId } = input
    if (mine) assertSignedIn('signed-in', ctx.actor)
    const places = await filterFrom(ctx, input)
    const own = mine ? await personOf(ctx) : undefined
    const filter: PostFilter = {
      ...places,
      author: own ?? places.author,
      words:
        own !== undefined && (places.author ?? own) !== own
          ? []
          : query === undefined || query.trim() === ''
            ? undefined
            : wordsOf(query),
    }
    const order = sort ?? (created === 'asc' ? 'oldest' : 'newest')
    const found = postList(db, filter, order)
    const totalOf = async () => (await found.count()).total
    const { rows: posts, keys } = await pageOf(POSTS, input, {
      total: found.countsPages ? totalOf : await totalOf(),
      find: (after) => postAtCursor(db, filter, after),
      read: (slice) => found.read(slice),
      show: (rows) => postsShown(ctx, rows, { votes, voter: userId }),
    })
    const { isCapped } = await found.count()
    return { posts, ...keys, ...(isCapped && { is_capped: true }) }
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
  errors: ['NOT_ENOUGH_PERMISSION'],
  input: fields({
    words: inPath('Words, or how words begin; letter case, accents and punctuation do not count'),
    ...placeFields,
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
    const filter: PostFilter = {
      ...(await filterFrom(ctx, input)),
      words: wordsOf(text),
    }
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
  summary: 'Find up to five posts whose words are most like the title of a new one',
  http: 'GET /posts/similar 200',
  access: 'public',
  limit: 'similar',
  errors: [],
  input: fields({
    title: Type.String({ description: `Title of the new post; its first ${MAX_TITLE} characters count` }),
  }),
  output: Type.Object({ posts: Type.Array(Post) }),
  async run(ctx, { title }) {
    const words = searchWords(title.slice(0, MAX_TITLE))
      .filter((word) => word.length >= MIN_LENGTH || /\p{Lo}/u.test(word))
      .toSorted((one, other) => other.length - one.length)
      .slice(0, MAX_TITLE_WORDS)
    const searches = words.length > 1 ? [words, ...words.map((word) => [word])] : words.map((word) => [word])
    const found = await similarPosts(ctx.db, await filterFrom(ctx, {}), searches, MAX_SIMILAR)
    return { posts: await postsShown(ctx, found, { votes: false }) }
  },
})

/** Throws a VALIDATION_ERROR for a place or a person that does not exist, or that the actor may not see. */
async function filterFrom(
  ctx: CachedContext,
  {
    boardId: boards = [],
    roadmapIds = [],
    roadmapId,
    authorId,
    since,
    until,
  }: Type.Static<Type.TObject<typeof placeFields>>,
): Promise<Omit<PostFilter, 'words'>> {
  const roadmap = await roadmapIdFrom(ctx, roadmapId)
  const several = roadmapIds.length > 0 ? await roadmapIdsFrom(ctx, roadmapIds) : undefined
  const roadmaps = roadmap === null ? several : (several ?? [roadmap]).filter((id) => id === roadmap)
  const boardIds = await boardIdsFrom(ctx, boards)
  assertFew(boardIds, roadmaps)
  return {
    boards: boardIds,
    roadmaps,
    author: await authorIdFrom(ctx, authorId),
    hidden: can(ctx.actor, 'board:read'),
    ...periodFrom({ since, until }),
  }
}

async function postsShown(ctx: CachedContext, rows: PostView[], asked: VotesAsked): Promise<Post[]> {
  const voters = await votersOf(ctx, rows, asked)
  const taken = await takenAmong(ctx, rows)
  return rows.map((post, index) => toPost(ctx, post, voters[index], taken))
}
