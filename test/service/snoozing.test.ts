import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import { operator } from '../../src/service/lib/access.js'
import * as posts from '../../src/service/posts.js'
import * as users from '../../src/service/users.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import { engines, makeSite, type Engine } from '../support/site.js'

const DAY_MS = 24 * 60 * 60 * 1000
const MODERATOR = ['dashboard:read', 'post:destroy', 'comment:update:any', 'event:read', 'board:read'] as const

async function world(engine: Engine) {
  const site = await makeSite(engine, { siteUrl: 'http://localhost', rates: {} })
  site.clock.now = new Date('2026-03-02T09:30:00.000Z')
  await site.owner()
  await site.call(boards.create, { name: 'Ideas' })
  const [author, team, colleague] = [await site.member([]), await site.member([...MODERATOR]), await site.member([...MODERATOR])] // prettier-ignore
  const as = site.callAs({ ...operator, userId: author.userId })
  const { post } = await as(posts.create, { title: 'Dark mode', boardId: 'ideas', contentMarkdown: 'Please' })
  const { activity } = await as(comments.create, { post_id: post.postId, body: 'Me too' })
  const later = (days: number) => (site.clock.now = new Date(site.clock.now.getTime() + days * DAY_MS))
  // Signed in anew each time, as days pass
  const asked = async (request: string, body?: object, { userId } = team) =>
    site.http(request, { token: await site.signIn(userId), body })
  const decide = async (id: string, body: object) => asked(`POST /moderation/${id}`, body)
  /** Kinds of what waits, of what is put off, and the total for the badge. */
  const queue = async () => {
    const kinds = async (path: string) => (await asked(`GET ${path}`, undefined, colleague)).body.items.map(({ kind }: { kind: string }) => kind).toSorted() // prettier-ignore
    const counted = (await asked('GET /moderation/count', undefined, colleague)).body
    expect((counted.snoozed ?? 0) + counted.total).toBeLessThanOrEqual(2)
    return [await kinds('/moderation'), await kinds('/moderation?snoozed=true'), counted.total, counted.snoozed ?? 0]
  }
  return { site, author, team, colleague, as, post, comment: activity, later, asked, decide, queue }
}

const BOTH = [['comment', 'post'], [], 2, 0]

describe.each(engines)('what the team puts off on %s', (engine) => {
  it('leaves the queue for everybody, and comes back by itself, however old it is', async () => {
    const { site, team, post, comment, later, asked, decide, queue } = await world(engine)
    expect(await queue()).toEqual(BOTH)
    const done = await decide(post.postId, { decision: 'snooze', until: '2w' })
    expect(done.body.decided).toMatchObject({ kind: 'post', is_spam: false, snoozed_until: '2026-03-16T10:00:00.000Z' })
    expect(await queue()).toEqual([['comment'], ['post'], 1, 1])
    await decide(comment.id, { decision: 'snooze', until: '2026-03-03' })
    expect(await queue()).toEqual([[], ['comment', 'post'], 0, 2])
    const { item } = (await asked(`GET /moderation/${post.postId}`)).body
    const { username: name } = await site.db.selectFrom('users').select('username').where('userId', '=', team.userId).executeTakeFirstOrThrow() // prettier-ignore
    expect(item).toMatchObject({ reasons: [], snoozed: { until: '2026-03-16T10:00:00.000Z', person: { username: name } } }) // prettier-ignore
    expect((await site.events()).slice(-2)).toEqual([['post.snoozed', post.postId], ['comment.snoozed', comment.id]]) // prettier-ignore
    later(1)
    expect(await queue()).toEqual([['comment'], ['post'], 1, 1])
    later(13.5)
    expect(await queue(), 'older than what counts as new').toEqual([['comment', 'post'], [], 2, 0])
    for (const { id } of [{ id: post.postId }, comment]) await decide(id, { decision: 'keep' })
    expect(await queue()).toEqual([[], [], 0, 0])
  })

  it('can be woken, and both can be undone', async () => {
    const { site, post, comment, later, asked, queue } = await world(engine)
    const ids = [post.postId, comment.id]
    const many = async (body: object) => (await asked('POST /moderation', { ids, ...body })).body
    const undo = async ({ undo: { undo_id: id } }: { undo: { undo_id: string } }) => (await asked(`POST /undo/${id}`)).body // prettier-ignore
    const before = await site.db.selectFrom('reviews').selectAll().execute()
    const off = await many({ decision: 'snooze', until: '1d' })
    expect([off.changed, await queue()]).toEqual([2, [[], ['comment', 'post'], 0, 2]])
    expect(await many({ decision: 'snooze', until: '1d' })).toMatchObject({ changed: 0, failed: 0, undo: null })
    expect(await undo(off)).toMatchObject({ changed: 2 })
    expect([await queue(), await site.db.selectFrom('reviews').selectAll().execute()]).toEqual([BOTH, before])
    await many({ decision: 'snooze', until: '3w' })
    later(14)
    const woken = await many({ decision: 'wake' })
    expect(await queue(), 'woken, whatever its age').toEqual(BOTH)
    await undo(woken)
    expect(await queue()).toEqual([[], ['comment', 'post'], 0, 2])
    const again = await many({ decision: 'wake' })
    await many({ decision: 'keep' })
    expect(await undo(again)).toMatchObject({ changed: 0, failed: 2 })
    expect((await site.events()).slice(-10).map(([action]) => action)).toEqual(['post.snoozed', 'comment.snoozed', 'post.woken', 'comment.woken', 'comment.snoozed', 'post.snoozed', 'post.woken', 'comment.woken', 'post.kept', 'comment.kept']) // prettier-ignore
  })

  it('waits at once where somebody reports or edits it, or an event is undone', async () => {
    const { site, author, colleague, post, comment, asked, decide, queue } = await world(engine)
    const off = async () => {
      for (const id of [post.postId, comment.id]) await decide(id, { decision: 'snooze', until: '1w' })
    }
    await off()
    await site.http('POST /posts/1/report', { token: colleague.token, body: {} })
    await site.http(`PUT /posts/1/comments/${comment.id}`, { token: author.token, body: { body: 'Me three' } })
    expect(await queue()).toEqual(BOTH)
    await off()
    expect(await queue()).toEqual([[], ['comment', 'post'], 0, 2])
    const { events } = (await asked('GET /events?action=post.snoozed&created=desc')).body
    expect((await asked(`POST /events/${events[0].id}/undo`)).body.undone_by).toHaveLength(1)
    expect(await queue()).toEqual([['post'], ['comment'], 1, 1])
  })

  it('comes back from an undo without who is deleted, and without what was reported since', async () => {
    const { site, colleague, post, comment, later, asked, decide } = await world(engine)
    const many = async (body: object) => (await asked('POST /moderation', body)).body
    const undo = async ({ undo: { undo_id: id } }: { undo: { undo_id: string } }) => (await asked(`POST /undo/${id}`)).body // prettier-ignore
    await asked(`POST /moderation/${comment.id}`, { decision: 'snooze', until: '1w' }, colleague)
    const kept = await many({ ids: [post.postId, comment.id], decision: 'keep' })
    await site.call(users.remove, { user: colleague.userId, posts: 'keep' })
    expect(await undo(kept)).toMatchObject({ changed: 2, failed: 0 })
    expect((await asked('GET /moderation?snoozed=true')).body.items).toMatchObject([{ id: comment.id, snoozed: { person: null } }]) // prettier-ignore
    const woken = await many({ ids: [comment.id], decision: 'wake', if_waiting: true })
    expect(woken).toMatchObject({ changed: 1, failed: 0 })
    later(0.001)
    const reader = await site.member([])
    await asked(`POST /posts/1/comments/${comment.id}/report`, {}, reader)
    expect((await undo(woken)).outcomes).toMatchObject([{ outcome: 'failed', error: { code: 'CONTENT_CHANGED' } }])
    await decide(post.postId, { decision: 'snooze', until: '1w' })
    const again = await many({ ids: [post.postId], decision: 'keep' })
    later(0.001)
    await asked('POST /posts/1/report', {}, reader)
    await undo(again)
    expect((await asked('GET /moderation')).body.total).toBe(2)
    await decide(post.postId, { decision: 'keep' })
    expect(await decide(post.postId, { decision: 'snooze', until: '1w' })).toMatchObject({ status: 409, body: { code: 'ALREADY_DECIDED' } }) // prettier-ignore
    expect((await decide(post.postId, { decision: 'wake' })).status).toBe(200)
  })

  it('takes no time that is past, too far or none, and none with another decision', async () => {
    const { site, author, post, asked, decide } = await world(engine)
    for (const until of ['2026-03-02', '2026-03-02T09:30:00Z', '2y', '0d', 'soon', '', '2026-02-30', '9999-01-01', '1m'])
      expect([until, (await decide('1', { decision: 'snooze', until })).body.errors?.[0]?.field]).toEqual([until, 'until']) // prettier-ignore
    for (const body of [{ decision: 'snooze' }, { decision: 'keep', until: '1d' }, { decision: 'wake', until: '1d' }])
      expect((await decide('1', body)).body.errors?.[0]?.field).toBe('until')
    expect((await asked('POST /moderation', { ids: ['1'], decision: 'spam', until: '1d' })).status).toBe(400)
    await site.call(roadmaps.create, { name: 'Soon', display: true })
    const placed = async (body: object) => (await asked('POST /moderation', { ids: ['1'], roadmapIds: ['soon'], ...body })).body // prettier-ignore
    for (const body of [{ decision: 'snooze', until: '1d' }, { decision: 'wake' }, { decisions: ['wake'] }])
      expect((await placed(body)).errors?.[0]?.field, 'a status is not passed over').toBe('roadmapIds')
    const mine = await asked(`POST /moderation/${post.postId}`, { decision: 'snooze', until: '1d' }, author)
    expect(mine.status).toBe(403)
    expect((await site.events()).some(([action]) => action.endsWith('snoozed'))).toBe(false)
  })
})
