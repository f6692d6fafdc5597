import * as Type from 'typebox'
import { findRoadmap } from '../db/roadmaps.js'
import type { PostView } from '../db/posts/row.js'
import type { Context } from './lib/context.js'
import { readersOf, toFollowers } from './lib/news.js'
import { operation } from './lib/operation.js'
import { roadmapIdAfter } from './lib/postplaces.js'
import { fields, inPath, nullable } from './lib/schemas.js'
import { viewerOf } from './lib/sessions.js'
import { visiblePost } from './lib/whichpost.js'

const Audience = Type.Object({
  people: Type.Integer({ description: 'How many are told; each is in one of the numbers below' }),
  mail: Type.Integer({ description: 'Of them by a mail at once' }),
  digest: Type.Integer({ description: 'In their next digest' }),
  page: Type.Integer({ description: 'On their page of notifications alone' }),
})
export type Audience = Type.Static<typeof Audience>

export const audience = operation({
  id: 'posts.audience',
  summary: 'Count who would be told of a new status or a message of the team',
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
  }),
  output: Type.Object({ audience: Audience }),
  subject: (ctx, { post_id: given }) => visiblePost(ctx, given),
  async run(ctx, { roadmapId, message }, post) {
    const audience = { people: 0, mail: 0, digest: 0, page: 0 }
    const news = toFollowers(post, {
      by: await viewerOf(ctx),
      comment: message ? { id: '' } : undefined,
      roadmap: await newStatus(ctx, roadmapId, post),
    })
    if (!news || post.is_spam !== 0) return { audience }
    for await (const readers of readersOf(ctx.db, news, { now: ctx.now, mail: ctx.mail }))
      for (const { mail } of readers) {
        audience.people++
        audience[mail === 'now' || mail === 'quiet' ? 'mail' : (mail ?? 'page')]++
      }
    return { audience }
  },
})

/** Undefined where the status stays, or the post is to have none. */
async function newStatus(ctx: Context, given: string | null | undefined, post: PostView) {
  const id = await roadmapIdAfter(ctx, given, post)
  if (id === null || id === post.roadmap_id) return undefined
  return { id, isPrivate: (await findRoadmap(ctx.db, id))?.display !== 1 }
}
