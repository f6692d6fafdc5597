import * as Type from 'typebox'
import { peopleAround, teamOf } from '../db/mentions.js'
import { isMentionable } from '../core/mentionable.js'
import { can } from './lib/access.js'
import type { Context } from './lib/context.js'
import { operation } from './lib/operation.js'
import { authorOf, PublicUser } from './lib/people.js'
import { fields, inPath } from './lib/schemas.js'
import { viewerOf } from './lib/sessions.js'
import { visiblePost } from './lib/whichpost.js'

export type Mentionable = Type.Static<typeof PublicUser>

/** People that an answer has at most. */
const MOST = 100

export const people = operation({
  id: 'posts.people',
  summary:
    'List people to mention on a post: who wrote it, who commented on it, and the team; voters are not among them',
  http: 'GET /posts/:post_id/people 200',
  access: 'signed-in',
  limit: 'people',
  errors: ['POST_NOT_FOUND'],
  input: fields({ post_id: inPath('Id, slug or number of the post', 'post') }),
  output: Type.Object({
    people: Type.Array(PublicUser, { description: `Up to ${MOST}, those who commented last first; without yourself` }),
  }),
  subject: (ctx, { post_id: given }) => visiblePost(ctx, given),
  async run(ctx, _input, { postId, userId: author }) {
    const found = await peopleAround(ctx.db, { postId, author, internal: can(ctx.actor, 'comment:view_internal') })
    return { people: await othersOf(ctx, found) }
  },
})

export const team = operation({
  id: 'posts.team',
  summary: 'List people to mention in a new post: the team',
  http: 'GET /people 200',
  access: 'signed-in',
  limit: 'people',
  errors: [],
  input: fields({}),
  output: Type.Object({ people: Type.Array(PublicUser, { description: `Up to ${MOST}, without yourself` }) }),
  async run(ctx) {
    return { people: await othersOf(ctx, await teamOf(ctx.db)) }
  },
})

async function othersOf(
  ctx: Pick<Context, 'db' | 'actor' | 'siteUrl'>,
  found: Awaited<ReturnType<typeof teamOf>>,
): Promise<Mentionable[]> {
  const self = await viewerOf(ctx)
  return found
    .filter(({ userId, username }) => userId !== self && isMentionable(username))
    .slice(0, MOST)
    .map((person) => authorOf(ctx, person))
}
