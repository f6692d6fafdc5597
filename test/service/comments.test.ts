import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import type { Permission } from '../../src/core/permissions.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as posts from '../../src/service/posts.js'
import { engines, makeSite } from '../support/site.js'

async function withPost(engine: (typeof engines)[number]) {
  const site = await makeSite(engine)
  const owner = await site.owner()
  const { post } = await site.call(posts.create, { title: 'Dark mode' })
  const path = `/posts/${post.postId}`
  const say = async (token: string, body: object) => {
    site.clock.now = new Date(site.clock.now.getTime() + 1000)
    return site.http(`POST ${path}/comments`, { token, body })
  }
  const bodies = async (token?: string, query = '') =>
    (await site.http(`GET ${path}/activity${query}`, { token })).body.activity.map(
      (each: { comment: { body: string } }) => each.comment.body,
    )
  return { site, owner, post, path, say, bodies }
}

describe.each(engines)('comments on %s', (engine) => {
  it('show raw HTML as text', async () => {
    const { site, path, say, bodies } = await withPost(engine)
    const { token } = await site.member()
    const { id } = (await say(token, { body: '<img src=x onerror=alert(1)> `<b>`' })).body.activity
    expect(await bodies()).toEqual(['&lt;img src=x onerror=alert(1)> `<b>`'])
    await site.http(`PUT ${path}/comments/${id}`, { token, body: { body: 'a <script>' } })
    expect(await bodies()).toEqual(['a &lt;script>'])
    const put = async (text: string) =>
      (await site.http(`PUT ${path}/comments/${id}`, { token, body: { body: text } })).body
    const stored = (await put('<b>'.repeat(333))).comment.body
    expect(stored).toHaveLength(6 * 333)
    expect((await put(stored)).comment.body).toBe(stored)
    expect((await put('a'.repeat(1001))).errors).toMatchObject([{ code: 'TOO_LONG', field: 'body' }])
  })

  it('are created, listed newest first and replied to, in the shape of the contract', async () => {
    const { site, path, say } = await withPost(engine)
    const { token, userId } = await site.member()
    const first = await say(token, { body: '  Me too ' })
    expect(first.status).toBe(201)
    const { activity } = first.body
    expect(activity).toEqual({
      id: expect.any(String),
      type: 'comment',
      created_at: '2026-03-02T10:00:01.000Z',
      author: { userId, name: 'Member', username: expect.any(String), avatar: expect.any(String) },
      comment: {
        id: activity.id,
        parent_id: null,
        body: 'Me too',
        is_internal: false,
        is_edited: false,
        is_spam: false,
        created_at: '2026-03-02T10:00:01.000Z',
        updated_at: '2026-03-02T10:00:01.000Z',
        may: ['update', 'delete'],
      },
    })
    const answer = await say(token, { body: 'And me', parent_id: activity.id })
    expect(answer.body.activity.comment.parent_id).toBe(activity.id)
    const { body } = await site.http(`GET ${path}/activity`, { token })
    expect(body).toEqual({
      activity: [answer.body.activity, activity],
      page_info: {
        count: 2,
        current_page: 1,
        has_next_page: false,
        start_cursor: answer.body.activity.id,
        end_cursor: activity.id,
      },
      total_count: 2,
      total_pages: 1,
    })
    const events = await site.db.selectFrom('events').selectAll().where('action', '=', 'comment.created').execute()
    expect(events.map(({ subject_id: id, actor_id: actor }) => [id, actor])).toEqual([
      [activity.id, userId],
      [answer.body.activity.id, userId],
    ])
  })

  it('are paged by number and by cursor', async () => {
    const { site, path, say, bodies } = await withPost(engine)
    const { token } = await site.member()
    for (const body of 'abcde') await say(token, { body })
    expect(await bodies(undefined, '?limit=2&page=2')).toEqual(['c', 'b'])
    const { body } = await site.http(`GET ${path}/activity?limit=2`)
    expect(await bodies(undefined, `?limit=2&after=${body.page_info.end_cursor}`)).toEqual(['c', 'b'])
    for (const query of ['page=0', 'limit=101', 'visibility=secret', 'after=', `after=${newId()}`])
      expect((await site.http(`GET ${path}/activity?${query}`)).body.code).toBe('VALIDATION_ERROR')
  })

  it('that reply to a deleted comment, or one of another post, have no parent', async () => {
    const { site, say } = await withPost(engine)
    const { token } = await site.member()
    const { post: other } = await site.call(posts.create, { title: 'Other' })
    const { activity } = await site.call(comments.create, { post_id: other.postId, body: 'there' })
    for (const parent of [newId(), activity.id, 'nonsense', '', null])
      expect((await say(token, { body: 'x', parent_id: parent })).body.activity.comment.parent_id).toBeNull()
  })

  it('of all posts are listed for the team, without what they may not read, page by page', async () => {
    const { site, path, say, owner } = await withPost(engine)
    await site.call(boards.create, { name: 'Secret', display: false })
    const { post: hidden } = await site.call(posts.create, { title: 'Hidden', boardId: 'secret' })
    const writer = await site.member(['dashboard:read'])
    const team = await site.member(['dashboard:read', 'board:read'])
    const spam = (await say(writer.token, { body: 'spam' })).body.activity
    await site.http(`PUT ${path}/comments/${spam.id}`, { token: owner, body: { is_spam: true, partial: true } })
    const internal = (await say(owner, { body: 'internal', is_internal: true })).body.activity
    await say(owner, { body: 'open' })
    const { activity: secret } = await site.call(comments.create, { post_id: hidden.postId, body: 'hidden' })
    const listed = async (token: string | undefined, query = '') => (await site.http(`GET /comments${query}`, { token })).body // prettier-ignore
    const texts = async (token: string | undefined, query?: string): Promise<string[]> =>
      (await listed(token, query)).activity.map(({ comment }: { comment: { body: string } }) => comment.body)
    expect(await texts(owner)).toEqual(['hidden', 'open', 'internal', 'spam'])
    expect([await texts(owner, '?spam=true'), await texts(owner, '?spam=false')]).toEqual([
      ['spam'],
      ['hidden', 'open', 'internal'],
    ])
    expect(await texts(writer.token)).toEqual(['open', 'spam'])
    expect(await texts(team.token)).toEqual(['hidden', 'open'])
    expect(await texts(owner, '?visibility=internal')).toEqual(['internal'])
    expect(await texts(team.token, '?visibility=internal')).toEqual([])
    expect(await texts(owner, `?authorId=${writer.userId}`)).toEqual(['spam'])
    expect(await texts(owner, `?authorId=${writer.userId}&after=${spam.id}`)).toEqual([])
    expect(await texts(owner, '?until=2000-01-01')).toEqual([])
    const first = await listed(owner, '?limit=3')
    expect(first.page_info).toMatchObject({ count: 3, current_page: 1, has_next_page: true, end_cursor: internal.id })
    expect(first.activity[0]).toMatchObject({ id: secret.id, post: { postId: hidden.postId, title: 'Hidden' } })
    expect(await texts(owner, `?limit=3&after=${internal.id}`)).toEqual(['spam'])
    expect(await texts(owner, '?limit=3&page=2')).toEqual(['spam'])
    for (const id of [internal.id, secret.id])
      expect((await listed(writer.token, `?after=${id}`)).errors[0].code).toBe('INVALID_CURSOR')
    expect((await listed((await site.member()).token)).code).toBe('NOT_ENOUGH_PERMISSION')
  })

  it('that are internal need comment:view_internal to read and comment:create_internal to write', async () => {
    const { site, path, say, bodies, owner } = await withPost(engine)
    const plain = await site.member()
    const writer = await site.member(['comment:create_internal'])
    const viewer = await site.member(['comment:view_internal'])
    const refused = await say(plain.token, { body: 'secret', is_internal: true })
    expect([refused.status, refused.body.code]).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
    const { activity } = (await say(writer.token, { body: 'secret', is_internal: true })).body
    await say(plain.token, { body: 'open' })
    for (const token of [undefined, plain.token, writer.token]) {
      expect(await bodies(token)).toEqual(['open'])
      expect(await bodies(token, '?visibility=internal')).toEqual([])
      expect((await site.http(`GET ${path}/activity`, { token })).body.total_count).toBe(1)
      expect((await site.http(`GET ${path}/activity?after=${activity.id}`, { token })).body.errors[0].code).toBe(
        'INVALID_CURSOR',
      )
    }
    expect((await say(plain.token, { body: 'x', parent_id: activity.id })).body.activity.comment.parent_id).toBeNull()
    for (const token of [viewer.token, owner]) {
      expect(await bodies(token)).toEqual(['x', 'open', 'secret'])
      expect(await bodies(token, '?visibility=internal')).toEqual(['secret'])
      expect(await bodies(token, '?visibility=public')).toEqual(['x', 'open'])
    }
  })

  it('that reply to an internal one are internal, and no reply of one that becomes internal stays public', async () => {
    const { site, path, say, bodies, owner } = await withPost(engine)
    const reader = await site.member(['comment:view_internal'])
    const change = async (id: string, is_internal: boolean) =>
      (await site.http(`PUT ${path}/comments/${id}`, { token: owner, body: { is_internal, partial: true } })).body
    const { activity: note } = (await say(owner, { body: 'note', is_internal: true })).body
    const { activity: reply } = (await say(owner, { body: 'reply', parent_id: note.id })).body
    expect(reply.comment).toMatchObject({ is_internal: true, parent_id: note.id })
    expect((await say(reader.token, { body: 'x', parent_id: note.id })).body.code).toBe('NOT_ENOUGH_PERMISSION')
    expect((await say(owner, { body: 'x', parent_id: note.id, is_internal: false })).body).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('a reply to an internal comment is internal'),
    })
    expect((await change(reply.id, false)).code).toBe('VALIDATION_ERROR')
    expect(await bodies(undefined)).toEqual([])

    const { activity: open } = (await say(owner, { body: 'open' })).body
    const { activity: answer } = (await say(owner, { body: 'answer', parent_id: open.id })).body
    expect((await change(open.id, true)).message).toContain('Make its replies internal first')
    await change(answer.id, true)
    expect((await change(open.id, true)).comment.is_internal).toBe(true)
    expect(await bodies(undefined)).toEqual([])
    await change(open.id, false)
    expect((await change(answer.id, false)).comment.is_internal).toBe(false)
    expect(await bodies(undefined)).toEqual(['answer', 'open'])
  })

  it.each([[{}], [{ body: '' }], [{ body: '  ' }], [{ body: 5 }], [{ body: null }]])(
    'refuse %j with COMMENT_BODY_MISSING',
    async (body) => {
      const { site, say } = await withPost(engine)
      const { status, body: answer } = await say((await site.member()).token, body)
      expect([status, answer.code, answer.errors[0].code]).toEqual([400, 'VALIDATION_ERROR', 'COMMENT_BODY_MISSING'])
    },
  )

  it('have at most 1000 characters in any script', async () => {
    const { site, say } = await withPost(engine)
    const { token } = await site.member()
    expect((await say(token, { body: '🎉'.repeat(1000) })).status).toBe(201)
    expect((await say(token, { body: 'x'.repeat(1001) })).body.errors[0].code).toBe('TOO_LONG')
  })

  it('are refused to visitors, blocked members and members without comment:create; 404 comes first', async () => {
    const { site, say } = await withPost(engine)
    const without = await site.member(['vote:create'], { everyone: false })
    const blocked = await site.member([], { blocked: true })
    expect((await say(blocked.token, { body: 'x' })).body.code).toBe('USER_BLOCK')
    expect((await say(without.token, { body: 'x' })).body.code).toBe('NOT_ENOUGH_PERMISSION')
    expect((await say('nonsense', { body: 'x' })).body.code).toBe('INVALID_TOKEN')
    expect((await site.http(`POST /posts/${newId()}/comments`, { token: without.token })).body.code).toBe(
      'POST_NOT_FOUND',
    )
    expect((await site.http(`GET /posts/${newId()}/activity`)).body.code).toBe('POST_NOT_FOUND')
  })

  it('are edited by their author; others are refused', async () => {
    const { site, path, say, owner } = await withPost(engine)
    const author = await site.member()
    const stranger = await site.member()
    const moderator = await site.member(['comment:update:any'], { everyone: false })
    const { activity } = (await say(author.token, { body: 'one' })).body
    const put = async (token: string | undefined, body: object, id = activity.id) =>
      site.http(`PUT ${path}/comments/${id}`, { token, body })
    const outcome = async (...args: Parameters<typeof put>) => {
      const { status, body } = await put(...args)
      return [status, body.code ?? body.comment.body]
    }
    expect(await outcome(undefined, { body: 'x' })).toEqual([400, 'INVALID_AUTH_HEADER'])
    expect(await outcome(stranger.token, { body: 'x' })).toEqual([403, 'UNAUTHORIZED_NOT_AUTHOR'])
    expect(await outcome(stranger.token, { body: 'x' }, newId())).toEqual([404, 'COMMENT_NOT_FOUND'])
    expect(await outcome(author.token, {})).toEqual([400, 'VALIDATION_ERROR'])
    site.clock.now = new Date(site.clock.now.getTime() + 60_000)
    expect((await put(author.token, { body: 'two' })).body).toEqual({
      comment: { ...activity.comment, body: 'two', is_edited: true, updated_at: '2026-03-02T10:01:01.000Z' },
    })
    expect(await outcome(moderator.token, { body: 'three' })).toEqual([200, 'three'])
    expect(await outcome(owner, { body: 'four' })).toEqual([200, 'four'])
    expect(await outcome(author.token, { body: 'x', is_spam: true })).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
    expect(await outcome(author.token, { body: 'x', is_internal: true })).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
    expect((await put(author.token, { is_internal: false, partial: true })).body.comment).toMatchObject({
      body: 'four',
      is_internal: false,
    })
    const other = await site.call(posts.create, { title: 'Other' })
    expect(
      (
        await site.http(`PUT /posts/${other.post.postId}/comments/${activity.id}`, {
          token: owner,
          body: { body: 'x' },
        })
      ).body.code,
    ).toBe('COMMENT_NOT_FOUND')
  })

  it('do not reveal the hidden comment that they reply to', async () => {
    const { site, path, say, owner } = await withPost(engine)
    const { activity: hidden } = (await say(owner, { body: 'secret', is_internal: true })).body
    const { activity: open } = (await say(owner, { body: 'soon', is_internal: true })).body
    await say(owner, { body: 'an answer', parent_id: hidden.id })
    await say(owner, { body: 'another', parent_id: open.id })
    // As replies to internal comments were once
    await site.db.updateTable('comments').set({ is_internal: 0 }).where('parent_id', 'is not', null).execute()
    await site.http(`PUT ${path}/comments/${open.id}`, { token: owner, body: { is_internal: false, partial: true } })
    const parents = async (token?: string) => (await site.http(`GET ${path}/activity?limit=2`, { token })).body.activity.map((each: { comment: { parent_id: string } }) => each.comment.parent_id) // prettier-ignore
    expect(await parents()).toEqual([open.id, null])
    expect(await parents(owner)).toEqual([open.id, hidden.id])
    await site.http(`PUT ${path}/comments/${open.id}`, { token: owner, body: { is_spam: true, partial: true } })
    expect(await parents()).toEqual([null, null])
  })

  it('are paged with per_page, as older clients send it', async () => {
    const { site, say, bodies } = await withPost(engine)
    const { token } = await site.member()
    for (const body of 'abc') await say(token, { body })
    expect(await bodies(undefined, '?per_page=2&sort=desc&visibility=')).toEqual(['c', 'b'])
  })

  it('marked as spam are hidden from everybody but moderators and the author', async () => {
    const { site, path, say, bodies } = await withPost(engine)
    const author = await site.member()
    const moderator = await site.member(['comment:update:any'])
    const { activity } = (await say(author.token, { body: 'Buy!' })).body
    const marked = await site.http(`PUT ${path}/comments/${activity.id}`, {
      token: moderator.token,
      body: { is_spam: true, partial: true },
    })
    expect(marked.body.comment).toMatchObject({ is_spam: true, is_edited: false, body: 'Buy!' })
    expect(await bodies()).toEqual([])
    expect(await bodies(moderator.token)).toEqual(['Buy!'])
    expect(await bodies(author.token)).toEqual(['Buy!']) // it is the author's own

    // But nobody else can do anything with it, as with a hidden post
    const attempt = async (request: string, body: object, token = author.token) => {
      const answer = await site.http(request, { token, body })
      return answer.body?.code ?? answer.status
    }
    const ofComment = `${path}/comments/${activity.id}`
    const noticed = () => site.db.selectFrom('events').selectAll().execute()
    const before = await noticed()
    expect(await attempt(`PUT ${ofComment}`, { body: 'Buy now!' })).toBe('COMMENT_NOT_FOUND')
    expect(await attempt(`POST ${path}/comments`, { body: 'And?', parent_id: activity.id })).toBe('COMMENT_NOT_FOUND')
    expect(await attempt(`POST ${ofComment}/report`, {})).toBe('COMMENT_NOT_FOUND')
    expect(await noticed()).toEqual(before)
    expect(await attempt(`PUT ${ofComment}`, { body: 'Cut' }, moderator.token)).toBe(200)
  })

  it('stay marked as spam when the author changes them at the same time', async () => {
    const { site, path, say } = await withPost(engine)
    const author = await site.member()
    const moderator = await site.member(['comment:update:any'])
    for (let round = 0; round < 8; round++) {
      const { activity } = (await say(author.token, { body: 'Buy!' })).body
      const put = (token: string, body: object) => site.http(`PUT ${path}/comments/${activity.id}`, { token, body })
      const [marked, changed] = await Promise.all([
        put(moderator.token, { is_spam: true, partial: true }),
        put(author.token, { body: 'Buy now!', is_spam: false }),
      ])
      expect(marked.body.comment.is_spam).toBe(true)
      expect([200, 404]).toContain(changed.status)
      const row = await site.db
        .selectFrom('comments')
        .select('is_spam')
        .where('id', '=', activity.id)
        .executeTakeFirstOrThrow()
      expect(row.is_spam).toBe(1)
    }
  })

  it.each([
    ['comment:delete:own', true],
    ['comment:delete:any', false],
  ] as const)('are deleted with %s', async (permission: Permission, own) => {
    const { site, path, say, bodies } = await withPost(engine)
    const author = await site.member(['comment:create', ...(own ? [permission] : [])], { everyone: false })
    const other = await site.member(own ? [] : [permission])
    const { activity } = (await say(author.token, { body: 'one' })).body
    await say(author.token, { body: 'two', parent_id: activity.id })
    const [may, mayNot] = own ? [author, other] : [other, author]
    const remove = async (token: string) => {
      const { status, body } = await site.http(`DELETE ${path}/comments/${activity.id}`, { token })
      return [status, body?.code]
    }
    expect(await remove(mayNot.token)).toEqual([403, own ? 'UNAUTHORIZED_NOT_AUTHOR' : 'NOT_ENOUGH_PERMISSION'])
    expect(await bodies()).toEqual(['two', 'one'])
    expect(await remove(may.token)).toEqual([204, undefined])
    expect(await remove(may.token)).toEqual([404, 'COMMENT_NOT_FOUND'])
    expect(await bodies()).toEqual(['two'])
  })

  it('are deleted by their author while nobody else has replied, and changed only as they were read', async () => {
    const { site, owner, path, say } = await withPost(engine)
    const [author, other] = [await site.member(), await site.member()]
    const { activity } = (await say(author.token, { body: 'one' })).body
    const at = `${path}/comments/${activity.id}`
    const put = async (body: object) => {
      site.clock.now = new Date(site.clock.now.getTime() + 1000)
      const answer = await site.http(`PUT ${at}`, { token: author.token, body })
      return [answer.status, answer.body.code ?? answer.body.comment.body]
    }
    const { updated_at } = activity.comment
    expect(await put({ body: 'two', if_updated_at: updated_at })).toEqual([200, 'two'])
    expect(await put({ body: 'three', if_updated_at: updated_at })).toEqual([409, 'CONTENT_CHANGED'])

    const remove = async (comment = at) => {
      const { status, body } = await site.http(`DELETE ${comment}`, { token: author.token })
      return [status, body?.code]
    }
    await say(owner, { body: 'for us', parent_id: activity.id, is_internal: true })
    const { body } = await say(author.token, { body: 'more', parent_id: activity.id })
    expect(await remove(`${path}/comments/${body.activity.id}`)).toEqual([204, undefined])
    const reply = await say(other.token, { body: 'a reply', parent_id: activity.id })
    expect(await remove()).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
    await site.http(`DELETE ${path}/comments/${reply.body.activity.id}`, { token: other.token })
    expect(await remove()).toEqual([204, undefined])
  })

  it('of a deleted account stay without its name', async () => {
    const { site, path, say } = await withPost(engine)
    const author = await site.member()
    await say(author.token, { body: 'one' })
    await site.db.deleteFrom('users').where('userId', '=', author.userId).execute()
    expect((await site.http(`GET ${path}/activity`)).body.activity[0].author).toEqual({
      userId: '00000000-0000-0000-0000-000000000000',
      name: 'deleted user',
      username: 'deleted',
      avatar: '',
    })
  })
})
