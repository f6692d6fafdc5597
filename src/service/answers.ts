import * as Type from 'typebox'
import { changesOf } from '../core/details.js'
import { setAnswer, type CommentView } from '../db/comments.js'
import { lock } from '../db/counters.js'
import { existing, lockedComment, shownComment } from './comments.js'
import { change } from './lib/change.js'
import { Comment, commentPolicy, takenAmong, toComment } from './lib/commentshapes.js'
import type { Context } from './lib/context.js'
import { operation } from './lib/operation.js'
import { fields, inPath } from './lib/schemas.js'

const inThread = {
  post_id: inPath('Id, slug or number of the post', 'post'),
  comment_id: inPath('Id of the comment', 'comment'),
}

const answering = (isAnswer: boolean) => ({
  access: 'post:update' as const,
  writes: 'content' as const,
  errors: ['POST_NOT_FOUND', 'COMMENT_NOT_FOUND', 'COMMENT_CANNOT_ANSWER'] as const,
  input: fields(inThread),
  output: Type.Object({ comment: Comment }),
  subject: shownComment,
  run: (ctx: Context, input: Record<string, unknown>, { id }: CommentView) =>
    change(ctx, async (tx) => {
      await lock(tx.db, 'post_counts') // one change of the answer at a time
      const before = await lockedComment(tx, id, () => shownComment(tx, input))
      if (isAnswer) commentPolicy.assert('answer', ctx.actor, before)
      if (isAnswer !== (before.official === 'answer'))
        await setAnswer(tx.db, before.post_id, isAnswer ? id : null, ctx.now().toISOString())
      const after = await existing(tx, id)
      tx.record('comment.updated', id, before.title, undefined, changesOf('comment', before, after))
      return { comment: toComment(ctx.actor, after, await takenAmong(tx, [after])) }
    }),
})

export const answer = operation({
  id: 'comments.answer',
  summary: 'Mark a comment as the answer of its post, in place of another',
  http: 'PUT /posts/:post_id/comments/:comment_id/answer 200',
  ...answering(true),
})

export const unanswer = operation({
  id: 'comments.unanswer',
  summary: 'Unmark a comment as the answer of its post',
  http: 'DELETE /posts/:post_id/comments/:comment_id/answer 200',
  ...answering(false),
})
