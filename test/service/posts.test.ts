import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { SORTS } from '../../src/db/posts/order.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as moderation from '../../src/service/moderation.js'
import type { Move } from '../../src/service/posthistory.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as users from '../../src/service/users.js'
import * as votes from '../../src/service/votes.js'
import { engines, failure, makeSite, type TestSite } from '../support/site.js'

const titles = (body: { posts: { title: string }[] }) => body.posts.map((post) => post.title)
const tick = (site: TestSite, minutes = 1) => (site.clock.now = new Date(site.clock.now.getTime() + minutes * 60_000))

/** In minutes. */
const WEEK = 7 * 24 * 60

/** A member's posts, a minute apart, each with a number of votes. */
async function withPosts(site: TestSite, wanted: { title: string; board?: string; votes?: number }[]) {
  const author = await site.member()
  const voters = await Promise.all(
    Array.from({ length: Math.max(...wanted.map((post) => post.votes ?? 1)) - 1 }, () => site.member()),
  )
  const made: Record<string, any> = {} // oxlint-disable-line typescript/no-explicit-any -- what came over the wire
  for (const { title, board, votes: count = 1 } of wanted) {
    tick(site)
    const { body } = await site.http('POST /posts', { token: author.token, body: { title, boardId: board } })
    made[title] = body.post
    for (const voter of voters.slice(0, count - 1))
      await site.http('POST /votes', { token: voter.token, body: { postId: body.post.postId } })
  }
  return { author, made }
}

const events = async (site: TestSite) =>
  (await site.db.selectFrom('events').selectAll().orderBy('id').execute()).map(
    (event) => `${event.action} ${event.subject}`,
  )

describe.each(engines)('posts on %s', (engine) => {
  describe('POST /posts', () => {
    it('creates a post with the vote of its author, and returns the row of the contract', async () => {
      const site = await makeSite(engine)
      const { board } = await site.call(boards.create, { name: 'Ideas' })
      const { token, userId } = await site.member()
      const { status, body } = await site.http('POST /posts', {
        token,
        body: {
          title: '  Dark mode, please! ',
          contentMarkdown: '**Now**',
          boardId: board.boardId,
          roadmapId: 'ignored',
          userId: 'ignored',
        },
      })
      expect(status).toBe(201)
      const { post } = body
      expect(post).toEqual({
        postId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        number: 1,
        title: 'Dark mode, please!',
        slug: `dark-mode-please-${post.slugId}`,
        slugId: expect.stringMatching(/^[0-9a-z]{20}$/),
        contentMarkdown: '**Now**',
        userId,
        boardId: board.boardId,
        roadmap_id: null,
        createdAt: '2026-03-02T10:00:00.000Z',
        updatedAt: '2026-03-02T10:00:00.000Z',
      })
      const shown = await site.http('POST /posts/slug', { token, body: { slug: post.slug } })
      expect(shown.body.post.voters).toEqual({
        votes: [
          {
            voteId: expect.any(String),
            userId,
            postId: post.postId,
            createdAt: post.createdAt,
            name: 'Member',
            username: expect.any(String),
            avatar: expect.any(String),
          },
        ],
        votesCount: 1,
        viewerVote: { voteId: expect.any(String), userId, postId: post.postId, createdAt: post.createdAt },
      })
      expect(await events(site)).toEqual(['board.created Ideas', 'post.created Dark mode, please!'])
      expect((await site.http('GET /boards/ideas')).body.board.post_count).toBe('1')
    })

    it.each([
      ['Zoë & Größe', 'zoë-größe'],
      ['Привет, мир', 'привет-мир'],
      ['日本語のご意見 2', '日本語のご意見-2'],
      ['हिन्दी में', 'हिन्दी-में'],
      ["Don't I", 'dont-i'],
      ['a'.repeat(100), 'a'.repeat(100)],
      ['👍', ''],
    ])('keeps the script of the title %s in the slug', async (title, start) => {
      const site = await makeSite(engine)
      const { token } = await site.member()
      const { post } = (await site.http('POST /posts', { token, body: { title } })).body
      expect(post.slug).toBe([start, post.slugId].filter(Boolean).join('-'))
      expect((await site.http('POST /posts/slug', { body: { slug: post.slug } })).body.post.title).toBe(title)
    })

    it('moves the end of a title over 100 characters into the text over HTTP, and refuses it elsewhere', async () => {
      const site = await makeSite(engine)
      const { token } = await site.member()
      const create = async (body: object) => {
        const { post } = (await site.http('POST /posts', { token, body })).body
        return [post.title, post.contentMarkdown]
      }
      const long = `${'a'.repeat(97)}bcde`
      expect(await create({ title: long, contentMarkdown: ' Please. ' })).toEqual([
        `${'a'.repeat(97)}...`,
        '...bcde\n\nPlease.',
      ])
      expect(await create({ title: long })).toEqual([`${'a'.repeat(97)}...`, '...bcde'])
      expect(await create({ title: ` ${'a'.repeat(100)} ` })).toEqual(['a'.repeat(100), null])
      const [title, text] = await create({ title: `${'a'.repeat(96)}👍bcde` }) // a pair is not split
      expect([title, text]).toEqual([`${'a'.repeat(96)}...`, '...👍bcde'])
      await expect(site.call(posts.create, { title: long })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    })

    it.each([
      ['<img src=x onerror=alert(1)>', '&lt;img src=x onerror=alert(1)>'],
      ['a <b>b</b> <!-- c --> <?d?> <!E>', 'a &lt;b>b&lt;/b> &lt;!-- c --> &lt;?d?> &lt;!E>'],
      ['> - <script>\n>   x\n>   </script>', '> - &lt;script>\n>   x\n>   &lt;/script>'],
      ['`<b>` <b>', '`<b>` &lt;b>'],
      ['``` html\n<b>\n```\n\n    <i>', '``` html\n<b>\n```\n\n    <i>'],
      ['`<b> <b>`', '`<b> <b>`'],
      ['`<b> <b>', '`&lt;b> &lt;b>'],
      ['[<b>](y) ![<b>](y) **<b>**', '[&lt;b>](y) ![&lt;b>](y) **&lt;b>**'],
      ['<https://example.org> <eve@example.org> 1 < 2 \\<b>', '<https://example.org> <eve@example.org> 1 < 2 \\<b>'],
      ['x\n<div>\n```js\na<b) c<d\n```\n</div>', 'x\n&lt;div>\n```js\na<b) c<d\n```\n&lt;/div>'],
      ['<div>\n    <b>\n\n<p onclick=x', '&lt;div>\n    &lt;b>\n\n&lt;p onclick=x'],
    ])('shows raw HTML in the text %j as text', async (contentMarkdown, stored) => {
      const site = await makeSite(engine)
      const { token } = await site.member()
      const { post } = (await site.http('POST /posts', { token, body: { title: 'a', contentMarkdown } })).body
      expect(post.contentMarkdown).toBe(stored)
      const body = { id: post.postId, title: 'b', contentMarkdown }
      expect((await site.http('PATCH /posts', { token, body })).body.post.contentMarkdown).toBe(stored)
    })

    it('takes a title without characters that nobody sees', async () => {
      const site = await makeSite(engine)
      const { token } = await site.member()
      for (const [title, shown] of [
        ['Dark\u202e\u2066 mode\u200b\ufeff', 'Dark mode'],
        ['a\nb\u0007\u009b', 'a b'],
        ['👩\u200d💻 नि\u200dक', '👩\u200d💻 नि\u200dक'],
        ['র\u200d্যাম അവന്\u200d ۲۰\u200cساله', 'র\u200d্যাম അവന്\u200d ۲۰\u200cساله'],
        ['a\u2028b', 'a b'],
        ['\u200d\u200b', 'new post'],
      ])
        expect((await site.http('POST /posts', { token, body: { title } })).body.post.title).toBe(shown)
    })

    it('keeps no control characters but tabs and line breaks, and vertical tabs of Word as line breaks', async () => {
      const site = await makeSite(engine)
      const token = await site.owner()
      const text = 'a\tb\r\nc\u0001\u001b[31m\u007f\u009bd\u000be\u000cf\u0085g'
      const kept = 'a\tb\r\nc[31md\ne\nf\ng'
      const { post } = (await site.http('POST /posts', { token, body: { title: 'x', contentMarkdown: text } })).body
      expect(post.contentMarkdown).toBe(kept)
      const change = { id: post.postId, title: 'x', contentMarkdown: `${text}h` }
      expect((await site.http('PATCH /posts', { token, body: change })).body.post.contentMarkdown).toBe(`${kept}h`)
      const comment = await site.http(`POST /posts/${post.slug}/comments`, { token, body: { body: text } })
      expect(comment.body.activity.comment.body).toBe(kept)
      const many = await site.http('POST /posts', { token, body: { title: 'y', contentMarkdown: `x${'\u0001'.repeat(16_000)}` } }) // prettier-ignore
      expect([many.status, many.body.post.contentMarkdown]).toEqual([201, 'x'])
    })

    it('is called "new post" without a title', async () => {
      const site = await makeSite(engine)
      const { token } = await site.member()
      for (const body of [{}, { title: '' }, { title: '  ' }])
        expect((await site.http('POST /posts', { token, body })).body.post.title).toBe('new post')
    })

    it('is refused to visitors, blocked members and members without post:create', async () => {
      const site = await makeSite(engine)
      const without = await site.member(['vote:create'], { everyone: false })
      const blocked = await site.member([], { blocked: true })
      const code = async (token?: string) => (await site.http('POST /posts', { token, body: { title: 'x' } })).body.code
      expect(await code()).toBe('INVALID_AUTH_HEADER')
      expect(await code(without.token)).toBe('NOT_ENOUGH_PERMISSION')
      expect(await code(blocked.token)).toBe('USER_BLOCK')
      expect((await site.http('POST /posts/get')).body.total_count).toBe(0)
    })

    it.each([
      [{ title: 5 }, 'STRING_EXPECTED', 'title'],
      [{ title: 'x', contentMarkdown: 5 }, 'STRING_EXPECTED', 'contentMarkdown'],
      [{ title: 'x', boardId: newId() }, 'UNKNOWN_BOARD', 'boardId'],
      [{ title: 'x', boardId: 'nonsense' }, 'UNKNOWN_BOARD', 'boardId'],
      [{ titel: 'x' }, 'UNKNOWN_FIELD', 'titel'],
    ])('refuses %j and changes nothing', async (body, code, field) => {
      const site = await makeSite(engine)
      const { token } = await site.member()
      const refused = await site.http('POST /posts', { token, body })
      expect([refused.status, refused.body.code]).toEqual([400, 'VALIDATION_ERROR'])
      expect(refused.body.errors).toMatchObject([{ code, field }])
      expect(await events(site)).toEqual([])
    })

    it('does not tell whether a private board exists', async () => {
      const site = await makeSite(engine)
      const { board } = await site.call(boards.create, { name: 'Plans', display: false })
      const { token } = await site.member()
      const refused = await site.http('POST /posts', { token, body: { title: 'x', boardId: board.boardId } })
      expect(refused.body.errors).toMatchObject([{ code: 'UNKNOWN_BOARD' }])
      const reader = await site.member(['board:read'])
      expect(
        (await site.http('POST /posts', { token: reader.token, body: { title: 'x', boardId: 'plans' } })).body.post
          .boardId,
      ).toBe(board.boardId)
    })

    it('is the owner’s when the operator makes it, and needs an owner', async () => {
      const site = await makeSite(engine)
      expect((await failure(site.call(posts.create, { title: 'x' }))).code).toBe('USER_NOT_FOUND')
      await site.owner()
      const { post } = await site.call(posts.create, { title: 'x' })
      expect((await site.http('POST /posts/slug', { body: { id: post.postId } })).body.post.author.name).toBe('Ada')
    })
  })

  describe('POST /posts/get', () => {
    const some = [
      { title: 'a', votes: 2 },
      { title: 'b', board: 'ideas', votes: 4 },
      { title: 'c', board: 'bugs', votes: 1 },
      { title: 'd', board: 'ideas', votes: 2 },
      { title: 'e', votes: 3 },
    ]
    const filled = async () => {
      const site = await makeSite(engine)
      for (const name of ['Ideas', 'Bugs']) await site.call(boards.create, { name })
      return { site, ...(await withPosts(site, some)) }
    }

    it('shows a post with exactly the fields of the contract', async () => {
      const site = await makeSite(engine)
      const { board } = await site.call(boards.create, { name: 'Ideas', color: '1d4ed8' })
      const { author, made } = await withPosts(site, [{ title: 'a' }, { title: 'b', board: 'ideas' }])
      const { body } = await site.http('POST /posts/get', { body: {} })
      const person = { userId: author.userId, name: 'Member', username: expect.any(String), avatar: expect.any(String) }
      const voters = { votes: [expect.objectContaining({ userId: author.userId })], votesCount: 1 }
      const { slugId: _a, userId: _b, boardId: _c, roadmap_id: _d, ...b } = made.b
      const { slugId: _e, userId: _f, boardId: _g, roadmap_id: _h, ...a } = made.a
      expect(body.posts).toEqual([
        {
          ...b,
          commentsCount: 0,
          author: person,
          voters,
          board: { boardId: board.boardId, name: 'Ideas', url: 'ideas', color: '1d4ed8', createdAt: board.createdAt },
          may: [],
        },
        { ...a, commentsCount: 0, author: person, voters, board: null, may: [] },
      ])
      expect(body.results).toEqual(body.posts)
      expect(body).toMatchObject({
        total_count: 2,
        total_pages: 1,
        page_info: { count: 2, current_page: 1, has_next_page: false },
      })
    })

    it('sorts by age and by votes, and filters by board, author and both', async () => {
      const { site, author } = await filled()
      const list = async (body: object) => titles((await site.http('POST /posts/get', { body })).body).join('')
      expect(await list({})).toBe('edcba')
      expect(await list({ created: 'ASC' })).toBe('abcde')
      expect(await list({ created: 'desc' })).toBe('edcba')
      expect(await list({ sort: 'oldest' })).toBe('abcde')
      expect(await list({ sort: 'votes' })).toBe('bedac')
      expect(await list({ sort: 'votes', created: 'asc' })).toBe('bedac')
      expect(await list({ boardId: ['ideas'] })).toBe('db')
      expect(await list({ boardId: ['ideas', 'bugs', 'ideas'], sort: 'votes' })).toBe('bdc')
      expect(await list({ boardId: [] })).toBe('edcba')
      expect(await list({ authorId: author.userId, boardId: ['bugs'] })).toBe('c')
      expect(await list({ userId: 'ignored' })).toBe('edcba')
      expect(await list({ roadmapId: '' })).toBe('edcba')
    })

    it('sorts by comments that everybody sees, as they come, go and are hidden', async () => {
      const { site, made, author } = await filled()
      const list = async () => titles((await site.http('POST /posts/get', { body: { sort: 'discussed' } })).body)
      const counts = async () =>
        Object.fromEntries(
          (await site.http('POST /posts/get', { body: {} })).body.posts.map(
            (post: { title: string; commentsCount: number }) => [post.title, post.commentsCount],
          ),
        )
      const say = async (title: string, body: object = {}) =>
        (await site.call(comments.create, { post_id: made[title].postId, body: 'x', ...body })).activity.comment.id
      await site.owner()
      expect(await list()).toEqual(['e', 'd', 'c', 'b', 'a'])
      const [one, two] = [await say('b'), await say('b')]
      await say('a')
      await say('c', { is_internal: true })
      expect(await list()).toEqual(['b', 'a', 'e', 'd', 'c'])
      expect(await counts()).toEqual({ a: 1, b: 2, c: 0, d: 0, e: 0 })
      const { post } = (await site.http('POST /posts/slug', { body: { id: made.b.postId } })).body
      expect(post.commentsCount).toBe(2)
      await site.call(moderation.decide, { id: one, decision: 'spam' })
      expect(await counts()).toMatchObject({ b: 1 })
      await site.call(moderation.decide, { id: one, decision: 'keep' })
      await site.call(comments.remove, { post_id: made.b.postId, comment_id: two })
      expect(await counts()).toMatchObject({ a: 1, b: 1 })
      await site.http('POST /votes', { token: author.token, body: { postId: made.a.postId } })
      expect(await list()).toEqual(['b', 'a', 'e', 'd', 'c'])
    })

    it('filters by words, with any other filter and order', async () => {
      const { site, made } = await filled()
      const list = async (body: object) => {
        const { body: answer } = await site.http('POST /posts/get', { body })
        expect(answer.total_count).toBe(answer.posts.length)
        return titles(answer).join('')
      }
      for (const [title, contentMarkdown] of [
        ['a', 'Dark mode'],
        ['b', 'the **mode** is dark'],
        ['d', 'dark'],
      ] as const)
        // prettier-ignore
        await site.call(posts.update, { id: made[title].postId, contentMarkdown, partial: true })
      expect(await list({ query: 'DARK mod' })).toBe('ba')
      expect(await list({ query: 'dark', sort: 'oldest' })).toBe('abd')
      expect(await list({ query: 'dark', sort: 'votes', boardId: ['ideas'] })).toBe('bd')
      expect(await list({ query: ' ' })).toBe('edcba')
      expect([await list({ query: '!' }), await list({ query: 'light' })]).toEqual(['', ''])
      await site.call(posts.update, { id: made.e.postId, contentMarkdown: 'light', partial: true })
      expect(await list({ query: 'light' })).toBe('e')
      await site.call(boards.update, { boardId: made.b.boardId, name: 'Ideas', url: 'ideas', display: false })
      expect(await list({ query: 'dark' })).toBe('a')
    })

    it('shows people their own, and refuses that to visitors', async () => {
      const { site, author, made } = await filled()
      const { token, userId } = await site.member()
      const { post } = (await site.http('POST /posts', { token, body: { title: 'mine' } })).body
      const list = async (body: object, as?: string) => {
        const { status, body: answer } = await site.http('POST /posts/get', {
          token: as,
          body: { mine: true, ...body },
        })
        return status === 200 ? [answer.total_count, ...titles(answer)] : [status, answer.code]
      }
      expect(await list({}, token)).toEqual([1, 'mine'])
      expect(await list({ boardId: ['ideas'] }, author.token)).toEqual([2, 'd', 'b'])
      expect(await list({ query: 'mine', authorId: userId }, token)).toEqual([1, 'mine'])
      expect(await list({ authorId: author.userId }, token)).toEqual([0])
      expect(await list({ mine: false }, token)).toEqual([6, 'mine', 'e', 'd', 'c', 'b', 'a'])
      expect(await list({ after: made.a.postId }, token)).toEqual([400, 'VALIDATION_ERROR'])
      expect(await list({})).toEqual([400, 'INVALID_AUTH_HEADER'])
      expect(await list({}, 'nonsense')).toEqual([401, 'INVALID_TOKEN'])
      expect(post.userId).toBe(userId)
      await site.owner()
      expect((await site.call(posts.list, { mine: true })).posts).toEqual([])
    })

    it('sorts by trend: a vote counts half as much each week, and so does the post itself', async () => {
      const site = await makeSite(engine)
      const { made } = await withPosts(site, [{ title: 'loved', votes: 6 }, { title: 'old' }])
      const list = async () =>
        titles((await site.http('POST /posts/get', { body: { sort: 'trending' } })).body).join(' ')
      const vote = async (title: string) => {
        const { token } = await site.member()
        await site.http('POST /votes', { token, body: { postId: made[title].postId } })
        return () => site.http('DELETE /votes', { token, body: { postId: made[title].postId } })
      }
      expect(await list()).toBe('loved old')
      tick(site, 3 * WEEK) // loved: 7 / 8, old: 2 / 8
      Object.assign(made, (await withPosts(site, [{ title: 'new' }])).made) // 2
      expect(await list()).toBe('new loved old')
      await vote('loved') // 15 / 8
      expect(await list()).toBe('new loved old')
      const withdraw = await vote('old') // 10 / 8
      await vote('old') // 18 / 8
      expect(await list()).toBe('old new loved')
      await withdraw()
      expect(await list()).toBe('new loved old')
      tick(site, 40 * WEEK)
      const again = await vote('old')
      expect(await list()).toBe('old new loved')
      await again()
      expect(await list()).toBe('new loved old')
    })

    it.each([
      { sort: 'newest' },
      { sort: 'oldest' },
      { sort: 'votes' },
      { sort: 'discussed' },
      { sort: 'trending' },
      { boardId: ['ideas', 'bugs'], sort: 'votes' },
      { boardId: ['ideas', 'bugs'], sort: 'trending' },
      { boardId: ['ideas'] },
      { query: 'wish', sort: 'oldest' },
      { query: 'wish', boardId: ['ideas', 'bugs'], sort: 'votes' },
    ])('walks %j by number and by cursor, each post once', async (filter) => {
      const { site } = await filled()
      for (const { postId } of (await site.call(posts.list, {})).posts)
        await site.call(posts.update, { id: postId, contentMarkdown: 'My wishes', partial: true })
      const all = titles((await site.http('POST /posts/get', { body: filter })).body)
      const numbered: string[] = []
      for (let page = 1; page <= 4; page++) {
        const { body } = await site.http('POST /posts/get', { body: { ...filter, page, limit: 2 } })
        expect(body).not.toHaveProperty('results')
        expect(body.page_info).toMatchObject({ current_page: page, has_next_page: page * 2 < all.length })
        expect(body).toMatchObject({ total_count: all.length, total_pages: Math.ceil(all.length / 2) })
        numbered.push(...titles(body))
      }
      expect(numbered).toEqual(all)
      const followed: string[] = []
      let after: string | undefined
      do {
        const { body }: Awaited<ReturnType<TestSite['http']>> = await site.http('POST /posts/get', {
          body: { ...filter, first: 2, after },
        })
        followed.push(...titles(body))
        expect(body.page_info.has_next_page).toBe(followed.length < all.length)
        after = body.page_info.has_next_page ? body.page_info.end_cursor : undefined
      } while (after)
      expect(followed).toEqual(all)
    })

    it.each([
      [{ page: 0 }, 'MIN_VALUE_1'],
      [{ limit: 101 }, 'MAX_VALUE_100'],
      [{ limit: 'abc' }, 'INTEGER_EXPECTED'],
      [{ created: 'sideways' }, 'UNKNOWN_CHOICE'],
      [{ created: 5 }, 'STRING_EXPECTED'],
      [{ sort: 'best' }, 'UNKNOWN_CHOICE'],
      [{ boardId: 'ideas' }, 'ARRAY_EXPECTED'],
      [{ boardId: ['nonsense'] }, 'UNKNOWN_BOARD'],
      [{ roadmapId: newId() }, 'UNKNOWN_ROADMAP'],
      [{ authorId: newId() }, 'UNKNOWN_PERSON'],
      [{ after: newId() }, 'INVALID_CURSOR'],
      [{ after: '' }, 'INVALID_CURSOR'],
    ])('refuses %j', async (body, code) => {
      const site = await makeSite(engine)
      const refused = await site.http('POST /posts/get', { body })
      expect([refused.status, refused.body.code, refused.body.errors?.[0].code]).toEqual([
        400,
        'VALIDATION_ERROR',
        code,
      ])
    })

    it('takes numbers as text, as older clients send them', async () => {
      const { site } = await filled()
      expect(titles((await site.http('POST /posts/get', { body: { page: '2', limit: '2' } })).body)).toEqual(['c', 'b'])
    })

    it('embeds the newest six voters and the vote of the caller', async () => {
      const site = await makeSite(engine)
      const { made, author } = await withPosts(site, [
        { title: 'a', votes: 9 },
        { title: 'b', votes: 2 },
      ])
      const { body } = await site.http('POST /posts/get', { token: author.token })
      const [b, a] = body.posts
      expect([a.voters.votes.length, a.voters.votesCount, b.voters.votes.length, b.voters.votesCount]).toEqual([
        6, 9, 2, 2,
      ])
      for (const post of [a, b])
        expect(post.voters.viewerVote).toMatchObject({ userId: author.userId, postId: made[post.title].postId })
    })
  })

  it('leaves out who voted where nobody asks for it: the number and the own vote stay', async () => {
    const site = await makeSite(engine)
    const { token, userId } = await site.member()
    await site.http('POST /posts', { token, body: { title: 'Dark mode' } })
    const lists = [
      await site.http('POST /posts/get', { token, body: { votes: false } }),
      await site.http('GET /posts/search/dark?votes=false', { token }),
    ]
    for (const { body } of lists)
      expect(body.posts[0].voters).toMatchObject({ votes: [], votesCount: 1, viewerVote: { userId } })
    expect((await site.http('POST /posts/get', { token })).body.posts[0].voters.votes).toHaveLength(1)
  })

  it('shows visitors the vote of the person they name, where the board shows its voters', async () => {
    const site = await makeSite(engine)
    await site.call(boards.create, { name: 'Hidden', view_voters: false })
    const { token, userId } = await site.member()
    const vote = async (body: object) => {
      const { post } = (await site.http('POST /posts', { token, body })).body
      return post.postId
    }
    const [open, hidden] = [await vote({ title: 'a' }), await vote({ title: 'b', boardId: 'hidden' })]
    const listed = async (body: object, as?: string) => {
      const { posts: found } = (await site.http('POST /posts/get', { body, token: as })).body
      return found.map((post: { voters: { viewerVote?: { userId: string } } }) => post.voters.viewerVote?.userId)
    }
    expect(await listed({ userId })).toEqual([undefined, userId])
    expect(await listed({})).toEqual([undefined, undefined])
    for (const other of ['nonsense', '', null, 5])
      expect(await listed({ userId: other })).toEqual([undefined, undefined])
    expect(await listed({ userId }, (await site.member()).token)).toEqual([undefined, undefined])
    const shown = async (id: string) =>
      (await site.http('POST /posts/slug', { body: { id, userId } })).body.post.voters.viewerVote?.userId
    expect([await shown(open), await shown(hidden)]).toEqual([userId, undefined])
  })

  it('tells through which roadmaps and boards a post went, but none that the reader may not see', async () => {
    const site = await makeSite(engine)
    const owner = await site.owner()
    for (const name of ['Ideas', 'Bugs']) await site.call(boards.create, { name })
    await site.call(boards.create, { name: 'Plans', display: false })
    for (const name of ['Planned', 'Done']) await site.call(roadmaps.create, { name, display: true })
    await site.call(roadmaps.create, { name: 'Secret', display: false })
    const { post } = await site.call(posts.create, { title: 'a', boardId: 'ideas' })
    const move = (change: object) => {
      tick(site)
      return site.call(posts.update, { id: post.postId, partial: true, ...change })
    }
    const history = async (token?: string) => {
      const { status, body } = await site.http(`GET /posts/${post.number}/history`, { token })
      if (status !== 200) return status
      return body.history.map(({ kind, from, to }: Move) => `${kind} ${from?.name ?? '-'} ${to?.name ?? '-'}`)
    }
    expect(await history()).toEqual([])
    await move({ title: 'b' })
    await move({ roadmapId: 'planned' })
    const { body } = await site.http(`GET /posts/${post.postId}/history`)
    expect(body.history).toEqual([
      { kind: 'roadmap', from: null, to: { name: 'Planned', url: 'planned', color: expect.any(String) }, movedAt: site.clock.now.toISOString() }, // prettier-ignore
    ])
    await move({ roadmapId: 'secret', boardId: 'bugs' })
    await move({ roadmapId: '' })
    await move({ roadmapId: 'secret' })
    await move({ roadmapId: 'done' })
    await move({ boardId: 'plans' })
    expect(await history()).toBe(404)
    const all = ['board Bugs Plans', 'roadmap Secret Done', 'roadmap - Secret', 'roadmap Secret -', 'board Ideas Bugs', 'roadmap Planned Secret', 'roadmap - Planned'] // prettier-ignore
    const inOrder = (found: unknown) => [...(found as string[])].toSorted((one, other) => (one < other ? -1 : 1))
    expect(inOrder(await history(owner))).toEqual(inOrder(all))
    await move({ boardId: null })
    const seen = ['board - -', 'board Bugs -', 'roadmap - Done', 'board Ideas Bugs', 'roadmap Planned -', 'roadmap - Planned'] // prettier-ignore
    expect(inOrder(await history())).toEqual(inOrder(seen.slice(1)))
    await site.call(roadmaps.remove, { id: 'done' })
    expect(await history()).toContain('roadmap - -')
    expect(JSON.stringify(await site.http(`GET /posts/${post.postId}/history`))).not.toMatch(/Secret|Plans/)
    await site.call(posts.remove, { id: post.postId })
    expect(await site.db.selectFrom('post_moves').selectAll().execute()).toEqual([])
  })

  it('tell the team who moved them, and nobody else, from the cache too', async () => {
    const site = await makeSite(engine)
    const owner = await site.owner()
    for (const name of ['Planned', 'Done']) await site.call(roadmaps.create, { name, display: true })
    await site.call(boards.create, { name: 'Ideas' })
    const [eve, member] = [await site.member(['post:update']), await site.member()]
    const { post } = await site.call(posts.create, { title: 'a' })
    const move = async (token: string, change: object) => {
      const body = { id: post.postId, partial: true, ...change }
      expect((await site.http('PATCH /posts', { token, body })).status).toBe(200)
    }
    const history = (token?: string) => site.http(`GET /posts/${post.postId}/history`, { token })
    const by = async (token: string) => (await history(token)).body.history.map(({ movedBy }: Move) => movedBy?.username ?? movedBy) // prettier-ignore
    await site.call(posts.update, { id: post.postId, partial: true, roadmapId: 'planned' })
    tick(site)
    await move(eve.token, { roadmapId: 'done', boardId: 'ideas' })
    await move(owner, { title: 'b' })
    await move(owner, { roadmapId: null })
    const { username } = (await site.http('GET /users/profile', { token: eve.token })).body.user
    const { username: ada } = (await site.http('GET /users/profile', { token: owner })).body.user
    for (let turn = 0; turn < 2; turn++) {
      expect([await by(owner), await by(eve.token)]).toEqual(
        Array.from({ length: 2 }, () => [ada, username, username, null]),
      )
      for (const token of [undefined, member.token]) expect((await history(token)).text).not.toContain('movedBy')
    }
    const page = async (token?: string) =>
      (await site.http(`GET //board/posts/${post.slug.replace(/^a/, 'b')}`, { headers: token ? { cookie: `__Host-feedbackctl=${token}` } : {} })).text // prettier-ignore
    for (let turn = 0; turn < 2; turn++)
      expect([(await page(owner)).split('by \u2068').length, (await page()).split('by \u2068').length]).toEqual([4, 1])
    await site.call(users.remove, { user: eve.userId })
    expect(await by(owner)).toEqual([ada, null, null, null])
    expect(await site.db.selectFrom('post_moves').select('id').where('actorId', '=', eve.userId).execute()).toEqual([])
  })

  describe('posts of a private board', () => {
    it('are invisible everywhere without board:read', async () => {
      const site = await makeSite(engine)
      await site.call(boards.create, { name: 'Plans', display: false })
      await site.call(boards.create, { name: 'Ideas' })
      await site.owner()
      const { post: hidden } = await site.call(posts.create, { title: 'Secret', boardId: 'plans' })
      tick(site)
      const { post: open } = await site.call(posts.create, { title: 'Open', boardId: 'ideas' })
      const reader = await site.member(['board:read'])
      const plain = await site.member()
      const blocked = await site.member(['board:read'], { blocked: true })
      for (const token of [undefined, plain.token, blocked.token]) {
        for (const sort of SORTS) {
          const { body, text } = await site.http('POST /posts/get', { token, body: { sort } })
          expect([titles(body), body.total_count]).toEqual([['Open'], 1])
          expect(text).not.toMatch(/Secret|Plans/)
        }
        expect((await site.http('POST /posts/get', { token, body: { boardId: ['plans'] } })).body.errors[0].code).toBe(
          'UNKNOWN_BOARD',
        )
        expect(
          (await site.http('POST /posts/get', { token, body: { after: hidden.postId } })).body.errors[0].code,
        ).toBe('INVALID_CURSOR')
        for (const key of [hidden.postId, hidden.slug]) {
          for (const [request, body] of [
            ['POST /posts/slug', { slug: key }],
            ['POST /votes', { postId: key }],
            [`GET /posts/${encodeURIComponent(key)}/votes`, undefined],
            [`GET /posts/${encodeURIComponent(key)}/activity`, undefined],
            [`POST /posts/${encodeURIComponent(key)}/comments`, { body: 'x' }],
            ['PATCH /posts', { id: key, title: 'x' }],
          ] as const) {
            const { status, body: answer, text } = await site.http(request, { token, body })
            expect([request, status, answer.code]).toEqual([
              request,
              ...(status === 404
                ? [404, 'POST_NOT_FOUND']
                : [token === undefined ? 400 : 403, token === undefined ? 'INVALID_AUTH_HEADER' : 'USER_BLOCK']),
            ])
            expect(text).not.toContain('Secret')
          }
        }
      }
      expect(titles((await site.http('POST /posts/get', { token: reader.token })).body)).toEqual(['Open', 'Secret'])
      expect(
        (await site.http('POST /posts/get', { token: reader.token, body: { boardId: ['plans'] } })).body.total_count,
      ).toBe(1)
      expect((await site.http('POST /posts/slug', { token: reader.token, body: { id: hidden.postId } })).status).toBe(
        200,
      )
      expect((await site.http('POST /posts/slug', { body: { id: open.postId } })).status).toBe(200)
    })

    it('appear and disappear with the board, in lists and in counts, and stay hidden when it is deleted', async () => {
      const site = await makeSite(engine)
      const { board } = await site.call(boards.create, { name: 'Ideas' })
      await site.owner()
      const { post } = await site.call(posts.create, { title: 'One', boardId: 'ideas' })
      const seen = async () => (await site.http('POST /posts/get')).body.total_count
      expect(await seen()).toBe(1)
      await site.call(boards.update, { boardId: 'ideas', display: false, partial: true })
      expect(await seen()).toBe(0)
      await site.call(boards.update, { boardId: 'ideas', display: true, partial: true })
      expect(await seen()).toBe(1)
      await site.call(boards.update, { boardId: 'ideas', display: false, partial: true })
      await site.call(boards.remove, { boardId: board.boardId })
      expect(await seen()).toBe(0)
      expect((await site.http('POST /posts/slug', { body: { id: post.postId } })).status).toBe(404)
      const { posts: all, total_count: count } = await site.call(posts.list, {})
      expect([all[0]?.board, count]).toEqual([null, 1])
      await site.call(boards.create, { name: 'Open' })
      await site.call(posts.update, { id: post.postId, boardId: 'open', partial: true })
      expect(await seen()).toBe(1)
      await site.call(posts.update, { id: post.postId, title: 'One' })
      expect(await seen()).toBe(1)
    })
  })

  describe('POST /posts/slug', () => {
    it('finds by slug, by an earlier slug and by id, under each of their names', async () => {
      const site = await makeSite(engine)
      const { author, made } = await withPosts(site, [{ title: 'First title' }])
      const old = made['First title']
      const { post } = (
        await site.http('PATCH /posts', { token: author.token, body: { id: old.postId, title: 'Second title' } })
      ).body
      expect(post.slug).toBe(`second-title-${old.slugId}`)
      for (const body of [
        { slug: post.slug },
        { slug: ` ${old.slug} ` },
        { id: old.postId },
        { postId: old.postId },
        { slug: 'wrong', id: old.postId, userId: 'ignored' },
      ]) {
        const shown = await site.http('POST /posts/slug', { body })
        expect(shown.body.post).toMatchObject({
          postId: old.postId,
          title: 'Second title',
          slug: post.slug,
          slugId: old.slugId,
        })
        expect(shown.body.post).not.toHaveProperty('board')
        expect(shown.body.post).not.toHaveProperty('roadmap')
      }
    })

    it('finds by number, unless a slug is this number', async () => {
      const site = await makeSite(engine)
      const { made } = await withPosts(site, [{ title: 'a' }, { title: 'b' }])
      const titleOf = async (body: object) => (await site.http('POST /posts/slug', { body })).body.post?.title
      expect(await Promise.all(['1', '#1', '2', '3', '0', '01'].map((id) => titleOf({ id })))).toEqual([
        'a',
        'a',
        'b',
        undefined,
        undefined,
        undefined,
      ])
      await site.db.updateTable('posts').set({ slug: '1' }).where('postId', '=', made.b.postId).execute()
      expect([await titleOf({ id: '1' }), await titleOf({ slug: '1' }), await titleOf({ id: '#1' })]).toEqual([
        'b',
        'b',
        'a',
      ])
    })

    it.each([[{}], [{ slug: null }], [{ slug: '' }], [{ slug: 'nothing' }], [{ id: newId() }], [{ id: 5 }]])(
      'answers 404 to %j',
      async (body) => {
        const site = await makeSite(engine)
        const { status, body: answer } = await site.http('POST /posts/slug', { body })
        expect([status, answer.code]).toEqual([404, 'POST_NOT_FOUND'])
      },
    )
  })

  describe('GET /posts/search/:words', () => {
    const found = async (site: TestSite, text: string, query = '') =>
      titles((await site.http(`GET /posts/search/${encodeURIComponent(text)}${query}`)).body)

    it('finds words anywhere in title and text, in any order, case and script, newest first', async () => {
      const site = await makeSite(engine)
      await site.owner()
      for (const [title, contentMarkdown] of [
        ['Dark theme', 'For the **mobile** app'],
        ['dark mode!', null],
        ['Darkness', null],
        ['ÜBER uns', 'l\u2019été à Paris'],
        ['日本語のご意見', null],
        ['हिन्दी में', null],
        ['50% off', null],
        ["Don't", 'a "quoted" word\\ & more: or | not ( * )'],
      ] as const)
        await site.call(posts.create, { title, contentMarkdown })
      for (const [text, wanted] of [
        ['DARK', ['Darkness', 'dark mode!', 'Dark theme']],
        ['mode', ['dark mode!']],
        ['mode dark', ['dark mode!']],
        ['mobile theme', ['Dark theme']],
        ['mob', ['Dark theme']],
        ['🎉 dark, m', []],
        ['dark mode!', ['dark mode!']],
        ['uber', ['ÜBER uns']],
        ['ÉTÉ', ['ÜBER uns']],
        ["l'ete", ['ÜBER uns']],
        ['本', ['日本語のご意見']],
        ['意見 日本', ['日本語のご意見']],
        ['हिन्दी', ['हिन्दी में']],
        ['dont', ["Don't"]],
        ['don’t', ["Don't"]],
        ['quoted "word', ["Don't"]],
        ['50 off', ['50% off']],
        ["'; drop table posts; --", []],
        ['dark OR mobile', []],
        ['NEAR(dark theme)', []],
        ['ark', []],
        ['%', []],
        ['🎉', []],
        [' ', []],
        ['x'.repeat(4000), []],
        ['dark '.repeat(50), ['Darkness', 'dark mode!', 'Dark theme']],
      ] as const)
        expect([text, await found(site, text)]).toEqual([text, wanted])
    })

    it('follows changes and deletions of a post', async () => {
      const site = await makeSite(engine)
      await site.owner()
      const { post } = await site.call(posts.create, { title: 'Dark theme', contentMarkdown: 'mobile' })
      await site.call(posts.update, { id: post.postId, title: 'Light theme', partial: true })
      expect([await found(site, 'dark'), await found(site, 'light mobile')]).toEqual([[], ['Light theme']])
      await site.call(posts.update, { id: post.postId, contentMarkdown: 'desktop', partial: true })
      expect([await found(site, 'mobile'), await found(site, 'desktop light')]).toEqual([[], ['Light theme']])
      await site.call(posts.remove, { id: post.postId })
      expect(await found(site, 'light')).toEqual([])
      await site.call(posts.create, { title: 'Another' })
      expect([await found(site, 'light'), await found(site, 'another')]).toEqual([[], ['Another']])
    })

    it('answers page by page, on a board or by a person, each post as it is in a list', async () => {
      const site = await makeSite(engine)
      await site.owner()
      await site.call(boards.create, { name: 'Ideas' })
      for (let number = 10; number < 32; number++)
        await site.call(posts.create, { title: `Post ${number}`, boardId: number % 2 ? 'ideas' : null })
      const { body } = await site.http('GET /posts/search/post')
      expect(body.has_next_page).toBe(true)
      expect(titles(body)).toEqual(Array.from({ length: 20 }, (_, index) => `Post ${31 - index}`))
      const rest = (await site.http('GET /posts/search/post?page=2')).body
      expect([titles(rest), rest.has_next_page]).toEqual([['Post 11', 'Post 10'], false])
      expect(await found(site, 'post', '?boardId=ideas&limit=3')).toEqual(['Post 31', 'Post 29', 'Post 27'])
      expect(await found(site, 'post', `?authorId=${(await site.member()).userId}`)).toEqual([])
      const listed = (await site.http('POST /posts/get', { body: { limit: 1 } })).body.posts
      expect(body.posts[0]).toEqual(listed[0])
      expect((await site.http('GET /posts/search/post?boardId=nothing')).body.code).toBe('VALIDATION_ERROR')
      await expect(site.call(posts.search, { words: '' })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    })

    it('leaves out posts of private boards without board:read', async () => {
      const site = await makeSite(engine)
      await site.owner()
      await site.call(boards.create, { name: 'Secret', display: false })
      await site.call(posts.create, { title: 'Dark open' })
      await site.call(posts.create, { title: 'Dark secret', boardId: 'secret' })
      const foundBy = async (token?: string) =>
        titles((await site.http('GET /posts/search/dark', token === undefined ? {} : { token })).body)
      expect(await foundBy()).toEqual(['Dark open'])
      expect(await foundBy((await site.member(['post:update'])).token)).toEqual(['Dark open'])
      expect(await foundBy((await site.member(['board:read'])).token)).toEqual(['Dark secret', 'Dark open'])
      expect(await foundBy((await site.member(['board:read'], { blocked: true })).token)).toEqual(['Dark open'])
    })
  })

  describe('PATCH /posts', () => {
    it('keeps what is not given, and clears what is null', async () => {
      const site = await makeSite(engine)
      await site.call(boards.create, { name: 'Ideas' })
      const { token } = await site.member()
      const given = { title: 'a', contentMarkdown: 'text', boardId: 'ideas' }
      const { post } = (await site.http('POST /posts', { token, body: given })).body
      tick(site)
      const patch = async (body: object) => (await site.http('PATCH /posts', { token, body })).body.post
      const changed = { ...post, title: 'b', slug: `b-${post.slugId}`, updatedAt: '2026-03-02T10:01:00.000Z' }
      expect(await patch({ id: post.postId, title: 'b', slugId: 'x', userId: 'y' })).toEqual(changed)
      expect(await patch({ id: post.postId, contentMarkdown: 'more', partial: true })).toEqual({
        ...changed,
        contentMarkdown: 'more',
      })
      const cleared = await patch({
        id: post.postId,
        title: 'c',
        contentMarkdown: null,
        boardId: null,
        roadmapId: null,
      })
      expect(cleared).toMatchObject({ title: 'c', contentMarkdown: null, boardId: null, roadmap_id: null })
      expect((await site.http('GET /boards/ideas')).body.board.post_count).toBe('0')
    })

    it('is refused where the post was changed since the time that it names', async () => {
      const site = await makeSite(engine)
      const { author, made } = await withPosts(site, [{ title: 'a' }])
      const { postId: id, updatedAt: ifUpdatedAt } = made.a
      const patch = async (body: object) => {
        tick(site)
        const answer = await site.http('PATCH /posts', { token: author.token, body: { id, ...body } })
        return [answer.status, answer.body.code ?? answer.body.post.title]
      }
      expect(await patch({ title: 'b', ifUpdatedAt })).toEqual([200, 'b'])
      expect(await patch({ title: 'c', ifUpdatedAt })).toEqual([409, 'CONTENT_CHANGED'])
      expect(await patch({ title: 'c', ifUpdatedAt: 'never' })).toEqual([400, 'VALIDATION_ERROR'])
      const { post } = await site.call(posts.show, { id })
      expect(post.title).toBe('b')
      expect(await patch({ title: 'c', ifUpdatedAt: post.updatedAt.replace('Z', '+00:00') })).toEqual([200, 'c'])
      expect(await patch({ title: 'd', updatedAt: 'what published clients send' })).toEqual([200, 'd'])
    })

    it('keeps a private roadmap where the caller may not see it, whatever they send', async () => {
      const site = await makeSite(engine)
      await site.call(roadmaps.create, { name: 'Secret', display: false })
      await site.call(roadmaps.create, { name: 'Open', display: true })
      const { author, made } = await withPosts(site, [{ title: 'a' }])
      const id = made.a.postId
      const moderator = await site.member(['post:update'])
      const planner = await site.member(['post:update', 'roadmap:read'])
      await site.call(posts.update, { id, roadmapId: 'secret', partial: true })
      const isSecret = async () => (await site.call(posts.show, { id })).post.roadmap?.url === 'secret'
      for (const { token } of [author, moderator])
        for (const roadmapId of [undefined, null, '']) {
          const { status, body } = await site.http('PATCH /posts', { token, body: { id, title: 'b', roadmapId } })
          expect([status, body.post.title, body.post.roadmap_id]).toEqual([200, 'b', null])
          expect(await isSecret()).toBe(true)
        }
      const refused = await site.http('PATCH /posts', {
        token: author.token,
        body: { id, title: 'c', roadmapId: 'open' },
      })
      expect([refused.status, refused.body.code]).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
      expect((await site.call(posts.show, { id })).post.title).toBe('b')
      await site.http('PATCH /posts', { token: planner.token, body: { id, title: 'b', roadmapId: null } })
      expect(await isSecret()).toBe(false)
    })

    it('needs post:update unless the caller is the author; 404 comes before 403, and 403 before 400', async () => {
      const site = await makeSite(engine)
      const { author, made } = await withPosts(site, [{ title: 'a' }])
      const id = made.a.postId
      const stranger = await site.member()
      const editor = await site.member(['post:update'], { everyone: false })
      const patch = async (token: string | undefined, body: object) => {
        const { status, body: answer } = await site.http('PATCH /posts', { token, body })
        return [status, answer.code ?? answer.post.title]
      }
      expect(await patch(undefined, { id, title: 'x' })).toEqual([400, 'INVALID_AUTH_HEADER'])
      expect(await patch(stranger.token, { id, title: 'x' })).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
      expect(await patch(stranger.token, { id })).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
      expect(await patch(stranger.token, { id: newId(), title: 'x' })).toEqual([404, 'POST_NOT_FOUND'])
      expect(await patch(stranger.token, { title: 'x' })).toEqual([404, 'POST_NOT_FOUND'])
      expect(await patch(editor.token, { id, title: 'x' })).toEqual([200, 'x'])
      expect(await patch(author.token, { id, title: 'y' })).toEqual([200, 'y'])
      expect(await patch(await site.owner(), { id, title: 'z' })).toEqual([200, 'z'])
    })

    it.each([[{}], [{ title: '' }], [{ title: ' ' }], [{ title: 5 }]])(
      'refuses %j with POST_TITLE_MISSING',
      async (change) => {
        const site = await makeSite(engine)
        const { author, made } = await withPosts(site, [{ title: 'a' }])
        const { status, body } = await site.http('PATCH /posts', {
          token: author.token,
          body: { id: made.a.postId, ...change },
        })
        expect([status, body.code, body.errors[0].code]).toEqual([400, 'VALIDATION_ERROR', 'POST_TITLE_MISSING'])
      },
    )
  })

  describe('DELETE /posts', () => {
    it('needs post:destroy, and takes votes and comments along', async () => {
      const site = await makeSite(engine)
      await site.call(boards.create, { name: 'Ideas' })
      const { author, made } = await withPosts(site, [{ title: 'a', board: 'ideas', votes: 3 }])
      const id = made.a.postId
      await site.http(`POST /posts/${id}/comments`, { token: author.token, body: { body: 'hello' } })
      expect((await site.http('DELETE /posts', { token: author.token, body: { id } })).body.code).toBe(
        'NOT_ENOUGH_PERMISSION',
      )
      const { token } = await site.member(['post:destroy'])
      expect((await site.http('DELETE /posts', { token, body: { id: newId() } })).body.code).toBe('POST_NOT_FOUND')
      const { status, text } = await site.http('DELETE /posts', { token, body: { id } })
      expect([status, text]).toEqual([204, ''])
      expect((await site.http('DELETE /posts', { token, body: { id } })).body.code).toBe('POST_NOT_FOUND')
      for (const table of ['votes', 'comments'] as const)
        expect(await site.db.selectFrom(table).selectAll().execute()).toEqual([])
      expect((await site.http('GET /boards/ideas')).body.board.post_count).toBe('0')
      expect((await site.http('POST /posts/get')).body.total_count).toBe(0)
      expect(await site.db.selectFrom('users').select('vote_count').where('vote_count', '<>', 0).execute()).toEqual([])
      expect((await events(site)).at(-1)).toBe('post.deleted a')
    })
  })

  it('an author deletes a post while nobody else has voted or commented', async () => {
    const site = await makeSite(engine)
    const { author, made } = await withPosts(site, [{ title: 'a' }, { title: 'b', votes: 2 }, { title: 'c' }, { title: 'd' }]) // prettier-ignore
    const [other, team] = [await site.member(), await site.member(['comment:create_internal', 'comment:view_internal'])]
    const say = (title: string, { token }: { token: string }, body: object) =>
      site.http(`POST /posts/${made[title].postId}/comments`, { token, body: { body: 'hello', ...body } })
    await say('a', author, {})
    await say('a', team, { is_internal: true })
    await say('c', other, {})
    const remove = async (title: string, { token } = author) => {
      const { status, body } = await site.http('DELETE /posts', { token, body: { id: made[title].postId } })
      return [status, body?.code]
    }
    expect(await remove('a', other)).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
    for (const title of ['b', 'c']) expect(await remove(title)).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
    expect(await remove('a')).toEqual([204, undefined])
    const [vote, [status]] = await Promise.all([
      site.http('POST /votes', { token: other.token, body: { postId: made.d.postId } }),
      remove('d'),
    ])
    expect([[201, 403], [404, 204]]).toContainEqual([vote.status, status]) // prettier-ignore
  })

  it('a delete beside many votes: each vote is counted or refused, and nothing is left over', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const { post } = await site.call(posts.create, { title: 'a' })
    const people = await Promise.all(Array.from({ length: 12 }, () => site.member()))
    const answers = await Promise.all([
      ...people.slice(0, 6).map(({ token }) => site.http('POST /votes', { token, body: { postId: post.postId } })),
      site.call(posts.remove, { id: post.postId }).then(() => ({ status: 204 })),
      ...people.slice(6).map(({ token }) => site.http('POST /votes', { token, body: { postId: post.postId } })),
    ])
    for (const { status } of answers) expect([201, 204, 404]).toContain(status)
    expect(await site.db.selectFrom('votes').selectAll().execute()).toEqual([])
    expect(await site.db.selectFrom('users').select('vote_count').where('vote_count', '<>', 0).execute()).toEqual([])
  })

  it('counts of posts and votes are right whatever happens at once', async () => {
    const site = await makeSite(engine)
    await site.owner()
    for (const name of ['Ideas', 'Bugs']) await site.call(boards.create, { name })
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        site.call(posts.create, { title: `${index}`, boardId: index % 2 ? 'ideas' : 'bugs' }),
      ),
    )
    const people = await Promise.all(Array.from({ length: 4 }, () => site.member()))
    const ids = made.map(({ post }) => post.postId)
    await Promise.all([
      ...ids
        .slice(0, 5)
        .map((id, index) => site.call(posts.update, { id, boardId: index % 2 ? 'bugs' : 'ideas', partial: true })),
      ...people.flatMap(({ token }) => ids.map((postId) => site.http('POST /votes', { token, body: { postId } }))),
      ...[true, false, true].map((display) => site.call(boards.update, { boardId: 'ideas', display, partial: true })),
      site.call(posts.remove, { id: ids[9]! }),
    ])
    const rows = await site.db.selectFrom('posts').selectAll().execute()
    expect(rows.some(({ votesCount }) => votesCount > 0)).toBe(true)
    for (const row of rows) {
      const votesOfPost = await site.db.selectFrom('votes').selectAll().where('postId', '=', row.postId).execute()
      expect(row.votesCount).toBe(votesOfPost.length)
    }
    const { boards: all } = await site.call(boards.list, { visibility: ['public', 'private'] })
    for (const board of all) {
      expect(Number(board.post_count)).toBe(rows.filter((row) => row.boardId === board.boardId).length)
      expect(rows.filter((row) => row.boardId === board.boardId && row.display !== (board.display ? 1 : 0))).toEqual([])
    }
    expect((await site.call(posts.list, {})).total_count).toBe(9)
    expect((await site.http('POST /posts/get')).body.total_count).toBe(rows.filter((row) => row.display === 1).length)
  })

  it('moves in both directions at once are all done, also as dry runs', async () => {
    const site = await makeSite(engine)
    const owner = await site.owner()
    await site.call(roadmaps.create, { name: 'Planned' })
    for (const name of ['Ideas', 'Bugs']) await site.call(boards.create, { name })
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        site.call(posts.create, { title: `${index}`, boardId: index % 2 ? 'ideas' : 'bugs' }),
      ),
    )
    for (const { post } of made.slice(0, 10))
      await site.call(posts.update, { id: post.postId, roadmapId: 'planned', partial: true })
    for (const headers of [{ 'feedbackctl-dry-run': '1' }, {}]) {
      const answers = await Promise.all(
        made.map(({ post }, index) => {
          const body = {
            id: post.postId,
            partial: true,
            roadmapId: index < 10 ? null : 'planned',
            boardId: index % 2 ? 'bugs' : 'ideas',
          }
          return site.http('PATCH /posts', { token: owner, body, headers })
        }),
      )
      expect(answers.map(({ status }) => status)).toEqual(made.map(() => 200))
    }
    expect(
      (await site.call(posts.list, { roadmapId: 'planned' })).posts
        .map(({ title }) => Number(title))
        .toSorted((a, b) => a - b),
    ).toEqual(Array.from({ length: 10 }, (_, index) => index + 10))
    expect((await site.call(posts.list, { roadmapId: 'planned' })).total_count).toBe(10)
  })

  it('an author cannot take a post out of a private board that it is being moved to', async () => {
    const site = await makeSite(engine)
    await site.owner()
    await site.call(boards.create, { name: 'Plans', display: false })
    await site.call(boards.create, { name: 'Ideas' })
    const { token } = await site.member()
    for (let round = 0; round < 8; round++) {
      const { post } = (await site.http('POST /posts', { token, body: { title: 'x', boardId: 'ideas' } })).body
      const [moved, changed] = await Promise.all([
        site.call(posts.update, { id: post.postId, boardId: 'plans', partial: true }),
        site.http('PATCH /posts', { token, body: { id: post.postId, title: 'y' } }),
      ])
      expect(moved.post.boardId).not.toBeNull()
      expect([200, 404]).toContain(changed.status)
      expect((await site.http('POST /posts/slug', { body: { id: post.postId } })).status).toBe(404)
    }
  })

  it('shows the private roadmap of a post only with roadmap:read', async () => {
    const site = await makeSite(engine)
    const { roadmap } = await site.call(roadmaps.create, { name: 'Secret', display: false })
    const { author, made } = await withPosts(site, [{ title: 'a' }])
    await site.call(posts.update, { id: made.a.postId, roadmapId: 'secret', partial: true })
    const { token } = author
    for (const [request, body] of [
      ['POST /posts/get', {}],
      ['POST /posts/slug', { id: made.a.postId }],
      ['PATCH /posts', { id: made.a.postId, title: 'b', partial: true }],
    ] as const)
      expect((await site.http(request, { token, body })).text).not.toContain(roadmap.id)
    expect((await site.http('POST /posts/get', { body: { roadmapId: 'secret' } })).body.errors[0].code).toBe(
      'UNKNOWN_ROADMAP',
    )
    expect((await site.call(posts.list, { roadmapId: 'secret' })).total_count).toBe(1)
  })

  it('takes an empty text as none, and an id in any letter case', async () => {
    const site = await makeSite(engine)
    const { token } = await site.member()
    const { post } = (await site.http('POST /posts', { token, body: { title: 'x', contentMarkdown: '  ' } })).body
    expect(post.contentMarkdown).toBeNull()
    expect((await site.http('POST /posts/slug', { body: { id: post.postId.toUpperCase() } })).body.post.postId).toBe(
      post.postId,
    )
    expect((await site.http('POST /posts/slug', { body: { id: '', slug: post.slug } })).body.post.postId).toBe(
      post.postId,
    )
  })

  it('a post written while its board is being hidden is as hidden as the board', async () => {
    const site = await makeSite(engine)
    await site.owner()
    for (let round = 0; round < 10; round++) {
      const { board } = await site.call(boards.create, { name: `Board ${round}` })
      const [{ post }] = await Promise.all([
        site.call(posts.create, { title: 'x', boardId: board.boardId }),
        site.call(boards.update, { boardId: board.boardId, display: false, partial: true }),
      ])
      const row = await site.db
        .selectFrom('posts')
        .select('display')
        .where('postId', '=', post.postId)
        .executeTakeFirstOrThrow()
      expect(row.display).toBe(0)
    }
  })

  it('a dry run changes nothing and writes no event', async () => {
    const site = await makeSite(engine)
    const { token } = await site.member()
    const { status } = await site.http('POST /posts', {
      token,
      body: { title: 'x' },
      headers: { 'feedbackctl-dry-run': '1' },
    })
    expect(status).toBe(201)
    expect(await site.db.selectFrom('posts').selectAll().execute()).toEqual([])
    expect(await events(site)).toEqual([])
  })

  it('counts one vote per person and post for concurrent requests', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const { post } = await site.call(posts.create, { title: 'a' })
    const { token } = await site.member()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => site.http('POST /votes', { token, body: { postId: post.postId } })),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      201,
      ...Array.from({ length: 7 }, () => 409),
    ])
    expect((await site.call(votes.list, { post_id: post.postId })).votes.total_count).toBe(2)
  })
})
