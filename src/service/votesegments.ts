import * as Type from 'typebox'
import { NO_ADDRESS } from '../core/placeholders.js'
import { countVoters, domainsOfVoters, MOST_VOTERS, rolesOfVoters, tagsOfVoters, type Counted } from '../db/votesegments.js' // prettier-ignore
import { operation } from './lib/operation.js'
import { fields, inPath, nullable, oneOf } from './lib/schemas.js'
import { seesVoters, votesSeen } from './lib/voters.js'
import { visiblePost } from './lib/whichpost.js'

const SEGMENTS = ['domain', 'role', 'tag'] as const

const Segment = Type.Object({
  by: oneOf(SEGMENTS, { description: 'What these people share: the domain of their address, a role, or a tag' }),
  name: nullable('string', { description: 'null: people without an address, an assigned role or a tag' }),
  votes: Type.Integer({ description: 'Voters in the segment; who has several roles or tags counts in each' }),
})
export type Segment = Type.Static<typeof Segment>

export const segments = operation({
  id: 'votes.segments',
  summary: 'Count the voters of a post by the domain of their address, their roles and their tags',
  http: 'GET /posts/:post_id/segments 200',
  access: 'user:read',
  errors: ['POST_NOT_FOUND'],
  input: fields({
    post_id: inPath('Id, slug or number of the post', 'post'),
    limit: Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 20,
      description: 'Domains, roles and tags, of each the largest',
    }),
  }),
  output: Type.Object({
    segments: Type.Array(Segment, { description: 'By domain, by role and by tag, each with the largest first' }),
    voters: Type.Integer({ description: 'Voters who were counted' }),
    is_capped: Type.Optional(
      Type.Boolean({ description: `true if only the ${MOST_VOTERS} who voted last were counted; otherwise absent` }),
    ),
  }),
  subject: (ctx, { post_id: given }) => visiblePost(ctx, given),
  async run(ctx, { limit }, post) {
    const { db, actor } = ctx
    const { postId, votesCount, importedVotes } = post
    if (!seesVoters(actor, post) || !(await votesSeen(ctx, [post])).has(postId)) return { segments: [], voters: 0 }
    const shown = (by: Segment['by'], rows: readonly Counted[]): Segment[] =>
      rows.map(({ name, votes }) => ({ by, name: by === 'domain' && name === NO_ADDRESS ? null : name, votes }))
    return {
      segments: [
        ...shown('domain', await domainsOfVoters(db, postId, limit)),
        ...shown('role', await rolesOfVoters(db, postId, limit)),
        ...shown('tag', await tagsOfVoters(db, postId, limit)),
      ],
      voters: await countVoters(db, postId),
      ...(votesCount - importedVotes > MOST_VOTERS && { is_capped: true }),
    }
  },
})
