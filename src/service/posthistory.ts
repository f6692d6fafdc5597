import * as Type from 'typebox'
import { listComments } from '../db/comments.js'
import { listMerged } from '../db/merges.js'
import { listMovers, listMoves, type Mover, type PostMove } from '../db/posts/moves.js'
import { can, type Actor } from './lib/access.js'
import type { CachedContext } from './lib/context.js'
import { operation } from './lib/operation.js'
import { authorOf, PublicUser } from './lib/people.js'
import { fields, inPath, oneOf } from './lib/schemas.js'
import { visiblePost } from './lib/whichpost.js'
import { toMerged } from './merges.js'

/** Moves that a history shows at most. */
const MOST = 100

const Place = Type.Object({ name: Type.String(), url: Type.String(), color: Type.String() })
const end = (description: string) => Type.Union([Place, Type.Null()], { description })
const Move = Type.Object({
  kind: oneOf(['roadmap', 'board', 'merge']),
  from: end('null: none, one that is deleted, or one that you may not see'),
  to: end('null, as for from'),
  movedAt: Type.String({ format: 'date-time' }),
  merged: Type.Optional(
    Type.Object(
      { postId: Type.String({ format: 'uuid' }), number: Type.Integer(), title: Type.String() },
      { description: 'The post that was merged into this one, if the kind is merge' },
    ),
  ),
  comment_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'The comment with what the team said about it; absent if it said nothing',
    }),
  ),
  movedBy: Type.Optional(
    Type.Union([PublicUser, Type.Null()], {
      description:
        'For users who may change posts of others: who moved or merged it; null at the command line, with a deleted roadmap or board, and where the account is deleted. Absent for others',
    }),
  ),
})
export type Move = Type.Static<typeof Move>

export const history = operation({
  id: 'posts.history',
  summary: "List a post's moves between roadmaps and boards and the posts merged into it, newest first",
  http: 'GET /posts/:post_id/history 200',
  access: 'public',
  cache: 'actor',
  errors: ['POST_NOT_FOUND'],
  input: fields({ post_id: inPath('Id, slug or number of the post', 'post') }),
  output: Type.Object({ history: Type.Array(Move, { description: `The newest ${MOST}` }) }),
  subject: (ctx, { post_id: given }) => visiblePost(ctx, given),
  async run(ctx, _input, { postId }) {
    const { db, actor } = ctx
    const moves = await listMoves(db, postId, MOST)
    const said = moves.length > 0 ? await messagesOf(ctx, postId) : new Map<string, string>()
    const movers = can(actor, 'post:update') ? await listMovers(db, postId, MOST) : undefined
    const found = moves.flatMap((move) =>
      shown(actor, move).map((each) => {
        const message = move.kind === 'roadmap' ? said.get(move.movedAt) : undefined
        return {
          ...each,
          ...(message !== undefined && { comment_id: message }),
          ...(movers && { movedBy: moverOf(ctx, movers.get(move.id)) }),
        }
      }),
    )
    const all = [...found, ...(await mergesOf(ctx, postId))]
    return { history: all.toSorted((one, other) => (one.movedAt < other.movedAt ? 1 : one.movedAt > other.movedAt ? -1 : 0)).slice(0, MOST) } // prettier-ignore
  },
})

async function mergesOf(ctx: CachedContext, rootId: string): Promise<Move[]> {
  const merged = await listMerged(ctx.db, { rootId, hidden: can(ctx.actor, 'board:read') }, { limit: MOST })
  return merged.map((row) => {
    const { postId, number, title, merged_at: movedAt, merged_by: movedBy } = toMerged(ctx, row)
    return {
      kind: 'merge',
      from: null,
      to: null,
      movedAt,
      merged: { postId, number, title },
      ...(movedBy !== undefined && { movedBy }),
    }
  })
}

/** The ids of the updates that everybody sees, by their time: that of the move that they came with. */
async function messagesOf({ db }: CachedContext, postId: string): Promise<ReadonlyMap<string, string>> {
  const filter = { postId, official: true, visibility: ['public'], spam: false, viewer: null, author: undefined, period: {}, created: 'desc' } as const // prettier-ignore
  const updates = await listComments(db, filter, { limit: MOST })
  return new Map(updates.map(({ created_at: at, id }) => [at, id]))
}

const moverOf = (ctx: CachedContext, mover: Mover | undefined) => (mover?.userId == null ? null : authorOf(ctx, mover))

/** Nothing of a move between places that the actor may not see. */
function shown(actor: Actor, { kind, from, to, movedAt }: PostMove): Move[] {
  const place = ({ name, url, color, display }: PostMove['to']) =>
    name !== null && url !== null && color !== null && (display === 1 || can(actor, `${kind}:read`))
      ? { name, url, color }
      : null
  const move = { kind, from: place(from), to: place(to), movedAt }
  const isHidden = (given: PostMove['to']) => given.id !== null && given.display === 0 && !can(actor, `${kind}:read`)
  return move.from === null && move.to === null && (isHidden(from) || isHidden(to)) ? [] : [move]
}
