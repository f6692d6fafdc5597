import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import { operator } from '../../src/service/lib/access.js'
import { history } from '../../src/service/posthistory.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as users from '../../src/service/users.js'
import { engines, makeSite, type Engine, type TestSite } from '../support/site.js'

const MINUTE_MS = 60_000

async function makeContent(engine: Engine) {
  const site = await makeSite(engine)
  const [owner, author, team] = [await site.owner(), await site.member([]), await site.member(['post:update', 'post:destroy', 'comment:update:any', 'comment:view_internal'])] // prettier-ignore
  for (const name of ['Ideas', 'Bugs']) await site.call(boards.create, { name })
  await site.call(roadmaps.create, { name: 'Planned', display: true })
  const as = site.callAs({ ...operator, userId: author.userId })
  const made = []
  for (const title of ['Dark mode', 'Export', 'Cheap watches']) made.push((await as(posts.create, { title, boardId: 'ideas' })).post) // prettier-ignore
  const [first, second, third] = made as [(typeof made)[0], (typeof made)[0], (typeof made)[0]]
  const { activity } = await as(comments.create, { post_id: first.postId, body: 'Buy now' })
  const post = (path: string, body: object, token = team.token) => site.http(`POST /${path}`, { token, body })
  const move = (body: object, token?: string) => post('posts/move', body, token)
  const decide = (decision: string, ids: string[], token?: string) => post('moderation', { decision, ids }, token)
  const undo = (answer: { body: { undo: { undo_id: string } } }, token?: string) => post(`undo/${answer.body.undo.undo_id}`, {}, token) // prettier-ignore
  const places = async () =>
    Promise.all(
      [first, second, third].map(async ({ postId }) => {
        const { post: shown } = await site.call(posts.show, { id: postId })
        return [shown.board?.url ?? null, shown.roadmap?.url ?? null]
      }),
    )
  const queue = async () => {
    const { body } = await site.http('GET /moderation?days=30', { token: owner })
    return body.items.map((item: { kind: string; reasons: string[]; is_spam: boolean }) => `${item.kind} ${item.reasons.join()}${item.is_spam ? ' hidden' : ''}`).toSorted() // prettier-ignore
  }
  const later = (ms: number) => (site.clock.now = new Date(site.clock.now.getTime() + ms))
  return { site, owner, author, team, first, second, third, comment: activity.comment, post, move, decide, undo, places, queue, later } // prettier-ignore
}

describe.each(engines)('moving many posts on %s', (engine) => {
  it('answers an outcome for each, records an event for each, and can be undone once', async () => {
    const { site, team, first, second, third, move, undo, places } = await makeContent(engine)
    await site.call(posts.update, { id: second.postId, partial: true, boardId: 'bugs' })
    const ids = [String(first.number), second.slug, 'nothing', third.postId, ` ${third.postId} `]
    const moved = await move({ ids, boardId: 'bugs' })
    expect(moved).toMatchObject({
      status: 200,
      body: {
        outcomes: [
          {
            given: String(first.number),
            id: first.postId,
            number: first.number,
            title: 'Dark mode',
            outcome: 'changed',
          },
          { given: second.slug, id: second.postId, outcome: 'unchanged' },
          { given: 'nothing', id: null, outcome: 'failed', error: { code: 'POST_NOT_FOUND' } },
          { given: third.postId, id: third.postId, outcome: 'changed' },
        ],
        changed: 2,
        failed: 1,
      },
    })
    expect(await places()).toEqual([['bugs', null], ['bugs', null], ['bugs', null]]) // prettier-ignore
    expect((await site.events()).slice(-2)).toEqual([['post.updated', first.postId], ['post.updated', third.postId]]) // prettier-ignore
    const { history: moves } = await site.call(history, { post_id: first.postId }) // prettier-ignore
    expect(moves[0]).toMatchObject({ movedBy: { userId: team.userId } })

    expect(await undo(moved)).toMatchObject({ status: 200, body: { changed: 2, failed: 0, undo: null } })
    expect(await places()).toEqual([['ideas', null], ['bugs', null], ['ideas', null]]) // prettier-ignore
    expect(await undo(moved)).toMatchObject({ status: 404, body: { code: 'UNDO_NOT_FOUND' } })
    const again = await move({ ids: [first.postId], boardId: 'bugs' })
    const both = await Promise.all([undo(again), undo(again)])
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 404]))
    expect((await places())[0]).toEqual(['ideas', null])
    expect((await move({ ids: [first.postId], boardId: 'none' })).body.changed).toBe(1)
    expect((await places())[0]).toEqual([null, null])
  })

  it('undoes only what nobody changed since', async () => {
    const { site, first, second, third, move, undo } = await makeContent(engine)
    const moved = await move({ ids: [first, second, third].map(({ postId }) => postId), roadmapId: 'planned', boardId: null }) // prettier-ignore
    expect(moved.body.changed).toBe(3)
    await site.call(posts.update, { id: first.postId, partial: true, boardId: 'bugs' })
    await site.call(posts.remove, { id: second.postId })
    expect(await undo(moved)).toMatchObject({
      status: 200,
      body: {
        outcomes: [
          { id: third.postId, outcome: 'changed' },
          { given: second.postId, id: null, error: { code: 'POST_NOT_FOUND' } },
          { given: first.postId, error: { code: 'CONTENT_CHANGED' } },
        ],
      },
    })
    const shown = async (id: string) => (await site.call(posts.show, { id })).post
    expect(await shown(third.postId)).toMatchObject({ board: { url: 'ideas' } })
    expect(await shown(third.postId)).not.toHaveProperty('roadmap.url')
    expect(await shown(first.postId)).toMatchObject({ board: { url: 'bugs' }, roadmap: { url: 'planned' } })
  })

  it('leaves a roadmap alone that has become private, and says so', async () => {
    const { site, owner, first, move, undo } = await makeContent(engine)
    const moved = await move({ ids: [first.postId], roadmapId: 'planned' })
    await site.call(roadmaps.update, { id: (await site.call(roadmaps.show, { url: 'planned' })).roadmap.id, display: false, partial: true }) // prettier-ignore
    const stamp = async () =>
      (await site.http('POST /posts/slug', { token: owner, body: { id: first.postId } })).body.post
    const before = await stamp()
    const events = await site.events()
    expect(await move({ ids: [first.postId], roadmapId: null })).toMatchObject({ body: { changed: 0, outcomes: [{ outcome: 'unchanged' }] } }) // prettier-ignore
    expect(await undo(moved)).toMatchObject({
      body: { changed: 0, outcomes: [{ error: { code: 'CONTENT_CHANGED' } }] },
    })
    expect(await stamp()).toEqual(before)
    expect(await site.events()).toEqual(events)
  })

  it('changes nothing for an unknown place, no place, or more than a hundred posts', async () => {
    const { first, move, places } = await makeContent(engine)
    const before = await places()
    for (const body of [
      { ids: [first.postId], boardId: 'nowhere' },
      { ids: [first.postId], roadmapId: 'nowhere' },
      { ids: [first.postId] },
      { ids: [], boardId: 'bugs' },
      { ids: Array.from({ length: 101 }, (_, index) => String(index + 1)), boardId: 'bugs' },
      { boardId: 'bugs' },
      { ids: [{}], boardId: 'bugs' },
    ])
      expect([body, await move(body)]).toMatchObject([body, { status: 400, body: { code: 'VALIDATION_ERROR' } }])
    expect(await places()).toEqual(before)
  })

  it('can be undone for ten minutes, only by who did it and still may', async () => {
    const { site, owner, author, first, move, undo, later, places } = await makeContent(engine)
    const moved = await move({ ids: [first.postId], boardId: 'bugs' })
    for (const [token, status] of [
      [owner, 404],
      [author.token, 404],
      [undefined, 200],
    ] as const)
      // prettier-ignore
      expect([status, (await undo(moved, token)).status]).toEqual([status, status])
    const again = await move({ ids: [first.postId], boardId: 'bugs' })
    later(10 * MINUTE_MS)
    expect((await undo(again)).status).toBe(404)
    expect((await places())[0]).toEqual(['bugs', null])
    const back = await move({ ids: [first.postId], boardId: 'ideas' })
    await site.db.deleteFrom('role_permissions').where('permission', '=', 'post:update').execute()
    expect(await undo(back)).toMatchObject({ body: { changed: 0, failed: 1, outcomes: [{ error: { code: 'NOT_ENOUGH_PERMISSION' } }] } }) // prettier-ignore
    expect((await undo({ body: { undo: { undo_id: newId() } } }, owner)).status).toBe(404)
    expect((await undo({ body: { undo: { undo_id: 'x'.repeat(5000) } } }, owner)).status).toBe(404)
  })
})

describe.each(engines)('deciding about many on %s', (engine) => {
  it('takes posts and comments together, and an undo restores reports and earlier decisions', async () => {
    const { site, author, first, second, third, comment, decide, undo, post, queue, later } = await makeContent(engine) // prettier-ignore
    const reader = await site.member([])
    await post(`posts/${second.postId}/report`, { reason: 'an ad' }, reader.token)
    await post(`posts/${first.postId}/comments/${comment.id}/report`, {}, reader.token)
    expect((await decide('keep', [third.postId])).body.changed).toBe(1) // an earlier decision, which an edit opens again
    later(MINUTE_MS)
    await site.http('PATCH /posts', { token: author.token, body: { id: third.postId, title: 'Cheaper watches' } })
    const before = await queue()
    expect(before).toEqual(['comment new,reported', 'post edited', 'post new', 'post new,reported'])

    later(MINUTE_MS)
    const spam = await decide('spam', [second.postId, third.slug, comment.id, newId()])
    expect(spam).toMatchObject({ status: 200, body: { changed: 3, failed: 1 } })
    expect(await queue()).toEqual(['post new'])
    expect((await site.http(`POST /posts/slug`, { body: { slug: second.slug } })).status).toBe(404)

    expect(await undo(spam)).toMatchObject({ status: 200, body: { changed: 3, failed: 0 } })
    expect(await queue()).toEqual(before)
    expect((await site.http(`POST /posts/slug`, { body: { slug: second.slug } })).status).toBe(200)
    expect((await site.events()).slice(-3).map(([action]) => action)).toEqual(['comment.reopened', 'post.reopened', 'post.reopened']) // prettier-ignore
  })

  it('leaves what another decided since as it is', async () => {
    const { owner, second, third, decide, undo, post, queue, later } = await makeContent(engine)
    const kept = await decide('keep', [second.postId, third.postId], owner)
    later(MINUTE_MS)
    await post(`moderation/${second.postId}`, { decision: 'spam' }, owner)
    expect(await undo(kept, owner)).toMatchObject({
      body: { outcomes: [{ id: third.postId, outcome: 'changed' }, { given: second.postId, error: { code: 'CONTENT_CHANGED' } }] }, // prettier-ignore
    })
    expect(await queue()).toContain('post new')
  })

  it('undoes nothing of a post that was moved to a private board since, and tells nothing of it', async () => {
    const { site, owner, second, decide, undo } = await makeContent(engine)
    await site.call(boards.create, { name: 'Vault', display: false })
    const spam = await decide('spam', [second.postId])
    const secret = { id: second.postId, boardId: 'vault', title: 'TOPSECRET', partial: true }
    expect((await site.http('PATCH /posts', { token: owner, body: secret })).status).toBe(200)
    const undone = await undo(spam)
    expect(undone).toMatchObject({ body: { changed: 0, outcomes: [{ error: { code: 'POST_NOT_FOUND' } }] } })
    expect(undone.text).not.toContain('TOPSECRET')
    expect((await site.call(posts.show, { id: second.postId })).post).toMatchObject({ is_spam: true })
  })

  it('refuses each that the caller may not decide about, and does the others', async () => {
    const { site, second, comment, decide } = await makeContent(engine)
    const { token } = await site.member(['post:destroy'])
    expect(await decide('spam', [comment.id, second.postId], token)).toMatchObject({
      body: { outcomes: [{ outcome: 'failed', error: { code: 'NOT_ENOUGH_PERMISSION' } }, { outcome: 'changed' }] },
    })
  })

  it('refuses each whose text is another than the one that was read', async () => {
    const { site, author, first, second, decide, later } = await makeContent(engine)
    const read = [first.updatedAt, second.updatedAt]
    later(MINUTE_MS)
    await site.http('PATCH /posts', { token: author.token, body: { id: first.postId, title: 'Buy', partial: true } })
    const { token } = await site.member(['post:destroy'])
    const body = { decision: 'keep', ids: [first.postId, second.postId], if_updated_at: read }
    expect(await site.http('POST /moderation', { token, body })).toMatchObject({
      body: { outcomes: [{ error: { code: 'CONTENT_CHANGED' } }, { outcome: 'changed' }] },
    })
    for (const if_updated_at of [[], read.slice(1), ['yesterday', 'today']])
      expect((await site.http('POST /moderation', { token, body: { ...body, if_updated_at } })).status).toBe(
        if_updated_at.length === 2 ? 200 : 400,
      )
    expect((await decide('keep', [second.postId], token)).status).toBe(200)
  })
})

describe.each(engines)('blocking with a decision on %s', (engine) => {
  const blocked = async (site: TestSite, userId: string) =>
    (await site.call(users.show, { user: userId })).user.isBlocked

  it('hides the text, blocks its author and ends their sessions, all or nothing', async () => {
    const { site, author, second, post } = await makeContent(engine)
    const { token } = await site.member(['post:destroy', 'user:block', 'board:read']) // who sees what is hidden
    const spam = (body: object) => post(`moderation/${second.postId}`, { decision: 'spam', ...body }, token)
    expect(await post(`moderation/${second.postId}`, { decision: 'keep', block: true }, token)).toMatchObject({ status: 400, body: { errors: [{ field: 'block' }] } }) // prettier-ignore
    const weak = await site.member(['post:destroy'])
    expect((await post(`moderation/${second.postId}`, { decision: 'spam', block: true }, weak.token)).status).toBe(403)
    const seen = { block: true, if_updated_at: '2020-01-01T00:00:00.000Z' }
    expect((await spam(seen)).body.code).toBe('CONTENT_CHANGED')
    expect([await blocked(site, author.userId), (await site.call(posts.show, { id: second.postId })).post.is_spam]).toEqual([false, undefined]) // prettier-ignore
    expect((await spam({ block: true })).body.decided).toMatchObject({ is_spam: true, author: 'blocked' })
    expect(await blocked(site, author.userId)).toBe(true)
    expect((await site.http('GET /users/profile', { token: author.token })).status).not.toBe(200)
    expect((await site.events()).slice(-2)).toEqual([['user.blocked', author.userId], ['post.marked_spam', second.postId]]) // prettier-ignore
    expect((await spam({ block: true })).body.decided).not.toHaveProperty('author')
    expect((await site.events()).filter(([action]) => action === 'user.blocked')).toHaveLength(1)
  })

  it('never blocks oneself, the owner or whoever has other rights, and then hides nothing of theirs', async () => {
    const { site, owner, first } = await makeContent(engine)
    const moderator = await site.member(['post:destroy', 'user:block', 'comment:create'])
    const stronger = await site.member(['settings:update'])
    const wrote = async (token: string) => (await site.http('POST /posts', { token, body: { title: 'By the team' } })).body.post.postId // prettier-ignore
    const ids = [await wrote(owner), await wrote(moderator.token), await wrote(stronger.token), first.postId]
    const { body } = await site.http('POST /moderation', { token: moderator.token, body: { decision: 'spam', block: true, ids } }) // prettier-ignore
    expect(body).toMatchObject({
      outcomes: [
        { outcome: 'failed', error: { code: 'CANNOT_CHANGE_OWNER' } },
        { outcome: 'failed', error: { code: 'NOT_ENOUGH_PERMISSION' } },
        { outcome: 'failed', error: { code: 'NOT_ENOUGH_PERMISSION' } },
        { outcome: 'changed', author: 'blocked' },
      ],
      changed: 1,
      failed: 3,
    })
    for (const id of ids.slice(0, 3)) expect((await site.call(posts.show, { id })).post.is_spam).not.toBe(true)
  })

  it('is undone with the decision, unless the account was changed since', async () => {
    const { site, owner, author, first, second, third, undo, later } = await makeContent(engine)
    const spam = (ids: string[]) =>
      site.http('POST /moderation', { token: owner, body: { decision: 'spam', block: true, ids } })
    const both = await spam([first.postId, second.postId])
    expect(both.body.outcomes.map(({ author: its }: { author?: string }) => its)).toEqual(['blocked', undefined])
    expect(await undo(both, owner)).toMatchObject({
      body: { changed: 2, outcomes: [{ id: second.postId }, { id: first.postId, author: 'unblocked' }] },
    })
    expect(await blocked(site, author.userId)).toBe(false)
    expect((await site.events()).slice(-2).map(([action]) => action).toSorted()).toEqual(['post.reopened', 'user.unblocked']) // prettier-ignore
    const again = await spam([third.postId])
    later(MINUTE_MS)
    await site.http(`PATCH /users/${author.userId}`, { token: owner, body: { notes: 'Sells watches' } })
    expect(await undo(again, owner)).toMatchObject({ body: { changed: 1, outcomes: [{ author: 'still-blocked' }] } })
    expect(await blocked(site, author.userId)).toBe(true)
  })

  it('hides what has no author any more, and blocks nobody', async () => {
    const { site, owner, author, first } = await makeContent(engine)
    await site.call(users.remove, { user: author.userId })
    const { body } = await site.http('POST /moderation', { token: owner, body: { decision: 'spam', block: true, ids: [first.postId] } }) // prettier-ignore
    expect(body).toMatchObject({ changed: 1, failed: 0 })
    expect(body.outcomes[0]).not.toHaveProperty('author')
  })
})
