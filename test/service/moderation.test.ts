import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { REASONS } from '../../src/db/moderationqueue.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import type { Item } from '../../src/service/moderation.js'
import { operator } from '../../src/service/lib/access.js'
import * as posts from '../../src/service/posts.js'
import * as users from '../../src/service/users.js'
import { engines, makeSite, type Engine, type TestSite } from '../support/site.js'

const HOUR_MS = 60 * 60 * 1000

/** A post and a comment of a member, an hour apart. */
async function makeContent(engine: Engine) {
  const site = await makeSite(engine)
  const [owner, author, reader] = [await site.owner(), await site.member([]), await site.member([])]
  await site.call(boards.create, { name: 'Ideas' })
  const as = site.callAs({ ...operator, userId: author.userId })
  const { post } = await as(posts.create, { title: 'Cheap watches', boardId: 'ideas', contentMarkdown: 'Buy' })
  site.clock.now = new Date(site.clock.now.getTime() + HOUR_MS)
  const { activity } = await as(comments.create, { post_id: post.postId, body: 'Buy now' })
  const decide = (id: string, decision: string, token = owner) =>
    site.http(`POST /moderation/${id}`, { token, body: { decision } })
  return { site, owner, author, reader, post, comment: activity.comment, decide }
}

async function queue(site: TestSite, token: string, query = ''): Promise<Item[]> {
  const answer = await site.http(`GET /moderation${query}`, { token })
  expect(answer.status).toBe(200)
  expect(answer.body.total).toBe(answer.body.items.length)
  const items = answer.body.items as Item[]
  if (query.includes('reasons=')) return items
  const counted = Object.fromEntries(REASONS.map((reason) => [reason, items.filter(({ reasons }) => reasons.includes(reason)).length])) // prettier-ignore
  const days = query.includes('days=') ? query : ''
  expect((await site.http(`GET /moderation/count${days}`, { token })).body).toMatchObject({ total: items.length, reasons: counted }) // prettier-ignore
  return items
}

const brief = (items: Item[]) => items.map(({ kind, reasons }) => `${kind} ${reasons.join()}`)

describe.each(engines)('moderation on %s', (engine) => {
  it('shows what is new, newest first, until it is decided or older than the days asked for', async () => {
    const { site, owner, post, comment, decide } = await makeContent(engine)
    expect(brief(await queue(site, owner))).toEqual(['comment new', 'post new'])
    expect(await queue(site, owner)).toMatchObject([
      { id: comment.id, text: 'Buy now', post: { title: 'Cheap watches' }, board: { url: 'ideas' }, reports: [] },
      { id: post.postId, text: 'Buy', is_spam: false },
    ])
    expect(await decide(comment.id, 'keep')).toMatchObject({ status: 200, body: { decided: { kind: 'comment' } } })
    expect(brief(await queue(site, owner))).toEqual(['post new'])
    site.clock.now = new Date(site.clock.now.getTime() + 25 * HOUR_MS)
    expect(brief(await queue(site, owner, '?days=1'))).toEqual([])
    expect(brief(await queue(site, owner, '?days=2'))).toEqual(['post new'])
    expect((await site.events()).slice(-1)).toEqual([['comment.kept', comment.id]])
  })

  it('shows the oldest first where asked to, and the reported ones before them in both directions', async () => {
    const { site, owner, author, reader, post, comment } = await makeContent(engine)
    const as = site.callAs({ ...operator, userId: author.userId })
    const ids = [post.postId, comment.id]
    for (const title of ['Dark mode', 'Export']) {
      site.clock.now = new Date(site.clock.now.getTime() + HOUR_MS)
      ids.push((await as(posts.create, { title, boardId: 'ideas' })).post.postId)
    }
    const [first, second, third, fourth] = ids
    const listed = async (query: string) => (await queue(site, owner, query)).map(({ id }) => id)
    expect(await listed('?created=asc')).toEqual(ids)
    expect(await listed('?created=DESC')).toEqual(ids.toReversed())
    for (const id of [post.postId, third])
      expect((await site.http(`POST /posts/${id}/report`, { token: reader.token, body: {} })).status).toBe(200)
    expect(await listed('?created=asc')).toEqual([first, third, second, fourth])
    expect(await listed('')).toEqual([third, first, fourth, second])
    const page = async (query: string) => (await site.http(`GET /moderation?created=asc&limit=2&${query}`, { token: owner })).body.items.map((item: Item) => item.id) // prettier-ignore
    expect(await page('page=2')).toEqual([second, fourth])
    expect(await page(`after=${first}`)).toEqual([third, second])
    expect((await site.http('GET /moderation?created=sideways', { token: owner })).body).toMatchObject({
      code: 'VALIDATION_ERROR',
      errors: [{ field: 'created', code: 'UNKNOWN_CHOICE' }],
    })
  })

  it('begins with the oldest of all that waits, where more waits than it counts', async () => {
    const { site, owner, post, comment } = await makeContent(engine)
    const found = await site.db.selectFrom('comments').selectAll().where('id', '=', comment.id).executeTakeFirstOrThrow() // prettier-ignore
    const { number: _own, ...row } = found
    const later = Array.from({ length: 1000 }, (_, number) => {
      const createdAt = new Date(site.clock.now.getTime() + (number + 1) * 1000).toISOString()
      return { ...row, id: newId(), created_at: createdAt, updated_at: createdAt }
    })
    await site.db.insertInto('comments').values(later).execute()
    const { items, total } = (await site.http('GET /moderation?created=asc&limit=3', { token: owner })).body
    expect(total).toBe(1001)
    expect(items.map(({ id }: Item) => id)).toEqual([post.postId, comment.id, later[0]?.id])
  })

  it('hides a post that is spam from everybody but those who see private boards, also after its board changes', async () => {
    const { site, owner, author, post, decide } = await makeContent(engine)
    const seen = async (token?: string) => (await site.http('POST /posts/slug', { token, body: { slug: post.slug } })).status // prettier-ignore
    const counts = async () => (await site.http('POST /posts/get', { body: {} })).body.total_count
    expect(await counts()).toBe(1)
    expect((await decide(post.slug, 'spam')).body.decided).toMatchObject({ is_spam: true, kind: 'post' })
    expect([await seen(), await seen(author.token), await seen(owner), await counts()]).toEqual([404, 404, 200, 0])
    expect((await site.http('POST /posts/slug', { token: owner, body: { slug: post.slug } })).body.post.is_spam).toBe(true) // prettier-ignore

    const { board } = await site.call(boards.create, { name: 'Other' })
    for (const boardId of [board.boardId, null, board.boardId]) {
      await site.call(posts.update, { id: post.postId, boardId, partial: true })
      expect([await seen(), await counts()]).toEqual([404, 0])
    }
    await site.http('PATCH /boards', { token: owner, body: { boardId: board.boardId, display: false, partial: true } })
    await site.http('PATCH /boards', { token: owner, body: { boardId: board.boardId, display: true, partial: true } })
    expect([await seen(), await counts()]).toEqual([404, 0])

    expect((await decide(post.postId, 'reopen')).body.decided.is_spam).toBe(false)
    expect([await seen(), await counts()]).toEqual([200, 1])
    expect(brief(await queue(site, owner))).toContain('post new')
  })

  it('refuses a decision about a text that was changed since the queue was read', async () => {
    const { site, owner, author, post, comment, decide } = await makeContent(engine)
    const versionOf = async (wanted: string) => (await queue(site, owner)).find(({ id }) => id === wanted)?.updated_at
    const send = async (id: string, decision: string, if_updated_at: unknown) => {
      const { status, body } = await site.http(`POST /moderation/${id}`, { token: owner, body: { decision, if_updated_at } }) // prettier-ignore
      return status === 200 ? body.decided.is_spam : [status, body.code]
    }
    const edits = {
      [post.postId]: () => site.http('PATCH /posts', { token: author.token, body: { id: post.postId, partial: true, contentMarkdown: 'Other' } }), // prettier-ignore
      [comment.id]: () => site.http(`PUT /posts/${post.slug}/comments/${comment.id}`, { token: author.token, body: { body: 'Other' } }), // prettier-ignore
    }
    for (const [id, edit] of Object.entries(edits)) {
      const seen = await versionOf(id)
      site.clock.now = new Date(site.clock.now.getTime() + HOUR_MS)
      expect((await edit()).status).toBe(200)
      for (const decision of ['keep', 'spam', 'reopen'])
        expect(await send(id, decision, seen)).toEqual([409, 'CONTENT_CHANGED'])
      expect((await queue(site, owner)).find((item) => item.id === id)).toMatchObject({ text: 'Other', is_spam: false })
      expect(await send(id, 'keep', 'yesterday')).toEqual([400, 'VALIDATION_ERROR'])
      expect(await send(id, 'spam', await versionOf(id))).toBe(true)
      expect((await decide(id, 'keep')).status, 'without a version as before').toBe(200)
    }
    expect((await site.events()).filter(([action]) => /kept|marked_spam|reopened/.test(action))).toHaveLength(4)
  })

  it('tells people what they have reported themselves, and whether it is decided', async () => {
    const { site, owner, author, reader, post, comment, decide } = await makeContent(engine)
    const seen = async (token?: string) => {
      const { status, body } = await site.http(`GET /posts/${post.number}/reported`, { token })
      return status === 200 ? body.reported.map(({ kind, id, is_open: isOpen }: { kind: string; id: string; is_open: boolean }) => `${kind} ${id}${isOpen ? '' : ' reviewed'}`) : status // prettier-ignore
    }
    expect([await seen(), await seen(reader.token)]).toEqual([400, []])
    await site.http(`POST /posts/${post.slug}/report`, { token: reader.token, body: {} })
    await site.http(`POST /posts/${post.slug}/comments/${comment.id}/report`, { token: reader.token, body: {} })
    const { post: other } = await site.call(posts.create, { title: 'Other' })
    await site.http(`POST /posts/${other.slug}/report`, { token: reader.token, body: {} })
    expect(await seen(reader.token)).toEqual([`post ${post.postId}`, `comment ${comment.id}`])
    expect([await seen(author.token), await seen(owner)], 'nobody else').toEqual([[], []])
    await decide(post.postId, 'keep')
    expect(await seen(reader.token)).toEqual([`post ${post.postId} reviewed`, `comment ${comment.id}`])
    await site.call(comments.remove, { post_id: post.postId, comment_id: comment.id })
    expect(await seen(reader.token)).toEqual([`post ${post.postId} reviewed`])
    await site.http(`POST /posts/${post.slug}/report`, { token: reader.token, body: {} })
    expect(await seen(reader.token), 'reported again').toEqual([`post ${post.postId}`])
  })

  it('shows reported content first, with the reasons, and a person counts once', async () => {
    const { site, owner, author, reader, post, comment, decide } = await makeContent(engine)
    const report = (token: string, reason?: string) =>
      site.http(`POST /posts/${post.slug}/report`, { token, body: { reason } })
    expect(await report(reader.token, 'advertising')).toMatchObject({ status: 200, body: { noted: true } })
    expect((await report(reader.token, 'again')).body).toEqual({ noted: true })
    expect((await site.events()).filter(([action]) => action === 'post.reported')).toHaveLength(1)
    const [first, second] = await queue(site, owner)
    expect(first).toMatchObject({ id: post.postId, reasons: ['new', 'reported'] })
    expect(first?.reports.map(({ reason }) => reason)).toEqual(['advertising'])
    expect(second?.id).toBe(comment.id)

    await decide(post.postId, 'keep')
    expect(brief(await queue(site, owner))).toEqual(['comment new'])
    await report(author.token)
    expect(brief(await queue(site, owner))).toEqual(['post reported', 'comment new'])
    await decide(post.postId, 'keep')
    await decide(post.postId, 'reopen')
    expect((await queue(site, owner))[0]?.reports).toHaveLength(2)

    const ofComment = await site.http(`POST /posts/${post.slug}/comments/${comment.id}/report`, { token: reader.token })
    expect(ofComment.body).toEqual({ noted: true })
    expect(brief(await queue(site, owner, '?reasons=reported'))).toEqual(['comment reported', 'post reported'])
    await site.http('DELETE /posts', { token: owner, body: { id: post.postId } })
    expect(await queue(site, owner)).toEqual([])
  })

  it('shows what its author edits after it was kept, however old, but not what the team edits', async () => {
    const { site, owner, author, post, comment, decide } = await makeContent(engine)
    const moderator = await site.member(['post:destroy', 'post:update', 'comment:update:any'])
    const editPost = (token: string, body: object) =>
      site.http('PATCH /posts', { token, body: { id: post.postId, partial: true, ...body } })
    const editComment = (token: string, body: object) =>
      site.http(`PUT /posts/${post.slug}/comments/${comment.id}`, { token, body: { partial: true, ...body } })
    await decide(post.postId, 'keep')
    await decide(comment.id, 'keep')
    site.clock.now = new Date(site.clock.now.getTime() + 30 * HOUR_MS)

    await editPost(moderator.token, { title: 'Watches' })
    await editPost(author.token, { title: 'Watches', contentMarkdown: 'Buy' })
    await editComment(moderator.token, { body: 'Buy it now' })
    await editComment(author.token, { body: 'Buy it now' })
    expect(await queue(site, owner, '?days=1')).toEqual([])

    await site.http('PATCH /posts', { token: author.token, body: { id: post.postId, title: 'Very cheap' }, headers: { 'feedbackctl-dry-run': '1' } }) // prettier-ignore
    expect(await queue(site, owner, '?days=1')).toEqual([])
    expect((await editPost(author.token, { title: 'Very cheap watches' })).status).toBe(200)
    site.clock.now = new Date(site.clock.now.getTime() + HOUR_MS)
    expect((await editComment(author.token, { body: 'https://watches.example' })).status).toBe(200)
    expect(await queue(site, owner, '?days=1')).toMatchObject([
      { id: comment.id, reasons: ['edited'], text: 'https://watches.example' },
      { id: post.postId, reasons: ['edited'], post: { title: 'Very cheap watches' } },
    ])
    expect(brief(await queue(site, owner, '?reasons=new&days=3'))).toEqual([])
    await decide(post.postId, 'keep')
    await decide(comment.id, 'spam')
    expect(await queue(site, owner, '?days=1')).toEqual([])
    await decide(post.postId, 'reopen')
    await decide(comment.id, 'reopen')
    expect(brief(await queue(site, owner, '?days=1'))).toEqual(['comment edited', 'post edited'])

    await decide(post.postId, 'keep')
    await decide(comment.id, 'keep')
    const as = site.callAs({ ...operator, userId: author.userId }) // --as
    await as(posts.update, { id: post.postId, contentMarkdown: 'Buy them', partial: true })
    expect(brief(await queue(site, owner, '?days=1'))).toEqual(['post edited'])
    await site.call(comments.update, { post_id: post.postId, comment_id: comment.id, body: 'By the operator' })
    expect(brief(await queue(site, owner, '?days=1'))).toEqual(['post edited'])
  })

  it('shows what its author edits after it was new, though nobody decided about it', async () => {
    const { site, owner, author, post, comment, decide } = await makeContent(engine)
    const moderator = await site.member(['post:destroy', 'post:update', 'comment:update:any'])
    const editPost = (token: string, title: string) =>
      site.http('PATCH /posts', { token, body: { id: post.postId, partial: true, title } })
    const editComment = (body: string) =>
      site.http(`PUT /posts/${post.slug}/comments/${comment.id}`, { token: author.token, body: { partial: true, body } }) // prettier-ignore
    await editPost(author.token, 'Watches, mended')
    expect(await queue(site, owner)).toMatchObject([{ reasons: ['new'] }, { reasons: ['new'] }])

    site.clock.now = new Date(site.clock.now.getTime() + 30 * HOUR_MS)
    expect(await queue(site, owner, '?days=1')).toEqual([])
    await editPost(moderator.token, 'Watches by the team')
    expect(await queue(site, owner, '?days=1')).toEqual([])
    await editPost(author.token, 'Cheap pills')
    await editComment('Buy pills')
    expect(brief(await queue(site, owner, '?days=1'))).toEqual(['comment edited', 'post edited'])
    expect((await site.http('GET /moderation/count?days=1', { token: owner })).body.reasons).toMatchObject({ new: 0, edited: 2 }) // prettier-ignore
    await decide(post.postId, 'keep')
    expect(brief(await queue(site, owner, '?days=1'))).toEqual(['comment edited'])
    await decide(post.postId, 'reopen')
    expect(brief(await queue(site, owner, '?days=1'))).toEqual(['comment edited', 'post edited'])
  })

  it('takes the reason of a second report where the first had none', async () => {
    const { site, owner, reader, post } = await makeContent(engine)
    const report = (body: object) => site.http(`POST /posts/${post.slug}/report`, { token: reader.token, body })
    const reasons = async () => (await queue(site, owner))[0]?.reports.map(({ reason }) => reason)
    await report({})
    expect(await reasons()).toEqual([null])
    await report({ reason: 'advertising' })
    expect(await reasons()).toEqual(['advertising'])
    await report({})
    expect(await reasons()).toEqual(['advertising'])
  })

  it('shows what the team writes only where it is reported', async () => {
    const { site, owner, reader, post, decide } = await makeContent(engine)
    const moderator = await site.member(['comment:update:any'])
    await decide(post.postId, 'keep')
    const before = brief(await queue(site, owner))
    const own = await site.call(posts.create, { title: 'By the owner' })
    const as = site.callAs({ ...operator, userId: moderator.userId })
    const { activity } = await as(comments.create, { post_id: post.postId, body: 'By a moderator' })
    expect(brief(await queue(site, owner))).toEqual(before)
    await site.http(`POST /posts/${own.post.slug}/report`, { token: reader.token, body: {} })
    await site.http(`POST /posts/${post.slug}/comments/${activity.id}/report`, { token: reader.token, body: {} })
    expect(brief(await queue(site, owner)).toSorted()).toEqual(
      [...before, 'comment reported', 'post reported'].toSorted(),
    )
  })

  it('shows what blocked people wrote, however old, and comments that were marked as spam', async () => {
    const { site, owner, author, post, comment, decide } = await makeContent(engine)
    site.clock.now = new Date(site.clock.now.getTime() + 36 * HOUR_MS)
    expect(await queue(site, owner, '?days=1')).toEqual([])
    await site.call(users.block, { user: author.userId })
    await site.call(comments.update, { post_id: post.postId, comment_id: comment.id, is_spam: true, partial: true })
    expect(brief(await queue(site, owner, '?days=1'))).toEqual(['comment spam,blocked', 'post blocked'])
    await decide(comment.id, 'keep')
    const { body } = await site.http(`GET /posts/${post.slug}/activity`)
    expect(body.activity).toMatchObject([{ comment: { id: comment.id, is_spam: false } }])
    await decide(post.postId, 'keep')
    expect(await queue(site, owner, '?days=1')).toEqual([])
  })

  it('shows a moderator only what that person may decide about and read', async () => {
    const { site, owner, author, post, comment, decide } = await makeContent(engine)
    await site.http('POST /boards', { token: owner, body: { name: 'Secret', display: false } })
    const as = site.callAs({ ...operator, userId: author.userId })
    const hidden = await as(posts.create, { title: 'Secret', boardId: 'secret' })
    await as(comments.create, { post_id: post.postId, body: 'Note', is_internal: true })
    const [forPosts, forComments, both, none] = [
      await site.member(['post:destroy']),
      await site.member(['comment:update:any']),
      await site.member(['post:destroy', 'comment:update:any', 'board:read', 'comment:view_internal']),
      await site.member(['post:update']),
    ]
    expect(brief(await queue(site, forPosts.token))).toEqual(['post new'])
    expect(brief(await queue(site, forComments.token))).toEqual(['comment new'])
    expect(await queue(site, both.token)).toHaveLength(4)
    expect((await site.http('GET /moderation', { token: none.token })).body.code).toBe('NOT_ENOUGH_PERMISSION')
    expect((await decide(comment.id, 'spam', forPosts.token)).body.code).toBe('NOT_ENOUGH_PERMISSION')
    expect((await decide(post.postId, 'spam', forComments.token)).body.code).toBe('NOT_ENOUGH_PERMISSION')
    expect((await decide(hidden.post.postId, 'spam', forPosts.token)).status).toBe(404)
    expect((await decide('nothing', 'spam')).body.code).toBe('POST_NOT_FOUND')
    expect((await decide(post.postId, 'burn')).body.code).toBe('VALIDATION_ERROR')
    expect((await site.http(`POST /posts/${hidden.post.slug}/report`, { token: forPosts.token })).status).toBe(404)
    expect((await site.http(`POST /posts/${post.slug}/report`)).body.code).toBe('INVALID_AUTH_HEADER')
  })
})
