import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { audienceAll } from '../../src/service/audienceall.js'
import * as boards from '../../src/service/boards.js'
import * as follows from '../../src/service/follows.js'
import * as posts from '../../src/service/posts.js'
import { move } from '../../src/service/postmoves.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import { engines, type Engine } from '../support/site.js'
import { world } from '../support/told.js'

/** Several posts, and people who follow them for every reason and are not told for every reason. */
async function many(engine: Engine) {
  const w = await world(engine)
  const { site } = w
  const staff = await site.member(['post:update', 'post:destroy', 'roadmap:read', 'board:read', 'dashboard:read'])
  const [reader, seer] = [await site.member(['board:read']), await site.member(['roadmap:read'])]
  const [blocked, off, muted, late] = [await site.member(), await site.member(), await site.member(), await site.member()] // prettier-ignore
  const { board } = await site.call(boards.create, { name: 'Team', display: false })
  const create = async (title: string, more: object = {}) => (await site.call(posts.create, { title, ...more })).post.postId // prettier-ignore
  // The owner follows these as their author
  const [open, secret, shipped, spam] = [await create('Open'), await create('Secret', { boardId: board.boardId }), await create('There'), await create('Spam')] // prettier-ignore
  const follow = (postId: string, people: readonly { userId: string }[], isFollowing = 1) =>
    site.db.insertInto('follows').values(people.map(({ userId }) => ({ postId, userId, isFollowing, createdAt: '2026-01-01T00:00:00.000Z' }))).execute() // prettier-ignore
  await follow(w.post.postId, [seer, staff, blocked])
  await follow(w.post.postId, [muted], 0)
  await follow(open, [w.ann, w.dan, staff, off, reader])
  await follow(secret, [reader, w.bea, muted]) // only one of them may read it
  await follow(shipped, [late])
  await follow(spam, [late])
  await site.db.updateTable('users').set({ isBlocked: 1 }).where('userId', '=', blocked.userId).execute()
  await site.db.insertInto('notification_settings').values({ userId: off.userId, ways: JSON.stringify({ status: 'none' }) }).execute() // prettier-ignore
  await site.call(posts.update, { id: shipped, roadmapId: w.shipped.id, partial: true, quiet: true })
  await site.db.updateTable('posts').set({ is_spam: 1 }).where('postId', '=', spam).execute()
  await site.call(roadmaps.create, { name: 'Internal', display: false })
  await w.run()
  return { ...w, staff, ids: [w.post.postId, open, secret, shipped, spam], board: w.board, secret, seer }
}

describe.each(engines)('who a new status of all posts of a list would tell on %s', (engine) => {
  it.each([
    ['shipped', 7],
    ['internal', 2],
  ])('is counted as it is told then, each person once: %s', async (to, people) => {
    const w = await many(engine)
    const { audience } = await w.as(w.staff)(audienceAll, { to })
    await w.as(w.staff)(move, { ids: w.ids, roadmapId: to })
    await w.run()
    const told = await w.site.db.selectFrom('notifications').select('userId').distinct().execute()
    expect([audience, told.length]).toEqual([{ people }, people])
  })

  it('is of the posts that pass the filter, up to a bound, and known to who may see votes', async () => {
    const w = await many(engine)
    const count = async (input: object, who = w.staff) => (await w.as(who)(audienceAll, { to: 'shipped', ...input })).audience // prettier-ignore
    expect(await count({ boardId: ['ideas'] })).toEqual({ people: 4 })
    expect(await count({ query: 'open' })).toEqual({ people: 4 })
    expect(await count({ query: 'nothing' })).toEqual({ people: 0 })
    expect(await count({ most: 5 })).toEqual({ people: 5, is_capped: true })
    expect(await count({ most: 7 })).toEqual({ people: 7 })
    const { status, body } = await w.site.http('GET /posts/audience?to=nowhere', { token: w.staff.token })
    expect([status, body.errors]).toEqual([expect.toBeOneOf([400, 404]), [expect.objectContaining({ field: 'to', message: expect.stringMatching(/^to must be /) })]]) // prettier-ignore
    const other = await w.site.member(['post:update'])
    expect(await count({}, other), 'without what they may not read').toEqual({ people: 8 })
    await w.site.call(boards.update, { boardId: w.board.boardId, hides_votes: true, partial: true })
    await expect(count({}, other)).rejects.toMatchObject({ code: 'NOT_ENOUGH_PERMISSION' })
    expect(await count({ boardId: ['ideas'] })).toEqual({ people: 4 })
  })

  it('is of the newest thousand of more posts', async () => {
    const w = await world(engine)
    const rows = Array.from({ length: 1001 }, (_, index) => {
      const postId = newId()
      return { postId, title: `Post ${index}`, slug: postId, slugId: postId, contentMarkdown: null, userId: null, boardId: null, roadmap_id: null, createdAt: new Date(Date.UTC(2026, 5, 1) + index).toISOString(), updatedAt: '2026-06-01T00:00:00.000Z' } // prettier-ignore
    })
    for (let at = 0; at < rows.length; at += 500) await w.site.db.insertInto('posts').values(rows.slice(at, at + 500)).execute() // prettier-ignore
    for (const [{ postId } = { postId: '' }, person] of [
      [rows[0], w.ann],
      [rows[1], w.bea],
      [rows[1000], w.bea],
      [rows[1000], w.dan],
    ] as const)
      await w.as(person)(follows.follow, { post_id: postId })
    const before = w.site.statements.length
    expect((await w.site.call(audienceAll, { to: 'shipped' })).audience).toEqual({ people: 2, is_capped: true })
    const lists = w.site.statements.slice(before).filter((statement) => /limit .*as posts/.test(statement))
    expect([lists.length, lists.some((statement) => /contentMarkdown|authorName/.test(statement))]).toEqual([1, false])
  })
})
