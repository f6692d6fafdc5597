import { describe, expect, it } from 'vitest'
import type { Permission } from '../../src/core/permissions.js'
import * as comments from '../../src/service/comments.js'
import * as merges from '../../src/service/merges.js'
import * as moderation from '../../src/service/moderation.js'
import * as posts from '../../src/service/posts.js'
import { engines } from '../support/site.js'
import { world, type World } from '../support/told.js'

const ALL: Permission[] = ['dashboard:read', 'post:destroy', 'comment:update:any', 'board:read']
const team = async (w: World, permissions = ALL) => {
  const member = await w.site.member(permissions)
  Object.assign(w.people, { team: member })
  return member
}
const reportComment = (w: World, who: { token: string }) =>
  w.as(who)(moderation.reportComment, { ...w.inPost, comment_id: w.comment.id })
const hold = (w: World) => w.site.db.updateTable('settings').set({ holdFirstPosts: 1 }).execute()

/** Who is told of what waits for a decision: each line is a site of its own. */
const CASES: Record<string, [(w: World) => Promise<unknown>, Record<string, string[]>]> = {
  'a reported post': [
    async (w) => (await team(w), await w.as(w.dan)(moderation.reportPost, w.inPost)),
    { team: ['report'] },
  ],
  'a comment that two report: twice': [
    async (w) => (await team(w), await reportComment(w, w.dan), await reportComment(w, w.ann)),
    { team: ['report Me too', 'report Me too'] },
  ],
  'who reports it: not': [async (w) => w.as(await team(w))(moderation.reportPost, w.inPost), {}],
  'who may decide about comments alone': [
    async (w) => {
      await team(w, ['dashboard:read', 'comment:update:any'])
      await w.as(w.dan)(moderation.reportPost, w.inPost)
      await reportComment(w, w.dan)
    },
    { team: ['report Me too'] },
  ],
  'who may decide about nothing: not': [
    async (w) => (await team(w, ['dashboard:read']), await w.as(w.dan)(moderation.reportPost, w.inPost)),
    {},
  ],
  'the first post and comment of somebody new, while they are held': [
    async (w) => {
      await team(w)
      await hold(w)
      const fresh = await w.site.member(['post:create', 'comment:create'])
      await w.as(fresh)(posts.create, { title: 'New', boardId: w.board.boardId })
      await w.as(fresh)(comments.create, { ...w.inPost, body: 'Hello' })
    },
    { team: ['report Hello', 'report'] },
  ],
  'a reported post that is kept and merged by then: not of the other': [
    async (w) => {
      await team(w)
      await w.as(w.dan)(moderation.reportPost, w.inPost)
      await w.run()
      await w.site.call(moderation.decide, { id: w.post.postId, decision: 'keep' })
      await w.site.call(merges.merge, { ids: [w.post.postId], into: await w.other(), quiet: true })
    },
    {},
  ],
  'what is spam by then: nobody': [
    async (w) => {
      await team(w)
      await reportComment(w, w.dan)
      await w.site.call(moderation.decide, { id: w.comment.id, decision: 'spam' })
    },
    {},
  ],
  'who may not decide any more: sees it no more': [
    async (w) => {
      const { userId } = await team(w)
      await reportComment(w, w.dan)
      await w.run()
      await w.site.db.deleteFrom('role_permissions').where('permission', 'in', ['comment:update:any']).where('role_id', 'in', w.site.db.selectFrom('roles_users').select('role_id').where('user_id', '=', userId)).execute() // prettier-ignore
    },
    {},
  ],
}

describe.each(engines)('reports on %s', (engine) => {
  it.each(Object.entries(CASES))('%s', async (_name, [happens, expected]) => {
    const w = await world(engine)
    await happens(w)
    expect(await w.told()).toEqual(expected)
  })
})
