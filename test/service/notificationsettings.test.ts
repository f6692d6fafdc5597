import { describe, expect, it } from 'vitest'
import { notifications as job } from '../../src/jobs/notifications.js'
import type { NotificationWays } from '../../src/core/notificationways.js'
import { claimMailKey } from '../../src/db/notificationsettings.js'
import { operator } from '../../src/service/lib/access.js'
import type { Call } from '../../src/service/lib/operation.js'
import { actorOf } from '../../src/service/lib/sessions.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as events from '../../src/service/events.js'
import * as follows from '../../src/service/follows.js'
import * as merges from '../../src/service/merges.js'
import * as notifications from '../../src/service/notifications.js'
import * as service from '../../src/service/notificationsettings.js'
import * as posts from '../../src/service/posts.js'
import * as profile from '../../src/service/profile.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as users from '../../src/service/users.js'
import * as votes from '../../src/service/votes.js'
import { engines, failure, makeSite, type Engine } from '../support/site.js'

const log = { info: () => {}, warn: () => {}, error: () => {} }
const KEY = 'k'.repeat(32)

/** A site with a post that Ann wrote, and for which Bea voted; both have confirmed addresses. */
async function world(engine: Engine) {
  const site = await makeSite(engine)
  await site.owner()
  const { run: handle } = job({ mail: { url: 'sendmail:', from: '' } })
  const run = async () => void (await handle({ db: site.db, now: () => site.clock.now, log, signal: new AbortController().signal })) // prettier-ignore
  const [ann, bea] = [await site.member([], { email: 'ann@example.org' }), await site.member([], { email: 'bea@example.org' })] // prettier-ignore
  await site.db.updateTable('users').set({ isVerified: 1 }).execute()
  const as = ({ token: its }: { token: string }): Call => async (...request) => site.callAs(await actorOf(`Bearer ${its}`, site.base))(...request) // prettier-ignore
  const { board } = await site.call(boards.create, { name: 'Ideas', display: true })
  const { roadmap } = await site.call(roadmaps.create, { name: 'Shipped', display: true })
  const { post } = await as(ann)(posts.create, { title: 'Dark mode', boardId: board.boardId })
  await as(bea)(votes.add, { postId: post.postId })
  await run() // begins at the newest event
  const inPost = { post_id: post.postId }
  const say = async (message = 'Soon') => {
    await site.call(posts.update, { id: post.postId, partial: true, message })
    await run()
  }
  /** The rows of a person, the newest first: whether the page has them, how they are mailed, and after how many minutes. */
  const rows = async ({ userId }: { userId: string }) =>
    (await site.db.selectFrom('notifications').selectAll().where('userId', '=', userId).orderBy('eventId', 'desc').execute()) // prettier-ignore
      .map(({ isOnPage, mail, mailAt }) => [isOnPage === 1, mail, mailAt && (Date.parse(mailAt) - site.clock.now.getTime()) / 60_000]) // prettier-ignore
  const keyOf = async ({ userId }: { userId: string }, key = KEY) => claimMailKey(site.db, userId, key)
  return { site, run, as, ann, bea, board, roadmap, post, inPost, say, rows, keyOf }
}

/** What is stored of news for each way: on the page, how it is mailed, after how many minutes. The clock says 00:00 UTC. */
const MIDNIGHT = new Date('2026-03-02T00:00:00.000Z')
const HOWS: Record<NotificationWays, unknown[][]> = {
  'page,mail': [[true, 'now', 5]],
  'page,digest': [[true, 'digest', 8 * 60]],
  page: [[true, null, null]],
  mail: [[false, 'now', 5]],
  digest: [[false, 'digest', 8 * 60]],
  none: [],
}

describe.each(engines)('ways of notifications on %s', (engine) => {
  it('are those that a person chose, else those of the site, else ours', async () => {
    const w = await world(engine)
    w.site.clock.now = MIDNIGHT
    await w.say()
    expect(await w.rows(w.bea)).toEqual([[true, 'now', 5]])
    for (const [ways, expected] of Object.entries(HOWS) as [NotificationWays, unknown[][]][]) {
      await w.site.db.deleteFrom('notifications').execute()
      await w.as(w.bea)(service.update, { status: ways })
      await w.say()
      expect([ways, await w.rows(w.bea)]).toEqual([ways, expected])
    }
    await w.site.call(service.updateSite, { status: 'digest' })
    await w.site.db.deleteFrom('notifications').execute()
    await w.as(w.bea)(service.update, { status: 'default' })
    await w.say()
    expect(await w.rows(w.bea)).toEqual(HOWS.digest)
  })

  it('are shown with what is the choice of the site, and only to the team those of the team', async () => {
    const w = await world(engine)
    const { settings } = await w.as(w.bea)(service.settings, {})
    expect(settings).toEqual({
      status: 'page,mail',
      answer: 'page,mail',
      reply: 'page,mail',
      mention: 'page,mail',
      post: 'page,digest',
      defaults: ['status', 'answer', 'reply', 'mention', 'post'],
      site: { status: 'page,mail', answer: 'page,mail', reply: 'page,mail', mention: 'page,mail', post: 'page,digest' },
      digest: 'daily',
      weekday: 'monday',
      hour: 8,
      timeZone: 'UTC',
      quietFrom: 0,
      quietUntil: 0,
      followsAuthored: true,
      followsVoted: true,
      followsCommented: true,
      followsMentioned: true,
      mailStopped: null,
    })
    const team = await w.site.member(['dashboard:read'])
    const changed = await w.as(team)(service.update, { post: 'none', digest: 'weekly', weekday: 'friday', hour: 17 })
    expect(changed.settings).toMatchObject({ post: 'none', report: 'page,digest', digest: 'weekly', weekday: 'friday', hour: 17 }) // prettier-ignore
    expect(changed.settings.defaults).toEqual(['status', 'answer', 'reply', 'mention', 'report'])
    expect((await failure(w.as(w.bea)(service.update, { report: 'mail' }))).code).toBe('NOT_ENOUGH_PERMISSION')
    const onBehalf = w.site.callAs({ ...operator, userId: w.bea.userId }) // --as at the command line
    expect((await onBehalf(service.settings, {})).settings.report).toBeUndefined()
    expect((await failure(onBehalf(service.update, { report: 'mail' }))).code).toBe('NOT_ENOUGH_PERMISSION')
    for (const timeZone of ['Mars/Base', '+02:00', ''])
      expect((await failure(w.as(w.bea)(service.update, { timeZone }))).errors?.[0]).toMatchObject({ code: 'TIME_ZONE_UNKNOWN', field: 'timeZone' }) // prettier-ignore
    expect((await w.as(w.bea)(service.update, { timeZone: 'Asia/Kolkata' })).settings.timeZone).toBe('Asia/Kolkata')
    const { events: log } = await w.site.call(events.list, { person: w.bea.userId, created: 'desc' })
    expect(log[0]).toMatchObject({ action: 'user.updated', actor: { userId: w.bea.userId } })
  })

  it('of the site are recorded, and refused to a form that is older', async () => {
    const w = await world(engine)
    const before = await w.site.call(service.site, {})
    expect(before.ways).toMatchObject({ status: 'page,mail', report: 'page,digest' })
    const after = await w.site.call(service.updateSite, { status: 'page', ifVersion: before.version })
    expect(after.ways).toEqual({ ...before.ways, status: 'page' })
    expect((await failure(w.site.call(service.updateSite, { status: 'none', ifVersion: before.version }))).code).toBe('CONTENT_CHANGED') // prettier-ignore
    const [event] = (await w.site.call(events.list, { action: 'site.updated' })).events
    expect(event?.details).toEqual([{ field: 'notificationWays', before: '{}', after: '{"status":"page"}' }])
  })

  it('a reason to follow that is switched off is none, until it is switched on', async () => {
    const w = await world(engine)
    const isFollowing = async (one: typeof w.ann) => (await w.as(one)(follows.followed, w.inPost)).following
    await w.as(w.ann)(service.update, { followsAuthored: false, followsVoted: false })
    await w.as(w.bea)(service.update, { followsVoted: false })
    expect([await isFollowing(w.ann), await isFollowing(w.bea)]).toEqual([false, false])
    await w.say()
    expect([await w.rows(w.ann), await w.rows(w.bea)]).toEqual([[], []])
    await w.as(w.bea)(service.update, { followsVoted: true })
    await w.as(w.ann)(comments.create, { ...w.inPost, body: 'Mine' })
    expect([await isFollowing(w.ann), await isFollowing(w.bea)]).toEqual([true, true])
    await w.as(w.ann)(service.update, { followsCommented: false })
    expect(await isFollowing(w.ann)).toBe(false)
  })

  it('what waits to be mailed follows a change, and what does not wait stays', async () => {
    const w = await world(engine)
    w.site.clock.now = MIDNIGHT
    await w.say()
    const change = async (input: object) => {
      await w.as(w.bea)(service.update, input)
      return w.rows(w.bea)
    }
    w.site.clock.now = new Date(MIDNIGHT.getTime() + 60_000)
    expect(await change({ status: 'mail' })).toEqual([[true, 'now', 4]]) // as soon as before
    expect(await change({ status: 'page,digest' })).toEqual([[true, 'digest', 8 * 60 - 1]])
    expect(await change({ hour: 9, timeZone: 'Europe/Berlin' })).toEqual([[true, 'digest', 8 * 60 - 1]])
    expect(await change({ hour: 12 })).toEqual([[true, 'digest', 11 * 60 - 1]])
    expect(await change({ reply: 'none' })).toEqual([[true, 'digest', 11 * 60 - 1]])
    expect(await change({ status: 'mail' })).toEqual([[true, 'now', 5]])
    const zone = { timeZone: 'UTC' }
    expect(await change({ ...zone, quietFrom: 0, quietUntil: 6 })).toEqual([[true, 'quiet', 6 * 60 - 1]])
    expect(await change({ quietFrom: 6 })).toEqual([[true, 'now', 5]])
    await w.say('Later')
    expect((await w.rows(w.bea))[0]).toEqual([false, 'now', 5])
    expect(await change({ status: 'page' })).toEqual([[true, null, null], [true, null, null]]) // prettier-ignore
    expect(await change({ status: 'page,mail' })).toEqual([[true, null, null], [true, null, null]]) // prettier-ignore
    expect((await w.rows(w.ann))[0]?.[1]).toBe('now')
  })

  it('mail that came back is said, with its reason', async () => {
    const w = await world(engine)
    const call = w.as(w.bea)
    expect(await call(notifications.count, {})).toEqual({ unread: 0, isMailStopped: false })
    const at = w.site.clock.now.toISOString()
    const bounce = { userId: w.bea.userId, bounces: 3, reason: '550 no such user', bouncedAt: at }
    await w.site.db
      .insertInto('mail_bounces')
      .values({ ...bounce, suppressedAt: null })
      .execute()
    expect((await call(notifications.count, {})).isMailStopped).toBe(false)
    await w.site.db.updateTable('mail_bounces').set({ suppressedAt: at }).execute()
    expect((await call(notifications.count, {})).isMailStopped).toBe(true)
    const { settings } = await call(service.settings, {})
    expect(settings.mailStopped).toEqual({ reason: '550 no such user', since: at })
    await w.say()
    expect(await w.rows(w.bea)).toEqual([[true, null, null]])
  })
})

describe.each(engines)('the link of a mail on %s', (engine) => {
  it('shows the choices, the masked address and a public post that is followed, and nothing else', async () => {
    const w = await world(engine)
    await w.keyOf(w.bea)
    const read = async (query = '') => w.site.http(`GET /notifications/mail?token=${KEY}${query}`)
    const { status, body, headers } = await read(`&post=${w.post.number}`)
    expect(status).toBe(200)
    expect(headers['cache-control']).toBe('no-store')
    const { settings } = await w.as(w.bea)(service.settings, {})
    const { mailStopped: _, ...choices } = settings
    expect(body).toEqual({ email: 'b***@example.org', settings: choices, post: { number: w.post.number, title: 'Dark mode' } }) // prettier-ignore
    await w.site.call(boards.update, { boardId: w.board.boardId, display: false, partial: true })
    const hidden = await read(`&post=${w.post.number}`)
    expect(hidden.body.post).toEqual({ number: w.post.number, title: null })
    expect(hidden.text).not.toContain('Dark')
    await w
      .as(w.bea)(follows.unfollow, w.inPost)
      .catch(() => {})
    const { post: other } = await w.site.call(posts.create, { title: 'Another' })
    expect((await read(`&post=${other.number}`)).body.post).toBeNull()
    expect((await read('&post=999999')).body.post).toBeNull()
    expect((await w.site.http(`GET /notifications/mail?token=${'x'.repeat(32)}`)).body.code).toBe('MAIL_KEY_NOT_FOUND')
    expect(await w.site.db.selectFrom('notification_settings').selectAll().execute()).toHaveLength(1) // it changed nothing
  })

  it('changes the choices of its person alone, after years, a rename and a block', async () => {
    const w = await world(engine)
    await w.keyOf(w.bea)
    await w.keyOf(w.ann, 'a'.repeat(32))
    await w.as(w.bea)(profile.updateProfile, { name: 'Beatrice' })
    await w.site.call(users.update, { user: w.bea.userId, username: 'beatrice', email: 'new@example.org' })
    await w.say()
    await w.site.call(users.block, { user: w.bea.userId })
    const { now } = w.site.clock
    w.site.clock.now = new Date('2031-01-01T00:00:00.000Z')
    const changed = await w.site.http('PATCH /notifications/mail', { body: { token: KEY, status: 'page', hour: 7, followsVoted: false } }) // prettier-ignore
    expect([changed.status, changed.body.email]).toEqual([200, 'n***@example.org'])
    expect(changed.body.settings).toMatchObject({ status: 'page', hour: 7, followsVoted: false, reply: 'page,mail' })
    expect((await w.rows(w.bea))[0]).toEqual([true, null, null])
    w.site.clock.now = now
    expect((await w.as(w.ann)(service.settings, {})).settings).toMatchObject({ status: 'page,mail', hour: 8 })
    expect((await w.rows(w.ann))[0]?.[1]).toBe('now')
    const team = await w.site.http('PATCH /notifications/mail', { body: { token: KEY, report: 'mail' } })
    expect(team.body.code).toBe('NOT_ENOUGH_PERMISSION')
    const [event] = (await w.site.call(events.list, { subject: w.bea.userId, created: 'desc' })).events
    expect(event).toMatchObject({ action: 'user.updated', actor: null })
  })

  it('stops all mail and keeps the page', async () => {
    const w = await world(engine)
    await w.keyOf(w.bea)
    await w.as(w.bea)(service.update, { answer: 'digest', reply: 'page', mention: 'none' })
    await w.say()
    const queue = async (deliveryId: string, more: object) => {
      const at = w.site.clock.now.toISOString()
      const letter = { kind: 'mail', recipient: 'bea@example.org', subject: 'x', text: 'x', html: 'x', createdAt: at, dueAt: at } as const // prettier-ignore
      await w.site.db
        .insertInto('deliveries')
        .values({ ...letter, deliveryId, priority: 1, ...more })
        .execute()
    }
    await queue('waits', {})
    await queue('of ann', { recipient: 'ann@example.org' })
    await queue('to sign in', { priority: 0 })
    await queue('on its way', { leasedUntil: new Date(w.site.clock.now.getTime() + 10_000).toISOString(), lease: 'x' })
    const { status, body } = await w.site.http('POST /notifications/mail/stop', { body: { token: KEY } })
    expect(status).toBe(200)
    expect(body.settings).toMatchObject({
      status: 'page',
      answer: 'none',
      reply: 'page',
      mention: 'none',
      defaults: [],
    })
    expect(await w.rows(w.bea)).toEqual([[true, null, null]])
    const stopped = await w.site.db.selectFrom('deliveries').select(['deliveryId', 'text']).where('cancelledAt', 'is not', null).execute() // prettier-ignore
    expect(stopped).toEqual([{ deliveryId: 'waits', text: '' }])
    await w.site.call(service.updateSite, { status: 'page,mail' })
    await w.say('Again')
    expect((await w.rows(w.bea))[0]).toEqual([true, null, null])
    expect((await w.site.http('POST /notifications/mail/stop', { body: { token: KEY } })).status).toBe(200)
  })

  it('ends following a post, and says nothing of posts that are not public', async () => {
    const w = await world(engine)
    await w.keyOf(w.bea)
    const end = (which: string) =>
      w.site.http('POST /notifications/mail/unfollow', { body: { token: KEY, post: which } })
    expect((await end(String(w.post.number))).body).toEqual({ following: false })
    expect((await end(String(w.post.number))).status).toBe(200)
    expect(await w.as(w.bea)(follows.followed, w.inPost)).toEqual({ following: false })
    expect(await w.as(w.ann)(follows.followed, w.inPost)).toEqual({ following: true })
    // A merged post, which older mails name, is the one that it was merged into
    const { post: stays } = await w.site.call(posts.create, { title: 'Night theme', boardId: w.board.boardId })
    await w.as(w.bea)(votes.add, { postId: stays.postId })
    await w.site.call(merges.merge, { ids: [w.post.postId], into: stays.postId })
    expect((await end(String(w.post.number))).body).toEqual({ following: false })
    expect(await w.as(w.bea)(follows.followed, { post_id: stays.postId })).toEqual({ following: false })
    await w.site.call(merges.unmerge, { ids: [w.post.postId] })
    await w.site.call(boards.update, { boardId: w.board.boardId, display: false, partial: true })
    const [gone, never] = [await end(String(w.post.number)), await end('99999')]
    expect([gone.status, gone.body.code]).toEqual([404, never.body.code])
    expect((await w.site.http('POST /notifications/mail/unfollow', { body: { token: 'nobody', post: '1' } })).body.code).toBe('MAIL_KEY_NOT_FOUND') // prettier-ignore
  })
})
