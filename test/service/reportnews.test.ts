import { describe, expect, it } from 'vitest'
import type { Permission } from '../../src/core/permissions.js'
import * as comments from '../../src/service/comments.js'
import * as merges from '../../src/service/merges.js'
import type { Notification } from '../../src/service/notifications.js'
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

  it('are new to nobody once anybody has decided, until that is undone or somebody reports again', async () => {
    const w = await world(engine)
    const [one, other] = [await team(w), await w.site.member(ALL)]
    await hold(w)
    const fresh = await w.site.member(['post:create', 'comment:create'])
    const { post } = await w.as(fresh)(posts.create, { title: 'New', boardId: w.board.boardId })
    await w.as(fresh)(comments.create, { ...w.inPost, body: 'Hello' })
    await w.as(w.dan)(moderation.reportPost, w.inPost)
    await reportComment(w, w.dan)
    await w.run()
    const get = async (path: string, { token } = one) =>
      (await w.site.http(`GET /notifications${path}`, { token })).body
    const news = async () => {
      const counts = [(await get('/count')).unread, (await get('/count', other)).unread]
      const unread = (await get('?unread=true')).notifications.map(({ post: { title }, comment }: Notification) => comment?.body ?? title) // prettier-ignore
      const marked = (await get('')).notifications.filter(({ readAt }: Notification) => readAt === null).length
      return [...counts, marked, unread.toSorted().join()]
    }
    const later = () => void (w.site.clock.now = new Date(w.site.clock.now.getTime() + 1000))
    const decide = async (decision: string, ...ids: string[]) =>
      (await w.site.http('POST /moderation', { token: other.token, body: { decision, ids } })).body
    expect(await news()).toEqual([4, 4, 4, 'Dark mode,Hello,Me too,New'])
    later()
    const { undo: kept } = await decide('keep', post.postId, w.post.postId)
    expect(await news()).toEqual([2, 2, 2, 'Hello,Me too'])
    expect((await get('')).notifications.find(({ comment }: Notification) => !comment)?.readAt).toBe(w.site.clock.now.toISOString()) // prettier-ignore
    await decide('snooze', w.comment.id)
    expect((await get('/count')).unread, 'what is put off is not decided').toBe(2)
    await w.site.http(`POST /undo/${kept.undo_id}`, { token: other.token, body: {} })
    expect(await news()).toEqual([4, 4, 4, 'Dark mode,Hello,Me too,New'])
    await decide('keep', w.post.postId)
    later()
    await w.as(w.dan)(moderation.reportPost, w.inPost)
    await w.run()
    expect(await news()).toEqual([4, 4, 4, 'Dark mode,Hello,Me too,New'])
    await decide('delete', post.postId)
    await decide('spam', w.comment.id)
    expect(await news()).toEqual([2, 2, 2, 'Dark mode,Hello'])
  })
})
