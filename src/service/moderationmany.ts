import * as Type from 'typebox'
import { invalidField } from '../core/fields.js'
import { HELD, SPAM } from '../core/hidden.js'
import { lockComment } from '../db/comments.js'
import { findReview, openReportIds } from '../db/moderation.js'
import { MODERATORS } from './lib/access.js'
import { bulkOutput, changeMany, eachOnce, idsField, type Undoable } from './lib/bulk.js'
import { operation } from './lib/operation.js'
import { fields, oneOf } from './lib/schemas.js'
import { assertBlocks, blockField, decideIn, subjectOf } from './moderation.js'

/** Reports of a post or comment that an undo opens again; with so many it waits for a decision either way. */
const MOST_REPORTS = 100

export const decideMany = operation({
  id: 'moderation.decideMany',
  summary:
    'Decide about up to 100 posts and comments at once; can be undone for ten minutes, but for sessions that a block ended',
  http: 'POST /moderation 200',
  access: MODERATORS,
  writes: 'content',
  errors: [],
  input: fields({
    decision: oneOf(['keep', 'spam'], { description: 'keep: show them, and close their reports; spam: hide them' }),
    ids: idsField('Ids of comments, or ids, slugs or numbers of posts', 'item'),
    block: blockField,
    if_updated_at: Type.Optional(
      Type.Array(Type.String(), {
        condition: true,
        rule: 'a time for each of ids, in their order',
        description:
          'updated_at of each as you read it, in the order of ids; one that is another by now fails with CONTENT_CHANGED',
      }),
    ),
  }),
  output: bulkOutput,
  run(ctx, { decision, ids, block = false, if_updated_at: seen }) {
    assertBlocks(block, decision)
    const versions = versionsOf(ids, seen)
    return changeMany(ctx, eachOnce(ids), {
      name: (given) => given,
      async work(tx, given) {
        const { key } = await subjectOf(tx, given)
        if ('commentId' in key) await lockComment(tx.db, key.commentId) // or an edit meanwhile would be lost to an undo
        const [review, reports] = [await findReview(tx.db, key), await openReportIds(tx.db, key, MOST_REPORTS)]
        const done = await decideIn(tx, given, { decision, block, seen: versions.get(given) })
        const { subject, isSpam, decidedAt, blocked } = done
        const { id, kind, number, title, hidden } = subject
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
        }
        return { id, kind, number, title, ...(blocked && { author: 'blocked' as const }), undo }
      },
    })
  },
})

/** The version of each that the caller has read. */
function versionsOf(ids: readonly string[], seen: readonly string[] | undefined): Map<string, string> {
  if (seen !== undefined && seen.length !== ids.length) {
    const rule = 'a time for each of ids, in their order'
    const message = `if_updated_at must have ${rule}; it has ${seen.length} for ${ids.length}.`
    throw invalidField({ code: 'UNKNOWN_CHOICE', message, field: 'if_updated_at', rule, value: String(seen.length) })
  }
  return new Map(seen?.map((version, index) => [(ids[index] ?? '').trim(), version]))
}
