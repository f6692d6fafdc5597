import * as Type from 'typebox'
import { UNFINISHED } from '../core/statuskinds.js'
import { MOST_TITLES, type BoardedPost } from '../db/posts/compared.js'
import { findClusters } from './lib/duplicates.js'
import { operation } from './lib/operation.js'
import { filterFields, filterFrom } from './lib/postfilter.js'
import { roadmapsOfKinds } from './lib/postplaces.js'
import { fields } from './lib/schemas.js'
import { mergedReason } from './lib/similarreasons.js'
import { votesHidden, votesSeen } from './lib/voters.js'

/** Posts that are compared, with `all` and without: all of them are in memory meanwhile. */
const MOST = 2000
export const MOST_OF_ALL = 20_000
/** What they count of the limit of searches for similar posts. */
const [WEIGHT, WEIGHT_OF_ALL] = [5, 20]

const one = {
  postId: Type.String({ format: 'uuid' }),
  number: Type.Integer(),
  title: Type.String(),
  slug: Type.String(),
  votesCount: Type.Integer({ description: 'How many voted; 0 where votes_hidden' }),
  votes_hidden: votesHidden,
  createdAt: Type.String({ format: 'date-time' }),
}

const Duplicate = Type.Object({
  ...one,
  score: Type.Number({ description: 'The part of the words of both titles that they share, rare ones counting more: at most 1' }), // prettier-ignore
  words: Type.Array(Type.String(), { description: 'Words of the titles that both posts have, or forms of them' }),
  merged: mergedReason(
    'Words of the title of one that only what was merged into the other has; absent if there are none',
    `Posts merged into one of the two whose titles have such a word, of the ${MOST_TITLES} merged last`,
  ),
  is_apart: Type.Optional(
    Type.Boolean({
      description:
        'true where one of the two is on a private board and the other is not: a merge would show it to everybody, or hide the other; otherwise absent',
    }),
  ),
})

const Cluster = Type.Object({
  into: Type.Object(one, {
    description:
      'The post that should stay: planned or begun, or else the one with the most votes where these are shown, or else the oldest',
  }),
  posts: Type.Array(Duplicate, {
    description: 'Up to 100 posts like it, the most alike first, those that are apart last',
  }),
})
export type Cluster = Type.Static<typeof Cluster>

export const duplicates = operation({
  id: 'posts.duplicates',
  summary: 'List clusters of open posts that look like the same wish, with the words that they share',
  http: 'GET /posts/duplicates 200',
  access: 'post:update',
  limit: 'similar',
  weight: ({ all }) => (all === true ? WEIGHT_OF_ALL : WEIGHT),
  errors: [],
  input: fields({
    boardId: filterFields.boardId,
    limit: Type.Integer({ minimum: 1, maximum: 500, default: 20, description: 'Clusters, the most alike first' }),
    all: Type.Optional(
      Type.Boolean({
        description: `Compare the newest ${MOST_OF_ALL} open posts, in place of the newest ${MOST}`,
      }),
    ),
  }),
  output: Type.Object({
    clusters: Type.Array(Cluster),
    compared: Type.Integer({ description: 'Posts that were compared' }),
    is_capped: Type.Optional(
      Type.Boolean({ description: 'true if there are more open posts, which were not compared; otherwise absent' }),
    ),
  }),
  async run(ctx, { boardId = [], limit, all = false }) {
    const filter = await filterFrom(ctx, { boardId, statusKind: [...UNFINISHED] })
    const ahead = new Set(await roadmapsOfKinds(ctx, ['planned', 'active']))
    const { clusters, looked, isCapped } = await findClusters(
      ctx.db,
      { ...filter, spam: false },
      { most: all ? MOST_OF_ALL : MOST, limit, ahead, actor: ctx.actor },
    )
    const seen = await votesSeen(
      ctx,
      clusters.flatMap(({ into, posts }) => [into, ...posts.map(({ post }) => post)]),
    )
    return {
      clusters: clusters.map(({ into, posts }) => ({
        into: toOne(into, seen),
        posts: posts.map(({ post, score, words, merged, isApart }) => ({
          ...toOne(post, seen),
          score: Math.round(score * 100) / 100,
          words,
          ...(merged && { merged }),
          ...(isApart && { is_apart: true }),
        })),
      })),
      compared: looked,
      ...(isCapped && { is_capped: true }),
    }
  },
})

const toOne = ({ postId, number, title, slug, votesCount, createdAt }: BoardedPost, seen: ReadonlySet<string>) => ({
  postId,
  number,
  title,
  slug,
  ...(seen.has(postId) ? { votesCount } : { votesCount: 0, votes_hidden: true }),
  createdAt,
})
