import * as Type from 'typebox'
import { HELD, SHOWN } from '../core/hidden.js'
import { followersOf } from '../db/follows.js'
import { findRoadmap } from '../db/roadmaps.js'
import type { PostView } from '../db/posts/row.js'
import { MOST_AT_ONCE } from './lib/bulk.js'
import { MAX_BODY } from './lib/commentshapes.js'
import type { Context } from './lib/context.js'
import { authorAmong, mentionNews, mergedInto, readersOf, toFollowers, type News, type Reader } from './lib/news.js'
import { operation } from './lib/operation.js'
import { roadmapIdAfter } from './lib/postplaces.js'
import { fields, inPath, listOf, nullable } from './lib/schemas.js'
import { viewerOf } from './lib/sessions.js'
import { assertVotesSeen } from './lib/voters.js'
import { visiblePost } from './lib/whichpost.js'

const Audience = Type.Object({
  people: Type.Integer({ description: 'How many are told; each is in one of the numbers below' }),
  mail: Type.Integer({ description: 'Of them by a mail at once' }),
  digest: Type.Integer({ description: 'In their next digest' }),
  page: Type.Integer({ description: 'On their page of notifications alone' }),
  is_capped: Type.Optional(Type.Boolean({ description: 'Whether there are more, because it stopped at `most`' })),
})
export type Audience = Type.Static<typeof Audience>

export const audience = operation({
  id: 'posts.audience',
  summary:
    'Count who would be told of a new status, a message of the team or a merge; needs dashboard:read if the board hides its votes',
  http: 'GET /posts/:post_id/audience 200',
  access: 'post:update',
  errors: ['POST_NOT_FOUND', 'ROADMAP_NOT_FOUND', 'NOT_ENOUGH_PERMISSION'],
  input: fields({
    post_id: inPath('Id, slug or number of the post', 'post'),
    roadmapId: Type.Optional(
      nullable('string', {
        description: 'Id or url of the new roadmap; the present one tells nobody',
        names: 'roadmap',
      }),
    ),
    message: Type.Boolean({
      default: true,
      fromText: true,
      description: 'With a message, of which also those are told who may not see the roadmap',
    }),
    text: Type.Optional(
      Type.String({ maxLength: MAX_BODY, description: 'The message: whom it mentions is told too', names: 'text' }),
    ),
    also: Type.Optional(
      listOf({
        maxItems: MOST_AT_ONCE,
        description: 'Ids, slugs or numbers of more posts that get the same: each person counts once',
        names: 'post',
      }),
    ),
    most: Type.Optional(Type.Integer({ minimum: 1, description: 'Stop counting after so many people' })),
    into: Type.Optional(
      Type.String({
        description: 'Id, slug or number of a post: count who would be told that the posts are merged into it',
        names: 'post',
      }),
    ),
  }),
  output: Type.Object({ audience: Audience }),
  subject: (ctx, { post_id: given }) => visiblePost(ctx, given),
  async run(ctx, { also = [], into, most = Infinity, ...change }, post) {
    const target = into === undefined ? undefined : await visiblePost(ctx, into)
    const posts = new Map([[post.postId, post]])
    for (const given of also) {
      const other = await visiblePost(ctx, given)
      posts.set(other.postId, other)
    }
    await assertVotesSeen(ctx, [...posts.values()])
    const ways = new Map<string, Way>()
    let isCapped = false
    for (const each of posts.values()) {
      if (isCapped) break
      const told = new Set<string>() // of several news of one change, the first
      for (const news of await (target ? mergeNews(ctx, each, target) : changeNews(ctx, each, change)))
        for await (const readers of readersOf(ctx.db, news, { now: ctx.now, mail: ctx.mail })) {
          for (const { userId, mail } of readers) {
            if (told.has(userId)) continue
            told.add(userId)
            ways.set(userId, sooner(ways.get(userId), wayOf(mail)))
          }
          if ((isCapped = ways.size > most)) break
        }
    }
    const audience: Audience = { people: ways.size, mail: 0, digest: 0, page: 0, ...(isCapped && { is_capped: true }) }
    for (const way of ways.values()) audience[way]++
    return { audience }
  },
})

const WAYS = ['mail', 'digest', 'page'] as const
type Way = (typeof WAYS)[number]

const wayOf = (mail: Reader['mail']): Way => (mail === 'now' || mail === 'quiet' ? 'mail' : (mail ?? 'page'))

/** Who is told of several posts counts once. */
const sooner = (one: Way = 'page', other: Way): Way => (WAYS.indexOf(one) < WAYS.indexOf(other) ? one : other)

/** What a new status of a post, or a message of the team, would tell. */
async function changeNews(
  ctx: Context,
  post: PostView,
  { roadmapId, message, text }: { roadmapId?: string | null | undefined; message: boolean; text?: string | undefined },
): Promise<News[]> {
  if (post.is_spam !== SHOWN) return []
  const by = await viewerOf(ctx)
  const comment = message ? { id: '' } : undefined
  const news = toFollowers(post, { by, comment, roadmap: await newStatus(ctx, roadmapId, post) })
  const mentioned = comment && text ? await mentionNews(ctx.db, { post, by, markdown: text }) : undefined
  return [news, mentioned].filter((each) => each !== undefined)
}

/** What a merge would tell those who follow the post that is merged. */
async function mergeNews(ctx: Context, post: PostView, target: PostView): Promise<News[]> {
  const isHeld = post.is_spam === HELD
  if (post.postId === target.postId || (post.is_spam !== SHOWN && !isHeld) || target.is_spam !== SHOWN) return []
  const people: string[] = []
  for await (const some of followersOf(ctx.db, post.postId)) people.push(...some.map(({ userId }) => userId))
  return [mergedInto(target, { by: await viewerOf(ctx), only: isHeld ? authorAmong(post, people) : people })]
}

/** Undefined where the status stays, or the post is to have none. */
export async function newStatus(
  ctx: Context,
  given: string | null | undefined,
  post: Pick<PostView, 'roadmap_id' | 'roadmapDisplay'>,
) {
  const id = await roadmapIdAfter(ctx, given, post)
  if (id === null || id === post.roadmap_id) return undefined
  return { id, isPrivate: (await findRoadmap(ctx.db, id))?.display !== 1 }
}
