import { setImmediate } from 'node:timers/promises'
import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { SHOWN } from '../core/hidden.js'
import { postList } from '../db/posts/list.js'
import type { ReachedPost } from '../db/posts/read.js'
import { newStatus } from './audience.js'
import type { Context } from './lib/context.js'
import { readersOfAny, toFollowers, type Telling } from './lib/news.js'
import { operation } from './lib/operation.js'
import { filterFields, queryField } from './lib/postfilter.js'
import { roadmapIdTo } from './lib/postplaces.js'
import { fields } from './lib/schemas.js'
import { filterAsked } from './lib/searchquery.js'
import { viewerOf } from './lib/sessions.js'
import { viewField, withView } from './lib/views.js'
import { assertVotesSeen } from './lib/voters.js'

/** Posts that are looked at, and people that are counted. */
const [MOST_POSTS, MOST_PEOPLE] = [1000, 10_000]

export const audienceAll = operation({
  id: 'posts.audienceAll',
  summary: `Count who would be told of a new status of all posts of a list, each person once; of more than ${MOST_POSTS} posts, the newest ${MOST_POSTS}; needs dashboard:read if a board hides its votes`,
  http: 'GET /posts/audience 200',
  access: 'post:update',
  errors: ['ROADMAP_NOT_FOUND', 'NOT_ENOUGH_PERMISSION', 'VIEW_NOT_FOUND'],
  input: fields({
    to: Type.String({
      description: 'Id or url of the new roadmap; posts that are on it tell nobody',
      names: 'roadmap',
    }),
    ...filterFields,
    query: queryField,
    view: viewField,
    most: Type.Integer({
      minimum: 1,
      maximum: MOST_PEOPLE,
      default: MOST_PEOPLE,
      description: 'Stop counting after so many people',
    }),
  }),
  output: Type.Object({
    audience: Type.Object({
      people: Type.Integer({ description: 'How many are told, at most `most`' }),
      is_capped: Type.Optional(
        Type.Boolean({ description: 'Whether there may be more: it stopped at `most`, or left out older posts' }),
      ),
    }),
  }),
  async run(ctx, { to, most, ...input }) {
    const { input: asked, isNothing } = await withView(ctx, input)
    const filter = await filterAsked(ctx, asked, { isNothing })
    const found = await postList(ctx.db, filter, 'newest').readReached({ limit: MOST_POSTS + 1 })
    const posts = found.slice(0, MOST_POSTS)
    await assertVotesSeen(ctx, posts)
    const told = new Set<string>()
    for (const { news, postIds } of await newsAmong(ctx, posts, to))
      for await (const readers of readersOfAny(ctx.db, { news, postIds }, ctx)) {
        for (const { userId } of readers) told.add(userId)
        await setImmediate() // other requests get their turn
        if (told.size > most) return { audience: { people: most, is_capped: true } }
      }
    const isCapped = found.length > posts.length
    return { audience: { people: told.size, ...(isCapped && { is_capped: true }) } }
  },
})

/** The news of the new status, and the posts that tell it: those that only some may read tell it to these. */
async function newsAmong(ctx: Context, posts: readonly ReachedPost[], to: string) {
  const by = await viewerOf(ctx)
  await roadmapIdTo(ctx, to, null, 'to') // refused where there is no such roadmap
  const statuses = new Map<string, Promise<Awaited<ReturnType<typeof newStatus>>>>()
  /** A post keeps a private status that the caller may not see. */
  const statusOf = (post: ReachedPost) =>
    newStatus(ctx, to, post).catch((error: unknown) => {
      if (error instanceof AppError && error.status < 500) return undefined
      throw error
    })
  const groups = new Map<string, { news: Telling; postIds: string[] }>()
  for (const post of posts) {
    const key = `${post.roadmap_id} ${post.roadmapDisplay}`
    const status = statuses.get(key) ?? statusOf(post)
    statuses.set(key, status)
    const news = post.is_spam === SHOWN ? toFollowers(post, { by, comment: undefined, roadmap: await status }) : undefined // prettier-ignore
    if (!news) continue
    const group = groups.get(news.needs.join(' ')) ?? { news, postIds: [] }
    group.postIds.push(post.postId)
    groups.set(news.needs.join(' '), group)
  }
  return groups.values()
}
