import { describe, expect, it } from 'vitest'
import * as answers from '../../src/service/answers.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as events from '../../src/service/events.js'
import { told } from '../../src/service/told.js'
import * as follows from '../../src/service/follows.js'
import * as merges from '../../src/service/merges.js'
import * as moderation from '../../src/service/moderation.js'
import { oldNotifications } from '../../src/jobs/oldnotifications.js'
import * as notifications from '../../src/service/notifications.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as votes from '../../src/service/votes.js'
import { undo as undoEvent } from '../../src/service/eventundo.js'
import { apply as undo } from '../../src/service/undos.js'
import { audience } from '../../src/service/audience.js'
import { move } from '../../src/service/postmoves.js'
import { engines } from '../support/site.js'
import { world, type World } from '../support/told.js'

const ALL = { ann: ['status Shipped'], bea: ['status Shipped'], cleo: ['status Shipped'] }

/** Who is told what: each line is a site of its own. */
const CASES: Record<string, [(w: World) => Promise<unknown>, Record<string, string[]>]> = {
  'a new status: who wrote it, voted or commented': [(w) => w.ship(), ALL],
  'with what the team said': [
    (w) => w.ship({ message: 'It is there.' }),
    Object.fromEntries(Object.keys(ALL).map((name) => [name, ['status Shipped It is there.']])),
  ],
  'what the team said alone': [
    (w) => w.site.call(posts.update, { id: w.post.postId, partial: true, message: 'Soon' }),
    { ann: ['update Soon'], bea: ['update Soon'], cleo: ['update Soon'] },
  ],
  'a quiet update: nobody': [(w) => w.ship({ message: 'It is there.', quiet: true }), {}],
  'a quiet change of many: nobody, also of the way back': [
    async (w) => {
      const inBoard = { ids: [w.post.postId], roadmapId: w.shipped.id, quiet: true }
      const { undo: kept } = await w.site.call(move, inBoard)
      await w.run()
      await w.site.call(undo, { undo_id: kept?.undo_id ?? '' })
    },
    {},
  ],
  'a change of many: the followers of each': [
    (w) => w.site.call(move, { ids: [w.post.postId], roadmapId: w.shipped.id }),
    ALL,
  ],
  'a change of many that was told and undone: it is news no longer, but for who has read it': [
    async (w) => {
      const { undo: kept } = await w.site.call(move, { ids: [w.post.postId], roadmapId: w.shipped.id })
      await w.run()
      await w.as(w.bea)(notifications.read, {})
      await w.site.call(undo, { undo_id: kept?.undo_id ?? '' })
    },
    { bea: ['status Shipped'] },
  ],
  'a change of many from one status to another, told and undone: nobody is told of the way back': [
    async (w) => {
      const { roadmap: planned } = await w.site.call(roadmaps.create, { name: 'Planned', display: true })
      await w.site.call(posts.update, { id: w.post.postId, roadmapId: planned.id, partial: true, quiet: true })
      const { undo: kept } = await w.site.call(move, { ids: [w.post.postId], roadmapId: w.shipped.id })
      await w.run()
      await w.as(w.bea)(notifications.read, {})
      await w.site.call(undo, { undo_id: kept?.undo_id ?? '' })
    },
    { bea: ['status Shipped'] },
  ],
  'a change in the log from one status to another, told and undone: nobody is told of the way back': [
    async (w) => {
      const { roadmap: planned } = await w.site.call(roadmaps.create, { name: 'Planned', display: true })
      await w.site.call(posts.update, { id: w.post.postId, roadmapId: planned.id, partial: true, quiet: true })
      await w.site.call(posts.update, { id: w.post.postId, roadmapId: w.shipped.id, partial: true })
      const [event] = (await w.site.call(events.list, { created: 'desc', limit: 1 })).events
      await w.run()
      await w.site.call(undoEvent, { id: event?.id ?? 0 })
    },
    ALL,
  ],
  'a change of many from one status to another, undone before it was told: nobody': [
    async (w) => {
      const { roadmap: planned } = await w.site.call(roadmaps.create, { name: 'Planned', display: true })
      await w.site.call(posts.update, { id: w.post.postId, roadmapId: planned.id, partial: true, quiet: true })
      await w.run()
      const { undo: kept } = await w.site.call(move, { ids: [w.post.postId], roadmapId: w.shipped.id })
      await w.site.call(undo, { undo_id: kept?.undo_id ?? '' })
    },
    {},
  ],
  'another change: nobody': [(w) => w.site.call(posts.update, { id: w.post.postId, title: 'Dark theme' }), {}],
  'a status that was taken back at once: nobody': [
    async (w) => {
      await w.ship()
      await w.site.call(posts.update, { id: w.post.postId, roadmapId: null, partial: true })
    },
    {},
  ],
  'a vote that is withdrawn: no longer': [
    async (w) => {
      await w.as(w.bea)(votes.remove, { postId: w.post.postId })
      await w.ship()
    },
    { ann: ALL.ann, cleo: ALL.cleo },
  ],
  'who chose to follow it, and not who chose not to': [
    async (w) => {
      await w.as(w.dan)(follows.follow, w.inPost)
      await w.as(w.ann)(follows.unfollow, w.inPost)
      await w.ship()
    },
    { bea: ALL.bea, cleo: ALL.cleo, dan: ['status Shipped'] },
  ],
  'who follows again after all': [
    async (w) => {
      await w.as(w.ann)(follows.unfollow, w.inPost)
      await w.as(w.ann)(follows.follow, w.inPost)
      await w.ship()
    },
    ALL,
  ],
  'never of what one did oneself': [
    async (w) => {
      await w.as(w.dan)(follows.follow, w.inPost)
      await w.site.http(`PUT /posts/${w.post.postId}/comments/${w.comment.id}/answer`, { token: w.token })
      await w.as(w.ann)(comments.create, { ...w.inPost, body: 'My own' })
    },
    { ann: ['answer Me too'], bea: ['answer Me too'], cleo: ['answer Me too'], dan: ['answer Me too'] },
  ],
  'merged into another: who followed the one that is merged': [
    async (w) => w.site.call(merges.merge, { ids: [w.post.postId], into: await w.other() }),
    { ann: ['merged'], bea: ['merged'], cleo: ['merged'] },
  ],
  'merged, and taken apart at once: nobody': [
    async (w) => {
      const { undo: kept } = await w.site.call(merges.merge, { ids: [w.post.postId], into: await w.other() })
      await w.site.call(undo, { undo_id: kept?.undo_id ?? '' })
    },
    {},
  ],
  'merged, told, and taken apart: it is news no longer, and the news before are there again': [
    async (w) => {
      await w.ship()
      await w.run()
      await w.site.call(merges.merge, { ids: [w.post.postId], into: await w.other() })
      await w.run()
      await w.site.call(merges.unmerge, { ids: [w.post.postId] })
    },
    ALL,
  ],
  'merged with others at once: nobody': [
    async (w) => {
      const { post: third } = await w.as(w.dan)(posts.create, { title: 'Black screen' })
      await w.site.call(merges.merge, { ids: [w.post.postId, third.postId], into: await w.other() })
    },
    {},
  ],
  'a status of the post that others were merged into: all of them once': [
    async (w) => {
      const into = await w.other()
      await w.as(w.bea)(votes.add, { postId: into })
      await w.site.call(merges.merge, { ids: [w.post.postId], into, quiet: true })
      await w.as(w.ann)(follows.unfollow, w.inPost)
      await w.site.call(posts.update, { id: into, roadmapId: w.shipped.id, partial: true })
    },
    { bea: ['status Shipped'], cleo: ['status Shipped'], dan: ['status Shipped'] },
  ],
  'a reply: who is replied to': [
    (w) => w.as(w.dan)(comments.create, { ...w.inPost, body: 'Why?', parent_id: w.comment.id }),
    { cleo: ['reply Why?'] },
  ],
  'a reply to an internal note: who wrote the note': [
    async (w) => {
      const team = await w.site.member(['comment:view_internal', 'comment:create_internal'])
      Object.assign(w.people, { team })
      const { activity } = await w.as(team)(comments.create, { ...w.inPost, body: 'Hm', is_internal: true })
      await w.site.call(comments.create, { ...w.inPost, body: 'Yes', parent_id: activity.id })
    },
    { team: ['reply Yes'] },
  ],
  'a reply to somebody who unfollowed the post: nobody': [
    async (w) => {
      await w.as(w.cleo)(follows.unfollow, w.inPost)
      await w.as(w.dan)(comments.create, { ...w.inPost, body: 'Why?', parent_id: w.comment.id })
    },
    {},
  ],
  'a comment: the author of the post': [
    (w) => w.as(w.dan)(comments.create, { ...w.inPost, body: 'Why?' }),
    { ann: ['reply Why?'] },
  ],
  'an internal note: nobody who may not read it': [
    (w) => w.site.call(comments.create, { ...w.inPost, body: 'Hm', is_internal: true }),
    {},
  ],
  'a comment that is spam by now: nobody': [
    async (w) => {
      const { activity } = await w.as(w.dan)(comments.create, { ...w.inPost, body: 'Buy!' })
      await w.site.call(moderation.decide, { id: activity.id, decision: 'spam' })
    },
    {},
  ],
  'a comment that is shown after all: once': [
    async (w) => {
      const { activity } = await w.as(w.dan)(comments.create, { ...w.inPost, body: 'Why?' })
      await w.run()
      for (const decision of ['spam', 'keep'] as const) await w.site.call(moderation.decide, { id: activity.id, decision }) // prettier-ignore
    },
    { ann: ['reply Why?'] },
  ],
  'a post that is deleted by now: nobody': [
    async (w) => {
      await w.ship()
      await w.site.call(posts.remove, { id: w.post.postId })
    },
    {},
  ],
  'a board that is private at that moment: nobody, also once it is public again': [
    async (w) => {
      await w.ship()
      await w.site.call(boards.update, { boardId: w.board.boardId, display: false, partial: true })
      await w.run()
      await w.site.call(boards.update, { boardId: w.board.boardId, display: true, partial: true })
    },
    {},
  ],
  'a board that became private afterwards: nobody sees it any more': [
    async (w) => {
      await w.ship()
      await w.run()
      await w.site.call(boards.update, { boardId: w.board.boardId, display: false, partial: true })
    },
    {},
  ],
  'a private roadmap: nobody who may not read it': [
    async (w) => {
      await w.site.call(roadmaps.update, { id: w.shipped.id, display: false, partial: true })
      await w.ship()
    },
    {},
  ],
  'a private roadmap with a message: the message': [
    async (w) => {
      await w.site.call(roadmaps.update, { id: w.shipped.id, display: false, partial: true })
      await w.ship({ message: 'Hm' })
    },
    { ann: ['status Hm'], bea: ['status Hm'], cleo: ['status Hm'] },
  ],
  'who is blocked: nothing': [
    async (w) => {
      await w.site.db.updateTable('users').set({ isBlocked: 1 }).where('userId', '=', w.bea.userId).execute()
      await w.ship()
      await w.run()
      await w.site.db.updateTable('users').set({ isBlocked: 0 }).where('userId', '=', w.bea.userId).execute()
    },
    { ann: ALL.ann, cleo: ALL.cleo },
  ],
  'an answer that is marked again: once': [
    async (w) => {
      await w.site.call(answers.answer, { ...w.inPost, comment_id: w.comment.id })
      await w.run()
      await w.site.call(answers.unanswer, { ...w.inPost, comment_id: w.comment.id })
      await w.site.call(answers.answer, { ...w.inPost, comment_id: w.comment.id })
    },
    { ann: ['answer Me too'], bea: ['answer Me too'], cleo: ['answer Me too'] },
  ],
}

describe.each(engines)('notifications on %s', (engine) => {
  it('who would be told is counted up to a bound', async () => {
    const w = await world(engine)
    const foretold = async (most: number) =>
      (await w.site.call(audience, { ...w.inPost, roadmapId: w.shipped.id, message: false, most })).audience
    expect(await foretold(2)).toMatchObject({ is_capped: true })
    expect(await foretold(3), 'no more than so many').toEqual({ people: 3, mail: 0, digest: 0, page: 3 })
    expect(await foretold(10)).toEqual({ people: 3, mail: 0, digest: 0, page: 3 })
  })

  it.each(Object.entries(CASES))('%s', async (_name, [happens, expected]) => {
    const w = await world(engine)
    await happens(w)
    expect(await w.told()).toEqual(expected)
  })

  it('the owner is not told of what was done at the command line on behalf of nobody', async () => {
    const w = await world(engine)
    const owner = { token: w.token }
    for (const post_id of [w.post.postId, await w.other()]) await w.as(owner)(follows.follow, { post_id })
    const heard = async () => {
      await w.run()
      const { notifications: rows } = await w.as(owner)(notifications.list, {})
      return rows.map(({ kind }) => kind)
    }
    const { audience: counted } = await w.site.call(audience, { post_id: w.post.postId, roadmapId: w.shipped.id, message: false }) // prettier-ignore
    expect(counted.people).toBe(3)
    await w.ship()
    await w.site.call(answers.answer, { ...w.inPost, comment_id: w.comment.id })
    expect(await heard()).toEqual([])
    await w.site.call(merges.merge, { ids: [w.post.postId], into: await w.other() })
    expect(await heard()).toEqual([])
    const eve = await w.site.member(['post:update'])
    const { post: another } = await w.as(owner)(posts.create, { title: 'Sounds' })
    await w.as(eve)(posts.update, { id: another.postId, roadmapId: w.shipped.id, partial: true })
    expect(await heard()).toEqual(['status'])
  })

  it('are told once where an event is handled again', async () => {
    const w = await world(engine)
    await w.ship()
    expect(await w.told()).toEqual(ALL)
    await w.site.db.updateTable('event_cursors').set({ last_id: 0 }).where('consumer', '=', 'notifications').execute()
    const again = await w.told()
    expect(again.bea).toEqual(ALL.bea)
  })

  it.each([
    ['a new status', { roadmapId: 'shipped', message: false }],
    ['a message', { message: true }],
    ['a private status', { roadmapId: 'secret', message: false }],
    ['a private status with a message', { roadmapId: 'secret', message: true }],
    ['no status', { roadmapId: null, message: false }],
  ])('%s tells as many as was said before', async (_name, change) => {
    const w = await world(engine)
    await w.site.call(roadmaps.create, { name: 'Secret', display: false })
    const staff = await w.site.member(['post:update', 'roadmap:read'])
    for (const person of [staff, w.dan]) await w.as(person)(follows.follow, w.inPost)
    await w.site.db
      .insertInto('notification_settings')
      .values([
        { userId: w.ann.userId, ways: JSON.stringify({ status: 'none' }) },
        { userId: w.bea.userId, ways: JSON.stringify({ status: 'page,digest' }) },
        { userId: w.dan.userId, ways: JSON.stringify({ status: 'page' }) },
      ])
      .execute()
    const { message, ...status } = change
    const { audience: said } = await w.as(staff)(audience, { ...w.inPost, ...change })
    await w.as(staff)(posts.update, { id: w.post.postId, partial: true, ...status, ...(message && { message: 'Hm' }) })
    await w.run()
    const rows = await w.site.db.selectFrom('notifications').select('mail').execute()
    const by = (way: 'now' | 'digest' | null) => rows.filter(({ mail }) => mail === way).length
    expect(said).toEqual({ people: rows.length, mail: by('now'), digest: by('digest'), page: by(null) })
  })

  it('the team reads who was told of what, and how many have read it', async () => {
    const w = await world(engine)
    const staff = await w.site.member(['post:update'], { email: 'staff@example.org' })
    const reader = await w.site.member(['post:update', 'comment:view_internal', 'comment:create_internal'])
    const call = w.as(staff)
    await w.site.db.insertInto('notification_settings').values({ userId: w.bea.userId, ways: JSON.stringify({ status: 'digest' }) }).execute() // prettier-ignore
    await w.site.db.updateTable('users').set({ isVerified: 1 }).where('userId', 'in', [w.ann.userId, w.bea.userId]).execute() // prettier-ignore
    expect((await call(told, w.inPost)).told).toEqual([])
    await call(posts.update, { id: w.post.postId, partial: true, roadmapId: w.shipped.id, message: 'It is there.' })
    await w.run()
    await w.as(w.ann)(notifications.read, {})
    const { activity: note } = await w.as(reader)(comments.create, { ...w.inPost, body: 'Hm', is_internal: true })
    await w.site.call(comments.create, { ...w.inPost, body: 'Yes', parent_id: note.id })
    await w.run()
    const ways = { people: 3, page: 2, mail: 1, digest: 1, mailed: 0, read: 1 }
    const { told: rows } = await call(told, w.inPost)
    expect(rows).toMatchObject([{ kind: 'status', user: { userId: staff.userId }, ...ways }])
    expect((await w.as(reader)(told, w.inPost)).told).toMatchObject([{ kind: 'reply', people: 1 }, { kind: 'status' }])
    expect((await w.site.http(`GET /posts/${w.post.postId}/notifications`, { token: w.ann.token })).status).toBe(403)
    const shown = await w.site.call(events.show, { id: rows[0]?.event_id ?? 0 })
    expect(shown).toMatchObject({ event: { action: 'post.updated' }, told: ways })
    expect((await w.site.call(events.show, { id: 1 })).told?.people).toBe(0)
    await expect(w.site.call(events.show, { id: 1_000_000 })).rejects.toMatchObject({ code: 'EVENT_NOT_FOUND' })
  })

  it('are deleted after 180 days if they were read, and after 365 if not', async () => {
    const w = await world(engine)
    await w.ship()
    await w.run()
    await w.as(w.ann)(notifications.read, {})
    const run = { db: w.site.db, now: () => w.site.clock.now, log: { info() {}, warn() {}, error() {} }, signal: new AbortController().signal } // prettier-ignore
    const prune = async () => {
      if (await oldNotifications.isDue?.(run)) while ((await oldNotifications.run(run)) === 'more');
      const rows = await w.site.db.selectFrom('notifications').select('userId').execute()
      return [w.ann, w.bea].map((one) => rows.filter(({ userId }) => userId === one.userId).length)
    }
    const start = w.site.clock.now.getTime()
    const after = async (days: number) => {
      w.site.clock.now = new Date(start + days * 24 * 60 * 60 * 1000 + 1)
      return prune()
    }
    expect([await after(179), await after(180), await after(364), await after(365)]).toEqual([[1, 1], [0, 1], [0, 1], [0, 0]]) // prettier-ignore
  })

  it('are counted, read one by one or up to one, and are their own', async () => {
    const w = await world(engine)
    await w.ship()
    await w.run()
    await w.site.call(posts.update, { id: w.post.postId, partial: true, message: 'Soon' })
    await w.run()
    const call = w.as(w.bea)
    expect(await call(notifications.count, {})).toEqual({ unread: 2, isMailStopped: false })
    const { notifications: rows, page_info: info } = await call(notifications.list, { limit: 1 })
    expect([rows[0]?.kind, info.has_next_page]).toEqual(['update', true])
    const [next] = (await call(notifications.list, { limit: 1, after: rows[0]?.id ?? 0 })).notifications
    expect(next).toMatchObject({ kind: 'status', post: { title: 'Dark mode' }, readAt: null })
    expect(await call(notifications.read, { id: next?.id ?? 0 })).toEqual({ read: 1 })
    expect(await call(notifications.list, { unread: true })).toMatchObject({ notifications: [{ kind: 'update' }] })
    const kinds = async (input: object) => (await call(notifications.list, input)).notifications.map(({ kind }) => kind)
    expect(await kinds({ created: 'asc' })).toEqual(['status', 'update'])
    expect(await kinds({ created: 'asc', limit: 1, after: next?.id ?? 0 })).toEqual(['update'])
    const time = w.site.clock.now.toISOString()
    expect([await kinds({ since: time }), await kinds({ until: time })]).toEqual([['update', 'status'], []])
    expect([await kinds({ query: 'DARK' }), await kinds({ query: 'light' })]).toEqual([['update', 'status'], []])
    const token = w.bea.token
    const shown = await w.site.http(`GET /notifications/${next?.id}`, { token })
    expect(shown.body.notification.readAt).toBe(w.site.clock.now.toISOString())
    expect((await w.site.http(`GET /notifications/${next?.id}`, { token: w.dan.token })).body.code).toBe('NOTIFICATION_NOT_FOUND') // prettier-ignore
    expect(await call(notifications.read, { id: next?.id ?? 0 }), 'once more').toEqual({ read: 0 })
    const reading = (id: number, reader: string) => w.site.http('POST /notifications/read', { token: reader, body: { id } }) // prettier-ignore
    for (const [id, reader] of [
      [9999, token],
      [next?.id ?? 0, w.dan.token],
    ] as const)
      expect((await reading(id, reader)).body.code).toBe('NOTIFICATION_NOT_FOUND')
    expect(await call(notifications.read, { until: rows[0]?.id ?? 0 })).toEqual({ read: 1 })
    expect((await w.as(w.ann)(notifications.count, {})).unread).toBe(2)
    expect(await w.as(w.ann)(notifications.read, {})).toEqual({ read: 2 })
  })

  it('followers are listed with the first of their reasons, a page at a time', async () => {
    const w = await world(engine)
    await w.as(w.dan)(follows.follow, w.inPost)
    await w
      .as(w.ann)(votes.add, w.post)
      .catch(() => {}) // the author has voted already
    const { followers, total_count: total } = await w.site.call(follows.followers, w.inPost)
    const reasons = Object.fromEntries(followers.map(({ userId, reason }) => [userId, reason]))
    expect(reasons).toEqual({ [w.ann.userId]: 'author', [w.bea.userId]: 'voter', [w.cleo.userId]: 'commenter', [w.dan.userId]: 'chosen' }) // prettier-ignore
    expect(total).toBe(4)
    const first = await w.site.call(follows.followers, { ...w.inPost, limit: 3 })
    const after = first.page_info.end_cursor ?? ''
    const rest = await w.site.call(follows.followers, { ...w.inPost, limit: 3, after })
    expect([...first.followers, ...rest.followers]).toEqual(followers)
    expect((await w.site.http(`GET /posts/${w.post.postId}/followers`, { token: w.ann.token })).status).toBe(403)
    expect(await w.as(w.dan)(follows.followed, w.inPost)).toEqual({ following: true })
    await w.as(w.dan)(follows.unfollow, w.inPost)
    expect(await w.as(w.dan)(follows.followed, w.inPost)).toEqual({ following: false })
  })
})
