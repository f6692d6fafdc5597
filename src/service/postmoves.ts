import * as Type from 'typebox'
import { invalidField } from '../core/fields.js'
import { asStored } from '../core/ids.js'
import type { PostView } from '../db/posts/row.js'
import { bulkOutput, changeMany, eachOnce, idsField, type Moved } from './lib/bulk.js'
import { NONE } from './lib/named.js'
import { operation } from './lib/operation.js'
import { boardIdFrom, roadmapIdAfter, roadmapIdTo } from './lib/postplaces.js'
import { roadmapOf } from './lib/postshapes.js'
import { fields, nullable } from './lib/schemas.js'
import { contentChanged } from './lib/times.js'
import { updateIn } from './posts.js'
import { postItself } from './lib/whichpost.js'

/** Expected place of each post, so that concurrent changes do not overwrite each other. */
const ifStill = (noun: 'board' | 'roadmap') =>
  Type.Optional(
    nullable('string', {
      condition: true,
      description: `The ${noun} of each post as you read it: id or url; none or null for no ${noun}. A post with another by now fails with CONTENT_CHANGED, unless it is already where it should go`,
    }),
  )

export const move = operation({
  id: 'posts.move',
  summary: 'Move up to 100 posts to a board or a roadmap; can be undone for ten minutes',
  http: 'POST /posts/move 200',
  access: 'post:update',
  writes: 'content',
  errors: ['BOARD_NOT_FOUND', 'ROADMAP_NOT_FOUND'],
  input: fields({
    ids: idsField('Ids, slugs or numbers of the posts', 'post'),
    boardId: Type.Optional(
      nullable('string', { description: 'Id or url of the board; none or null for no board', names: 'board' }),
    ),
    roadmapId: Type.Optional(
      nullable('string', { description: 'Id or url of the roadmap; none or null for no roadmap', names: 'roadmap' }),
    ),
    quiet: Type.Optional(Type.Boolean({ condition: true, description: 'Tell nobody of the new status' })),
    ifBoardId: ifStill('board'),
    ifRoadmapId: ifStill('roadmap'),
  }),
  output: bulkOutput,
  async run(ctx, { ids, boardId, roadmapId, quiet = false, ifBoardId, ifRoadmapId }) {
    if (boardId === undefined && roadmapId === undefined) throw nowhere()
    // A place that does not exist fails the whole, not each post
    const place = {
      ...(boardId !== undefined && {
        boardId: await boardIdFrom(ctx, boardId),
      }),
      ...(roadmapId !== undefined && {
        roadmapId: await roadmapIdTo(ctx, roadmapId),
      }),
    }
    return changeMany(ctx, eachOnce(ids), {
      name: (given) => given,
      async work(tx, given) {
        const post = await postItself(tx, given)
        const { postId, number, title } = post
        const done = { id: postId, kind: 'post', number, title }
        const board = place.boardId === undefined ? post.boardId : place.boardId
        const roadmap = await roadmapIdAfter(tx, place.roadmapId, post)
        if (board === post.boardId && roadmap === post.roadmap_id) return done
        assertStill(ifBoardId, post.boardId, post.boardUrl)
        const { id = null, url = null } = roadmapOf(tx.actor, post) ?? {}
        assertStill(ifRoadmapId, id, url)
        const { before, after } = await updateIn(tx, postId, { ...place, quiet })
        return { ...done, undo: movedFrom(before, after) }
      },
    })
  },
})

/** Fails where the post is elsewhere by now. `present` is null for nowhere. */
function assertStill(expected: string | null | undefined, present: string | null, url: string | null): void {
  if (expected === undefined) return
  const isNowhere = present === null && (expected === null || expected === '' || expected === NONE)
  if (!isNowhere && (expected === null || (asStored(expected) !== present && expected !== url))) throw contentChanged()
}

/** Undefined where it did not move. */
export function movedFrom(before: PostView, after: PostView): Moved | undefined {
  const isSame = before.boardId === after.boardId && before.roadmap_id === after.roadmap_id
  if (isSame) return undefined
  return {
    type: 'moved',
    postId: after.postId,
    ...(before.boardId !== after.boardId && { boardId: [before.boardId, after.boardId] }),
    ...(before.roadmap_id !== after.roadmap_id && { roadmapId: [before.roadmap_id, after.roadmap_id] }),
  }
}

export const nowhere = () =>
  invalidField({
    code: 'PLACE_MISSING',
    message: 'Give boardId or roadmapId: where to move the posts.',
    field: 'boardId',
    rule: 'given, unless roadmapId is',
    value: undefined,
  })
