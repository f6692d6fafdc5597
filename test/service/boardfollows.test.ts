import { describe, expect, it } from 'vitest'
import * as boardfollows from '../../src/service/boardfollows.js'
import * as boards from '../../src/service/boards.js'
import * as moderation from '../../src/service/moderation.js'
import * as settings from '../../src/service/notificationsettings.js'
import * as posts from '../../src/service/posts.js'
import { assignEveryone } from '../../src/db/users.js'
import { engines } from '../support/site.js'
import { world, type World } from '../support/told.js'

const write = (w: World, text = 'A text', boardId: string | null = w.board.boardId) =>
  w.as(w.bea)(posts.create, { title: 'New', contentMarkdown: text, ...(boardId !== null && { boardId }) })
const follow = (w: World, who: { token: string }) => w.as(who)(boardfollows.follow, { url: w.board.url })
const staff = async (w: World) => {
  const team = await w.site.member(['dashboard:read'])
  Object.assign(w.people, { team })
  await w.as(team)(settings.update, { followsEverything: true })
  return team
}

/** Who is told of a new post, which Bea writes: each line is a site of its own. */
const CASES: Record<string, [(w: World) => Promise<unknown>, Record<string, string[]>]> = {
  'nobody follows the board: nobody': [(w) => write(w), {}],
  'who follows the board': [async (w) => (await follow(w, w.dan), await write(w)), { dan: ['post'] }],
  'who follows no more: not': [
    async (w) => {
      await follow(w, w.dan)
      await w.as(w.dan)(boardfollows.unfollow, { url: w.board.url })
      await write(w)
    },
    {},
  ],
  'who wrote it: not': [async (w) => (await follow(w, w.bea), await write(w)), {}],
  'a post of another board: not': [
    async (w) => {
      await follow(w, w.dan)
      const { board } = await w.site.call(boards.create, { name: 'Bugs', display: true })
      await write(w, '', board.boardId)
    },
    {},
  ],
  'who is mentioned in it too: once, of the mention': [
    async (w) => (await follow(w, w.dan), await write(w, '@dan')),
    { dan: ['mention'] },
  ],
  'who follows all boards, also of a post without one': [
    async (w) => {
      await staff(w)
      await write(w, '', null)
    },
    { team: ['post'] },
  ],
  'who follows all boards and this one: once': [
    async (w) => {
      await follow(w, await staff(w))
      await write(w)
    },
    { team: ['post'] },
  ],
  'who followed all boards and left the team: not': [
    async (w) => {
      const { userId } = await staff(w)
      await w.site.db.deleteFrom('roles_users').where('user_id', '=', userId).execute()
      await assignEveryone(w.site.db, userId)
      await write(w)
    },
    {},
  ],
  'a board that is private by then: only who may read it': [
    async (w) => {
      const reader = await w.site.member(['board:read'])
      Object.assign(w.people, { reader })
      for (const one of [w.dan, reader]) await follow(w, one)
      await w.site.call(boards.update, { boardId: w.board.boardId, display: false, partial: true })
      await w.site.call(posts.create, { title: 'New', boardId: w.board.boardId })
    },
    { reader: ['post'] },
  ],
  'a post that is spam by then: nobody': [
    async (w) => {
      await follow(w, w.dan)
      const { post } = await write(w)
      await w.site.call(moderation.decide, { id: post.postId, decision: 'spam' })
    },
    {},
  ],
  'a post that is shown again: once': [
    async (w) => {
      await follow(w, w.dan)
      const { post } = await write(w)
      await w.run()
      for (const decision of ['spam', 'keep'] as const) await w.site.call(moderation.decide, { id: post.postId, decision }) // prettier-ignore
    },
    { dan: ['post'] },
  ],
  'a post that was held: once it is shown': [
    async (w) => {
      await w.site.db.updateTable('settings').set({ holdFirstPosts: 1 }).execute()
      await follow(w, w.dan)
      const { post } = await w.as(await w.site.member(['post:create']))(posts.create, { title: 'New', boardId: w.board.boardId }) // prettier-ignore
      await w.run()
      await w.site.call(moderation.decide, { id: post.postId, decision: 'keep' })
    },
    { dan: ['post'] },
  ],
  'who wants no news of posts: not': [
    async (w) => {
      await follow(w, w.dan)
      await w.as(w.dan)(settings.update, { post: 'none' })
      await write(w)
    },
    {},
  ],
}

describe.each(engines)('following boards on %s', (engine) => {
  it.each(Object.entries(CASES))('%s', async (_name, [happens, expected]) => {
    const w = await world(engine)
    await happens(w)
    expect(await w.told()).toEqual(expected)
  })

  it('is for boards that one may read, and for all boards only to the team', async () => {
    const w = await world(engine)
    const at = { url: w.board.url }
    expect(await w.as(w.dan)(boardfollows.followed, at)).toEqual({ following: false, followers: null })
    await follow(w, w.dan)
    expect(await follow(w, w.dan)).toEqual({ following: true })
    expect(await w.as(w.dan)(boardfollows.followed, at)).toEqual({ following: true, followers: null })
    await w.site.call(boards.update, { boardId: w.board.boardId, display: false, partial: true })
    for (const line of ['GET', 'PUT', 'DELETE'])
      expect((await w.site.http(`${line} /boards/${w.board.url}/follow`, { token: w.dan.token })).status).toBeOneOf([403, 404]) // prettier-ignore
    await expect(w.as(w.dan)(settings.update, { followsEverything: true })).rejects.toMatchObject({ code: 'NOT_ENOUGH_PERMISSION' }) // prettier-ignore
    const team = await staff(w)
    expect((await w.as(team)(settings.settings, {})).settings.followsEverything).toBe(true)
    expect((await w.as(w.dan)(settings.settings, {})).settings.followsEverything).toBe(undefined)
  })
})
