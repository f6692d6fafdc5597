import * as Type from 'typebox'
import { parseQuery } from '../core/search/grammar.js'
import { marksIn, pieceAround } from '../core/search/marks.js'
import { MATCHES, PLACES } from '../core/search/rank.js'
import { postsNumbered } from '../db/searchhits.js'
import { can, SIGN_IN_ERRORS } from './lib/access.js'
import type { Context } from './lib/context.js'
import { findHits, MOST_HITS, type Hit } from './lib/hits.js'
import { operation } from './lib/operation.js'
import { coverFor } from './lib/order.js'
import { cappedKey, pageFields, uncountedKeys, uncountedPage, type Listing } from './lib/paging.js'
import { authorOf, PublicUser } from './lib/people.js'
import { filterFields, filterFrom } from './lib/postfilter.js'
import { Post } from './lib/postshapes.js'
import { fields, oneOf } from './lib/schemas.js'
import { isSaying, narrowed } from './lib/searchquery.js'
import { viewerOf } from './lib/sessions.js'
import { postsShown } from './postlists.js'

const HITS: Listing<Hit> = { row: 'hit', rows: 'Hits', id: 'postId', size: 20, pages: MOST_HITS }

/** Characters of an excerpt. */
const EXCERPT = 240

const Marks = (of: string) =>
  Type.Array(Type.Object({ from: Type.Integer(), to: Type.Integer() }), {
    description: `Where ${of} has what was looked for: from and to, in UTF-16 code units`,
  })

const SearchHit = Type.Object({
  post: Type.Omit(Post, ['contentMarkdown']),
  found_in: oneOf(PLACES, { description: 'The best place where it was found' }),
  match: oneOf(MATCHES, {
    description:
      'phrase: the words side by side; all: all words; some: some of them; near: all of them, some in another spelling; inside: all of them, some inside longer words',
  }),
  title_marks: Marks('the title'),
  excerpt: Type.String({ description: 'Of the text or the comment, around what was found; plain text' }),
  excerpt_marks: Marks('excerpt'),
  comment: Type.Optional(
    Type.Object(
      { id: Type.String({ format: 'uuid' }), author: PublicUser, created_at: Type.String({ format: 'date-time' }) },
      { description: 'The comment that has the words; absent where the post has them' },
    ),
  ),
})
export type SearchHit = Type.Static<typeof SearchHit>

export const find = operation({
  id: 'search.find',
  summary: 'Find posts by their titles, texts and comments, the best first',
  http: 'GET /search 200',
  access: 'public',
  errors: [...SIGN_IN_ERRORS, 'NOT_ENOUGH_PERMISSION'],
  input: fields({
    query: Type.Optional(
      Type.String({
        maxLength: 500,
        description: 'What to look for, such as "dark mode" -legacy board:ideas status:planned author:eve tag:mobile is:mine is:open votes:>10 after:2026-01-01 #12', // prettier-ignore
      }),
    ),
    ...filterFields,
    ...pageFields(HITS),
  }),
  output: Type.Object({
    hits: Type.Array(SearchHit),
    unknown: Type.Array(Type.String(), { description: 'Parts of the query that name nothing here, such as board:nowhere; then there are no hits' }), // prettier-ignore
    ...uncountedKeys,
    ...cappedKey,
  }),
  async run(ctx, { query: text = '', ...input }) {
    const query = parseQuery(text)
    const { filter, unknown } = await narrowed(ctx, await filterFrom(ctx, input), query)
    const readable = {
      internal: can(ctx.actor, 'comment:view_internal'),
      spam: can(ctx.actor, 'comment:update:any'),
      viewer: await viewerOf(ctx),
      isCovered: (await coverFor(ctx)) !== undefined,
    }
    const { hits, isCapped, words } = !isSaying(query)
      ? { hits: [], isCapped: false, words: [] }
      : await findHits({ db: ctx.db, filter, query, readable, now: ctx.now().getTime() })
    const { rows, keys } = await uncountedPage(HITS, input, {
      find: async (after) => hits.find(({ postId }) => postId === after),
      read: async ({ limit, offset, after }) => {
        const from = after ? hits.indexOf(after) + 1 : (offset ?? 0)
        return hits.slice(from, from + limit)
      },
      show: (some) => shown(ctx, some, words),
    })
    return { hits: rows, unknown, ...keys, ...(isCapped && { is_capped: true }) }
  },
})

async function shown(ctx: Context, hits: readonly Hit[], words: readonly string[]): Promise<SearchHit[]> {
  const rows = await postsNumbered(ctx.db, hits.map(({ number }) => number)) // prettier-ignore
  const { excerptOf } = await import('../core/markdown/excerpt.js') // with the first search, not with the server
  const shownPosts = await postsShown(ctx, rows, { votes: false })
  const posts = new Map(shownPosts.map((post) => [post.number, post]))
  return hits.flatMap((hit) => {
    const found = posts.get(hit.number)
    if (!found) return [] // deleted meanwhile
    const { contentMarkdown, ...post } = found
    const { comment } = hit
    const { piece, isCut } = pieceAround(comment ? comment.text : (contentMarkdown ?? ''), words)
    const plain = excerptOf(piece, EXCERPT)
    const excerpt = isCut && plain !== '' ? `…${plain}` : plain
    return [
      {
        post,
        found_in: hit.foundIn,
        match: hit.match,
        title_marks: marksIn(post.title, words),
        excerpt,
        excerpt_marks: marksIn(excerpt, words),
        ...(comment && { comment: { id: comment.id, author: commenterOf(ctx, comment), created_at: comment.writtenAt } }), // prettier-ignore
      },
    ]
  })
}

const commenterOf = (
  ctx: Context,
  { authorId: userId, authorName: name, authorUsername: username, authorAvatar: avatar }: NonNullable<Hit['comment']>,
) => authorOf(ctx, { userId, name, username, avatar })
