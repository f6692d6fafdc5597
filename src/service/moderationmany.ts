import * as Type from 'typebox'
import { invalidField } from '../core/fields.js'
import { HELD, SPAM } from '../core/hidden.js'
import { countComments, lockComment } from '../db/comments.js'
import { findReview, openReportIds } from '../db/moderation.js'
import { can, MODERATORS } from './lib/access.js'
import {
  assertForEach,
  bulkOutput,
  changeMany,
  EACH_TIME,
  idsField,
  ifEachUnchanged,
  type Done,
  type Undoable,
} from './lib/bulk.js'
import type { Change } from './lib/change.js'
import { operation } from './lib/operation.js'
import { roadmapIdAfter, roadmapIdTo } from './lib/postplaces.js'
import { postPolicy } from './lib/postshapes.js'
import { fields, oneOf, someOf } from './lib/schemas.js'
import { snoozeIn, untilField, untilOf } from './lib/snoozing.js'
import { assertUnchanged } from './lib/times.js'
import { votesSeen } from './lib/voters.js'
import { assertWaiting, ifWaiting } from './lib/waiting.js'
import { assertBlocks, blockField, decideIn, subjectOf, subjectToDecide, type Subject } from './moderation.js'
import { movedFrom } from './postmoves.js'
import { updateIn } from './posts.js'

/** Reports of a post or comment that an undo opens again; with so many it waits for a decision either way. */
const MOST_REPORTS = 100

const DECISIONS = ['keep', 'spam', 'delete', 'snooze', 'wake'] as const
type Word = (typeof DECISIONS)[number]

export const decideMany = operation({
  id: 'moderation.decideMany',
  summary:
    'Decide about up to 100 posts and comments at once; can be undone for ten minutes, but for what it deletes and for sessions that a block ended',
  http: 'POST /moderation 200',
  access: MODERATORS,
  writes: 'content',
  errors: ['ROADMAP_NOT_FOUND'],
  input: fields({
    decision: Type.Optional(
      oneOf(DECISIONS, {
        description:
          'keep: show them, and close their reports; spam: hide them; delete: delete them, with the votes and comments of posts; snooze: let them wait again at a later time, or once they are reported or edited; wake: let them wait again now',
      }),
    ),
    decisions: Type.Optional(
      someOf(DECISIONS, { maxItems: 100, description: 'In place of decision: one for each of ids, in their order' }),
    ),
    ids: idsField('Ids of comments, or ids, slugs or numbers of posts', 'item'),
    block: blockField,
    until: untilField,
    roadmapIds: Type.Optional(
      Type.Array(Type.String(), {
        rule: 'a roadmap, "none" or an empty text for each of ids, in their order',
        description:
          'The roadmap that each post moves to if it is kept: id or url, "none", or an empty text to leave it where it is; needs post:update; refused for what is snoozed or woken',
      }),
    ),
    if_updated_at: ifEachUnchanged(
      'updated_at of each as you read it, in the order of ids; one that is another by now fails with CONTENT_CHANGED',
    ),
    if_waiting: ifWaiting,
  }),
  output: bulkOutput,
  async run(
    ctx,
    {
      decision,
      decisions,
      ids,
      block = false,
      until: given,
      roadmapIds = [],
      if_updated_at: seen,
      if_waiting: waits = false,
    },
  ) {
    const words = decisionsOf(ids, decision, decisions)
    assertBlocks(block, decision)
    const until = untilOf(ctx.now(), words.includes('snooze') ? 'snooze' : undefined, given) ?? null
    assertForEach('if_updated_at', EACH_TIME, ids, seen)
    if (roadmapIds.length > 0)
      assertForEach('roadmapIds', 'a roadmap, "none" or an empty text for each of ids, in their order', ids, roadmapIds)
    assertKept(words, roadmapIds)
    // A roadmap that does not exist fails the whole, not each post
    const places = new Map<string, string | null>()
    for (const url of new Set(roadmapIds))
      if (url !== '') places.set(url, await roadmapIdTo(ctx, url, null, 'roadmapIds'))
    const all = ids.map((id, index) => ({
      given: id.trim(),
      decision: words[index] as Word,
      roadmapId: places.get(roadmapIds[index] ?? ''),
      seen: seen?.[index],
    }))
    return changeMany(ctx, [...new Map(all.toReversed().map((each) => [each.given, each])).values()].toReversed(), {
      name: ({ given }) => given,
      work: (tx, each) => decideOne(tx, { ...each, block, until, waits }),
    })
  },
})

interface DecisionInput {
  given: string
  decision: Word
  block: boolean
  until: string | null
  roadmapId: string | null | undefined
  seen: string | undefined
  /** Refused if somebody else has decided. */
  waits: boolean
}

/** What it throws of the contract, it throws before it writes. */
async function decideOne(
  tx: Change,
  { given, decision, block, until, roadmapId, seen, waits }: DecisionInput,
): Promise<Done> {
  if (waits) await assertWaiting(tx, () => subjectOf(tx, given), decision, block)
  if (decision === 'snooze' || decision === 'wake') {
    const subject = await subjectToDecide(tx, given, seen)
    const undo = await snoozeIn(tx, subject, decision === 'snooze' ? until : null)
    const { id, kind, number, title } = subject
    return { id, kind, number, title, undo }
  }
  const { key } = await subjectOf(tx, given)
  if ('commentId' in key) await lockComment(tx.db, key.commentId) // or an edit meanwhile would be lost to an undo
  if (decision === 'delete') return deleteOne(tx, given, seen)
  const [review, reports] = [await findReview(tx.db, key), await openReportIds(tx.db, key, MOST_REPORTS)]
  const before = decision === 'keep' && roadmapId !== undefined ? (await subjectOf(tx, given)).post : undefined
  if (before) {
    postPolicy.assert('update', tx.actor, before)
    await roadmapIdAfter(tx, roadmapId, before)
  }
  const done = await decideIn(tx, given, { decision, block, seen })
  const { subject, isSpam, decidedAt, blocked } = done
  const { id, kind, number, title, hidden } = subject
  const update = before && roadmapId !== before.roadmap_id ? await updateIn(tx, id, { roadmapId }) : undefined
  const moved = update && movedFrom(update.before, update.after)
  const undo: Undoable = {
    type: 'decided',
    kind,
    id,
    wasSpam: hidden === SPAM,
    ...(hidden === HELD && { wasHeld: true }),
    isSpam,
    decidedAt,
    review: review ?? null,
    reports,
    ...(blocked && { blocked: { userId: blocked.userId, updatedAt: blocked.updatedAt } }),
    ...(moved && { moved }),
  }
  return { id, kind, number, title, ...(blocked && { author: 'blocked' as const }), undo }
}

async function deleteOne(tx: Change, given: string, seen: string | undefined): Promise<Done> {
  const subject = await subjectOf(tx, given)
  const { id, kind, number, title } = subject
  assertUnchanged('if_updated_at', seen, subject.updatedAt)
  const lost = await lossOf(tx, subject)
  await subject.remove(tx)
  return { id, kind, number, title, lost, undo: 'final' }
}

/** The votes and comments of a post that the caller may see, or what a comment says. */
async function lossOf(tx: Change, { post, text }: Subject): Promise<NonNullable<Done['lost']>> {
  const { db, actor } = tx
  if (!post) return { votes: 0, comments: 0, ...(text !== undefined && { text }) }
  const comments = await countComments(db, {
    postId: post.postId,
    visibility: can(actor, 'comment:view_internal') ? ['public', 'internal'] : ['public'],
    spam: can(actor, 'comment:update:any'),
    viewer: actor.userId,
    author: undefined,
    period: {},
  })
  const isSeen = (await votesSeen(tx, [post])).has(post.postId)
  return { ...(isSeen ? { votes: post.votesCount } : { votes: 0, votes_hidden: true }), comments }
}

/** What is snoozed is not decided, and so gets no status. */
function assertKept(words: readonly Word[], roadmapIds: readonly string[]): void {
  const at = words.findIndex(
    (word, index) => (word === 'snooze' || word === 'wake') && (roadmapIds[index] ?? '') !== '',
  )
  if (at < 0) return
  const rule = 'an empty text for what is snoozed or woken'
  throw invalidField({ code: 'INVALID_VALUE', message: `roadmapIds must have ${rule}.`, field: 'roadmapIds', rule, value: roadmapIds[at] ?? '' }) // prettier-ignore
}

function decisionsOf(
  ids: readonly string[],
  one: Word | undefined,
  each: readonly Word[] | undefined,
): readonly Word[] {
  if (each === undefined && one !== undefined) return ids.map(() => one)
  const rule = 'given, unless decisions is'
  if (each === undefined || one !== undefined)
    throw invalidField({ code: 'UNKNOWN_CHOICE', message: `decision must be ${rule}.`, field: 'decision', rule, value: one }) // prettier-ignore
  assertForEach('decisions', 'one for each of ids, in their order', ids, each)
  return each
}
