import { lockComment } from '../db/comments.js'
import { findReview, openReportIds } from '../db/moderation.js'
import { MODERATORS } from './lib/access.js'
import { bulkOutput, changeMany, eachOnce, idsField } from './lib/bulk.js'
import { operation } from './lib/operation.js'
import { fields, oneOf } from './lib/schemas.js'
import { decideIn, subjectOf } from './moderation.js'

/** Reports of a post or comment that an undo opens again; with so many it waits for a decision either way. */
const MOST_REPORTS = 100

export const decideMany = operation({
  id: 'moderation.decideMany',
  summary: 'Decide about up to 100 posts and comments at once; can be undone for ten minutes',
  http: 'POST /moderation 200',
  access: MODERATORS,
  writes: 'content',
  errors: [],
  input: fields({
    decision: oneOf(['keep', 'spam'], { description: 'keep: show them, and close their reports; spam: hide them' }),
    ids: idsField('Ids of comments, or ids, slugs or numbers of posts', 'item'),
  }),
  output: bulkOutput,
  run: (ctx, { decision, ids }) =>
    changeMany(ctx, eachOnce(ids), {
      name: (given) => given,
      async work(tx, given) {
        const { key } = await subjectOf(tx, given)
        if ('commentId' in key) await lockComment(tx.db, key.commentId) // or an edit meanwhile would be lost to an undo
        const [review, reports] = [await findReview(tx.db, key), await openReportIds(tx.db, key, MOST_REPORTS)]
        const { subject, isSpam, decidedAt } = await decideIn(tx, given, { decision })
        const { id, kind, number, title, isSpam: wasSpam } = subject
        const undo = { type: 'decided', kind, id, wasSpam, isSpam, decidedAt, review: review ?? null, reports } as const
        return { id, kind, number, title, undo }
      },
    }),
})
