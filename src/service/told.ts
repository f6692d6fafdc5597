import * as Type from 'typebox'
import { KINDS } from '../core/notificationkinds.js'
import { toldOfPost } from '../db/notifications.js'
import { can, MODERATORS, type Actor } from './lib/access.js'
import { operation } from './lib/operation.js'
import { authorOf, PublicUser } from './lib/people.js'
import { fields, inPath, nullable, oneOf } from './lib/schemas.js'
import { counts, countsOf } from './lib/toldcounts.js'
import { assertVotesSeen } from './lib/voters.js'
import { visiblePost } from './lib/whichpost.js'

/** Rows that an answer has at most. */
const MOST = 100

const NotifiedSummary = Type.Object({
  event_id: Type.Integer({ description: 'Number of the event' }),
  kind: oneOf(KINDS),
  is_held: Type.Optional(
    Type.Boolean({
      description: 'true of a report if the post or comment was held and nobody reported it; otherwise absent',
    }),
  ),
  created_at: Type.String({ format: 'date-time' }),
  user: Type.Union([PublicUser, Type.Null()], {
    description: 'Who did it; null at the command line, and after the account was deleted',
  }),
  comment_id: nullable('string', { description: 'What was said' }),
  ...counts,
})
export type NotifiedSummary = Type.Static<typeof NotifiedSummary>

export const told = operation({
  id: 'posts.told',
  summary: 'List what people were told about a post, and in which ways, newest first; for the team',
  http: 'GET /posts/:post_id/notifications 200',
  access: 'post:update',
  errors: ['POST_NOT_FOUND', 'NOT_ENOUGH_PERMISSION'],
  input: fields({ post_id: inPath('Id, slug or number of the post', 'post') }),
  output: Type.Object({ told: Type.Array(NotifiedSummary, { description: `The newest ${MOST}` }) }),
  subject: (ctx, { post_id: given }) => visiblePost(ctx, given),
  async run(ctx, _input, post) {
    const { postId } = post
    await assertVotesSeen(ctx, [post])
    const rows = (await toldOfPost(ctx.db, postId)).filter((row) => mayKnow(ctx.actor, row))
    return {
      told: rows
        .toSorted((one, other) => other.eventId - one.eventId || KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind))
        .slice(0, MOST)
        .map((row) => ({
          event_id: row.eventId,
          kind: row.kind,
          ...(row.kind === 'report' && row.action?.endsWith('.created') && { is_held: true }),
          created_at: row.createdAt,
          user: row.actorId === null ? null : authorOf(ctx, { ...row, userId: row.actorId }),
          comment_id: row.commentId,
          ...countsOf([row]),
        })),
    }
  },
})

/** Internal notes and reports are for some of the team. */
export const mayKnow = (actor: Actor, { kind, isInternal }: { kind: string; isInternal: number | null }): boolean =>
  (isInternal !== 1 || can(actor, 'comment:view_internal')) &&
  (kind !== 'report' || MODERATORS.some((permission) => can(actor, permission)))
