import * as Type from 'typebox'
import { reportsOf } from '../db/reports.js'
import { operation } from './lib/operation.js'
import { fields, inPath } from './lib/schemas.js'
import { viewerOf } from './lib/sessions.js'
import { visiblePost } from './lib/whichpost.js'

export interface Reported {
  kind: 'post' | 'comment'
  id: string
  is_open: boolean
}

export const reported = operation({
  id: 'posts.reported',
  summary: 'Show what you have reported of a post and its comments, and whether the team has decided about it',
  http: 'GET /posts/:post_id/reported 200',
  access: 'signed-in',
  cache: 'actor',
  errors: ['POST_NOT_FOUND'],
  input: fields({ post_id: inPath('Id, slug or number of the post', 'post') }),
  output: Type.Object({
    reported: Type.Array(
      Type.Object({
        kind: Type.Union([Type.Literal('post'), Type.Literal('comment')]),
        id: Type.String({ format: 'uuid', description: 'Of the post or comment' }),
        is_open: Type.Boolean({ description: 'Whether your report waits for a decision' }),
      }),
    ),
  }),
  subject: (ctx, { post_id: given }) => visiblePost(ctx, given),
  async run(ctx, _input, { postId }) {
    const userId = await viewerOf(ctx)
    const reports = userId === null ? [] : await reportsOf(ctx.db, { userId, postId })
    const found = reports.flatMap(({ postId: post, commentId, isOpen }): Reported[] => {
      const rest = { is_open: isOpen === 1 }
      if (post !== null) return [{ kind: 'post', id: post, ...rest }]
      return commentId === null ? [] : [{ kind: 'comment', id: commentId, ...rest }]
    })
    return { reported: found.toSorted((one, other) => (one.id < other.id ? -1 : 1)) }
  },
})
