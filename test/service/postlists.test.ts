import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { SORTS } from '../../src/db/posts/order.js'
import { indexMissing } from '../../src/db/searchindex.js'
import * as boards from '../../src/service/boards.js'
import { decide } from '../../src/service/moderation.js'
import * as posts from '../../src/service/posts.js'
import * as posttags from '../../src/service/posttags.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as tags from '../../src/service/tags.js'
import { engines, makeSite, type Engine, type TestSite } from '../support/site.js'

interface Listed {
  postId: string
  title: string
}

interface Answer {
  posts: Listed[]
  total_count: number
  page_info: { has_next_page: boolean; end_cursor: string | null }
}

const WORDS = ['dark', 'light', 'export']

/** Posts that differ in everything that filters look at, written a minute apart. */
async function filled(engine: Engine) {
  const site = await makeSite(engine)
  await site.owner()
  for (const name of ['Ideas', 'Bugs', 'Plans']) await site.call(boards.create, { name, display: name !== 'Plans' })
  for (const name of ['Soon', 'Later']) await site.call(roadmaps.create, { name, display: true })
  for (const name of ['Web', 'Mobile', 'Unused']) await site.call(tags.create, { name })
  const authors = [await site.member(), await site.member()]
  for (let number = 0; number < 24; number++) {
    site.clock.now = new Date(Date.UTC(2026, 2, 3, 10, number))
    const { body } = await site.http('POST /posts', {
      token: authors[number % 2]!.token,
      body: {
        title: `Post ${number}`,
        contentMarkdown: WORDS[number % 3],
        boardId: ['ideas', 'bugs', null][number % 3],
      },
    })
    if (number % 5 === 2) await site.call(posts.update, { id: body.post.postId, partial: true, pinned: true })
    await site.call(posts.update, {
      id: body.post.postId,
      partial: true,
      ...(number % 6 === 5 && { boardId: 'plans' }),
      ...(number % 4 !== 0 && { roadmapId: ['soon', 'later'][number % 2] }),
    })
    const add = [...(number % 2 === 0 ? ['web'] : []), ...(number % 3 === 0 ? ['mobile'] : [])]
    if (add.length > 0) await site.call(posttags.tag, { ids: [body.post.postId], add })
    for (const voter of authors.slice(0, number % 3))
      await site.http('POST /votes', { token: voter.token, body: { postId: body.post.postId } })
  }
  return { site, authors, reader: (await site.member(['board:read'])).token }
}

/** The list page by page, after the last row of each. */
async function walk(site: TestSite, body: object, token: string | undefined): Promise<Listed[]> {
  const rows: Listed[] = []
  for (let after: string | null = null; ;) {
    const answer: Answer = (await site.http('POST /posts/get', { token, body: { ...body, limit: 10, ...(after !== null && { after }) } })).body // prettier-ignore
    rows.push(...answer.posts)
    if (!answer.page_info.has_next_page) return rows
    after = answer.page_info.end_cursor
  }
}

const ids = (rows: readonly Listed[]) => rows.map(({ postId }) => postId).toSorted()

describe.each(engines)('a filter of posts on %s', (engine) => {
  it('means the same on every order, by number and by cursor, in the count and for the cursors it takes', async () => {
    const { site, authors, reader } = await filled(engine)
    const everything = async (token: string | undefined) =>
      (await site.http('POST /posts/get', { token, body: { limit: 100 } })).body.posts as Listed[]
    let reads = false
    const filters: [object, (number: number) => boolean][] = [
      [{ boardId: ['ideas'] }, (n) => n % 3 === 0],
      [{ boardId: ['ideas', 'bugs'] }, (n) => n % 3 !== 2 && n % 6 !== 5],
      [{ boardId: ['none'] }, (n) => n % 3 === 2 && n % 6 !== 5],
      [{ boardId: ['none', 'ideas', 'none'] }, (n) => n % 3 === 0 || (n % 3 === 2 && n % 6 !== 5)],
      [{ roadmapId: 'soon' }, (n) => n % 4 === 2],
      [{ roadmapIds: ['soon', 'later'] }, (n) => n % 4 !== 0],
      [{ roadmapIds: ['soon'], boardId: ['ideas', 'none'] }, (n) => n % 4 === 2 && (n % 3 === 0 || (n % 3 === 2 && n % 6 !== 5))], // prettier-ignore
      [{ roadmapId: 'soon', roadmapIds: ['soon', 'later'] }, (n) => n % 4 === 2],
      [{ roadmapId: 'soon', roadmapIds: ['later'] }, () => false],
      [{ statusKind: ['planned'] }, (n) => n % 4 === 2],
      [{ statusKind: ['open'] }, (n) => n % 4 !== 2],
      [{ statusKind: ['done', 'open', 'planned'] }, () => true],
      [{ statusKind: ['declined'] }, () => false],
      [{ statusKind: ['planned'], boardId: ['ideas', 'none'] }, (n) => n % 4 === 2 && (n % 3 === 0 || (n % 3 === 2 && n % 6 !== 5))], // prettier-ignore
      [{ statusKind: ['planned'], roadmapIds: ['later'] }, () => false],
      [{ statusKind: ['open'], roadmapId: 'later' }, (n) => n % 2 === 1],
      [{ query: 'is:planned' }, (n) => n % 4 === 2],
      [{ query: 'is:planned is:declined', boardId: ['ideas'] }, (n) => n % 4 === 2 && n % 3 === 0],
      [{ query: 'is:done' }, () => false],
      [{ query: 'dark', boardId: ['none', 'ideas'] }, (n) => n % 3 === 0],
      [{ authorId: authors[0]!.userId }, (n) => n % 2 === 0],
      [{ since: '2026-03-03T10:10:00Z', until: '2026-03-03T10:22:00Z' }, (n) => n >= 10 && n < 22],
      [{ query: 'dark' }, (n) => n % 3 === 0],
      [{ query: 'dark', roadmapId: 'later', since: '2026-03-03T10:10:00Z' }, (n) => n % 3 === 0 && n % 4 !== 0 && n % 2 === 1 && n >= 10], // prettier-ignore
      [{ query: '!' }, () => false],
      [{ query: 'post board:ideas' }, (n) => n % 3 === 0],
      [{ query: 'board:ideas -"post 3"', boardId: ['ideas', 'bugs'] }, (n) => n % 3 === 0 && n !== 3],
      [{ query: 'status:soon votes:>1' }, (n) => n % 4 === 2 && n % 3 === 2],
      [{ query: '"post 12" is:open' }, (n) => n === 12],
      [{ query: '#4 after:2026-03' }, (n) => n === 3],
      [{ query: 'tag:x' }, () => false],
      [{ tags: ['web'] }, (n) => n % 2 === 0],
      [{ tags: ['web', 'mobile', 'web'] }, (n) => n % 2 === 0 || n % 3 === 0],
      [{ tags: ['unused'] }, () => false],
      [{ tags: ['web', 'unused'], boardId: ['bugs'] }, (n) => n % 2 === 0 && n % 3 === 1],
      [{ allTags: ['web', 'mobile'] }, (n) => n % 6 === 0],
      [{ allTags: ['web', 'unused'] }, () => false],
      [{ allTags: ['mobile'], tags: ['web'], query: 'dark' }, (n) => n % 6 === 0],
      [{ allTags: ['mobile'], voted: true }, (n) => !reads && n % 6 === 3],
      [{ query: 'tag:web tag:Mobile' }, (n) => n % 6 === 0],
      [{ query: 'tag:web post -"post 4"', since: '2026-03-03T10:02:00Z' }, (n) => n % 2 === 0 && n >= 2 && n !== 4],
      [{ mine: true, authorId: authors[0]!.userId }, () => false],
      [{ mine: true }, (n) => n % 2 === (reads ? 2 : 1)],
      [{ voted: true }, (n) => !reads && (n % 2 === 1 || n % 3 === 2)],
      [
        { voted: true, boardId: ['bugs', 'none'] },
        (n) => !reads && (n % 3 === 1 ? n % 2 === 1 : n % 3 === 2 && n % 6 !== 5),
      ],
      [{ pinned: true }, (n) => n % 5 === 2],
      [{ pinned: true, boardId: ['ideas', 'bugs'], query: 'dark' }, (n) => n % 15 === 12],
      [{ following: true }, (n) => !reads && (n % 2 === 1 || n % 3 === 2)],
      [{ following: true, query: 'dark' }, (n) => !reads && n % 3 === 0 && n % 2 === 1],
      [{ voted: true, query: 'light' }, (n) => !reads && n % 3 === 1 && n % 2 === 1],
      [{ voted: true, mine: true, since: '2026-03-03T10:10:00Z' }, (n) => !reads && n % 2 === 1 && n >= 10],
    ]
    for (const token of [authors[1]!.token, reader]) {
      reads = token === reader // who wrote nothing, and voted for nothing
      const all = await everything(token)
      for (const [filter, has] of filters) {
        const wanted = all.filter(({ title }) => has(Number(title.slice(5))))
        const outside = all.filter((post) => !wanted.includes(post))
        for (const sort of SORTS) {
          const body = { ...filter, sort }
          const { body: whole } = await site.http('POST /posts/get', { token, body: { ...body, limit: 100 } })
          const walked = await walk(site, body, token)
          expect([body, ids(whole.posts), whole.total_count]).toEqual([body, ids(wanted), wanted.length])
          expect([body, ids(walked)]).toEqual([body, ids(wanted)])
          expect(walked).toEqual(whole.posts)
          for (const { postId } of outside.slice(0, 2)) {
            const { body: refusal } = await site.http('POST /posts/get', { token, body: { ...body, after: postId } })
            expect([body, refusal.errors?.[0]?.code]).toEqual([body, 'INVALID_CURSOR'])
          }
        }
      }
    }
    const reading = (await site.member(['roadmap:read'])).token
    const without = (await everything(reading)).filter(({ title }) => Number(title.slice(5)) % 4 === 0)
    const { body: found } = await site.http('POST /posts/get', { token: reading, body: { roadmapIds: ['none'], limit: 100 } }) // prettier-ignore
    expect([ids(found.posts), found.total_count]).toEqual([ids(without), without.length])
  })

  it('by days without a status needs roadmap:read, and leaves out spam and what is newer', async () => {
    const { site, reader } = await filled(engine)
    const { token } = await site.member(['roadmap:read'])
    const waiting = async (given: object, by = token) => (await site.http('POST /posts/get', { token: by, body: { waiting: 1, limit: 100, ...given } })).body // prettier-ignore
    expect((await waiting({})).total_count).toBe(0)
    site.clock.now = new Date(Date.UTC(2026, 2, 4, 11, 30))
    const numbers = async (given: object) => {
      const found = await waiting(given)
      const walked = await walk(site, { waiting: 1, ...given }, token)
      expect([ids(walked), found.total_count]).toEqual([ids(found.posts), found.posts.length])
      return (found.posts as Listed[]).map(({ title }) => Number(title.slice(5)))
    }
    expect(await numbers({ sort: 'oldest' })).toEqual([0, 4, 8, 12, 16, 20])
    expect(await numbers({ sort: 'oldest', boardId: ['bugs'] })).toEqual([4, 16])
    expect(await numbers({ until: '2026-03-03T10:09:00Z' })).toEqual([8, 4, 0])
    expect(await numbers({ roadmapIds: ['none', 'soon'], sort: 'votes' })).toHaveLength(6)
    expect(await numbers({ roadmapIds: ['soon'] })).toEqual([])
    await site.call(decide, { id: '5', decision: 'spam' })
    expect(await numbers({ sort: 'oldest' })).toHaveLength(5)
    expect(await numbers({ waiting: 2 })).toEqual([])
    expect(await waiting({}, reader)).toMatchObject({ code: 'NOT_ENOUGH_PERMISSION' })
    expect(await waiting({ waiting: 0 })).toMatchObject({ code: 'VALIDATION_ERROR' })
    const { text } = await site.http('GET /export/posts?waiting=1&format=jsonl', { token })
    expect(text.trim().split('\n')).toHaveLength(5)
  })

  it('by spam has what the team hid as spam, in every order, for those who see it', async () => {
    const { site, authors, reader } = await filled(engine)
    for (const id of ['2', '3', '6', '9', '24']) await site.call(decide, { id, decision: 'spam' })
    await site.db.updateTable('posts').set({ is_spam: 2, display: 0 }).where('number', '=', 12).execute() // held, not spam
    const found = async (given: object, token = reader) => (await site.http('POST /posts/get', { token, body: { spam: true, limit: 100, ...given } })).body // prettier-ignore
    for (const sort of SORTS) {
      const whole = await found({ sort })
      expect([sort, ids(whole.posts), whole.total_count]).toEqual([sort, ids(whole.posts), 5])
      expect(whole.posts.every(({ is_spam: isSpam }: { is_spam?: boolean }) => isSpam)).toBe(true)
      expect(await walk(site, { spam: true, sort }, reader)).toEqual(whole.posts)
    }
    const numbers = async (given: object) => (await found(given)).posts.map(({ number }: { number: number }) => number)
    expect(await numbers({ sort: 'oldest' })).toEqual([2, 3, 6, 9, 24])
    expect(await numbers({ boardId: ['bugs'] })).toEqual([2])
    expect(await numbers({ query: 'export' })).toEqual([24, 9, 6, 3])
    expect(await numbers({ query: 'export', roadmapIds: ['later'] })).toEqual([24, 6])
    expect(await numbers({ authorId: authors[0]!.userId, since: '2026-03-03T10:04:00Z' })).toEqual([9])
    expect((await found({}, authors[1]!.token)).total_count).toBe(0)
    const { body: facets } = await site.http('GET /posts/facets?spam=true', { token: reader })
    expect(facets.boards.counts.map(({ posts: count }: { posts: number }) => count).reduce((a: number, b: number) => a + b)).toBe(5) // prettier-ignore
    await site.call(decide, { id: '2', decision: 'keep' })
    expect((await found({})).total_count).toBe(4)
    expect((await found({ spam: false })).total_count).toBe(24)
    // Without: what is held stays, and others see the same as ever
    const without = { spam: undefined, withoutSpam: true }
    for (const sort of SORTS) {
      const rest = await found({ ...without, sort })
      expect([sort, rest.total_count, rest.posts.length]).toEqual([sort, 20, 20])
      expect(await walk(site, { ...without, sort }, reader)).toEqual(rest.posts)
    }
    for (const given of [
      { boardId: ['bugs'] },
      { query: 'export' },
      { roadmapIds: ['later'], since: '2026-03-03T10:04:00Z' },
      { authorId: authors[0]!.userId },
    ]) {
      // prettier-ignore
      const [all, spam, rest] = await Promise.all([{ spam: undefined }, {}, without].map((each) => found({ ...given, ...each }))) // prettier-ignore
      expect([given, rest.total_count, rest.posts.length]).toEqual([given, all.total_count - spam.total_count, all.total_count - spam.total_count]) // prettier-ignore
      const { body } = await site.http(`GET /posts/facets?withoutSpam=true${given.boardId ? '&boardId=bugs' : ''}`, { token: reader }) // prettier-ignore
      expect(body.boards.counts.reduce((sum: number, { posts: count }: { posts: number }) => sum + count, 0)).toBe(20)
    }
    expect((await found({ withoutSpam: true })).total_count).toBe(4) // spam wins
    expect((await found(without, authors[1]!.token)).total_count).toBe((await found({ spam: undefined }, authors[1]!.token)).total_count) // prettier-ignore
    const { text } = await site.http('GET /export/posts?spam=true&format=jsonl', { token: reader })
    expect(text.trim().split('\n')).toHaveLength(4)
    const { text: some } = await site.http('GET /posts/search/export?spam=true', { token: reader })
    expect(JSON.parse(some).posts).toHaveLength(4)
  })

  it('by votes needs an account, and shows nobody the votes of another', async () => {
    const { site, authors, reader } = await filled(engine)
    for (const request of ['POST /posts/get', 'GET /posts/search/dark?voted=true', 'GET /export/posts?voted=true']) {
      const { status, body } = await site.http(request, request.startsWith('POST') ? { body: { voted: true } } : {})
      expect([request, status, body.code]).toEqual([request, 400, 'INVALID_AUTH_HEADER'])
    }
    const voted = async (token: string) =>
      (await site.http('POST /posts/get', { token, body: { voted: true, limit: 100 } })).body
    const before = await voted(authors[0]!.token)
    expect(
      ids((await site.http('GET /posts/search/dark?voted=true&limit=100', { token: authors[0]!.token })).body.posts),
    ).toEqual(ids(before.posts.filter(({ title }: Listed) => Number(title.slice(5)) % 3 === 0)))
    expect((await voted(reader)).total_count).toBe(0)
    expect((await voted(authors[1]!.token)).total_count).not.toBe(before.total_count)
    const [{ postId }] = before.posts as [Listed]
    await site.http('DELETE /votes', { token: authors[0]!.token, body: { postId } })
    expect((await voted(authors[0]!.token)).total_count).toBe(before.total_count - 1)
    await site.http('POST /votes', { token: reader, body: { postId } })
    expect(ids((await voted(reader)).posts)).toEqual([postId])
  })

  it('by who follows them finds the posts that are marked as followed, for each reason', async () => {
    const { site, authors, reader: token } = await filled(engine)
    const { posts } = (await site.http('POST /posts/get', { token, body: { limit: 100 } })).body as { posts: Listed[] }
    const [voted, commented, mentioned, chosen, left] = posts.map(({ postId }) => postId) as [string, string, string, string, string] // prettier-ignore
    const { body: me } = await site.http('GET /users/profile', { token })
    const { postId: written } = (await site.http('POST /posts', { token, body: { title: 'Mine' } })).body.post
    for (const postId of [voted, left]) await site.http('POST /votes', { token, body: { postId } })
    await site.http(`POST /posts/${commented}/comments`, { token, body: { body: 'Yes' } })
    await site.http(`POST /posts/${mentioned}/comments`, { token: authors[0]!.token, body: { body: `@${me.user.username}` } }) // prettier-ignore
    const { id: commentId } = await site.db.selectFrom('comments').select('id').where('post_id', '=', mentioned).executeTakeFirstOrThrow() // prettier-ignore
    await site.db.insertInto('mentions').values({ textId: commentId, userId: me.user.userId, postId: mentioned, commentId, createdAt: '' }).execute() // prettier-ignore
    await site.http(`PUT /posts/${chosen}/follow`, { token })
    await site.http(`DELETE /posts/${left}/follow`, { token })
    const assertFollowed = async (expected: string[]) => {
      const { body: found } = await site.http('POST /posts/get', { token, body: { following: true, limit: 100 } })
      const { body: all } = await site.http('POST /posts/get', { token, body: { limit: 100 } })
      const each = await Promise.all((all.posts as Listed[]).map(async (post) => ({ post, is: (await site.http(`GET /posts/${post.postId}/follow`, { token })).body.following }))) // prettier-ignore
      expect(ids(found.posts)).toEqual(expected.toSorted())
      expect(ids(all.posts.filter((post: { is_followed?: true }) => post.is_followed))).toEqual(expected.toSorted())
      expect(ids(each.filter(({ is }) => is).map(({ post }) => post))).toEqual(expected.toSorted())
    }
    await assertFollowed([voted, commented, mentioned, chosen, written])
    await site.http('PATCH /notifications/settings', { token, body: { followsVoted: false, followsMentioned: false } })
    await assertFollowed([commented, chosen, written])
    await site.http('PATCH /notifications/settings', { token, body: { followsAuthored: false, followsCommented: false } }) // prettier-ignore
    await assertFollowed([chosen])
    expect((await site.http('POST /posts/get', { body: { following: true } })).body.code).toBe('INVALID_AUTH_HEADER')
  })

  it('for posts without a roadmap does not tell which are on a private one', async () => {
    const { site, reader } = await filled(engine)
    for (const token of [undefined, reader]) {
      const { status, body } = await site.http('POST /posts/get', { token, body: { roadmapIds: ['soon', 'none'] } })
      expect([status, body.code]).toEqual([403, 'NOT_ENOUGH_PERMISSION'])
      expect((await site.http('GET /posts/search/dark?roadmapIds=none', { token })).status).toBe(403)
    }
    const { body: unknown } = await site.http('POST /posts/get', { body: { roadmapIds: ['soon', 'nowhere'] } })
    expect(unknown.errors).toMatchObject([{ field: 'roadmapIds', value: 'nowhere' }])
    await site.db.updateTable('roadmaps').set({ url: 'none' }).where('url', '=', 'later').execute() // of an earlier version
    await site.db.updateTable('boards').set({ url: 'none' }).where('url', '=', 'bugs').execute()
    const { body: older } = await site.http('POST /posts/get', { body: { roadmapIds: ['none'], boardId: ['none'], limit: 100 } }) // prettier-ignore
    expect(ids(older.posts)).toEqual(ids(older.posts.filter((each: { board: { url: string }; roadmap: { url: string } }) => each.board.url === 'none' && each.roadmap.url === 'none'))) // prettier-ignore
    expect(older.total_count).toBeGreaterThan(0)
    const { roadmap } = await site.call(roadmaps.create, { name: 'None' })
    expect(roadmap.url).not.toBe('none')
    await expect(site.call(boards.create, { name: 'Any', url: 'none' })).rejects.toMatchObject({ code: 'BOARD_URL_EXISTS' }) // prettier-ignore
  })

  it('by kinds takes a private roadmap for open, where the caller may not see it', async () => {
    const { site, reader } = await filled(engine)
    await site.call(roadmaps.update, { id: 'soon', kind: 'done', display: false, partial: true })
    const team = (await site.member(['board:read', 'roadmap:read'])).token
    const count = async (body: object, token = reader) => (await site.http('POST /posts/get', { token, body })).body.total_count // prettier-ignore
    expect([await count({ statusKind: ['done'] }), await count({ statusKind: ['open'] })]).toEqual([0, 24])
    expect([await count({ query: 'is:done' }), await count({ query: 'is:open' })]).toEqual([0, 24])
    expect([await count({ statusKind: ['done'] }, team), await count({ statusKind: ['open'] }, team)]).toEqual([6, 18])
    for (const statusKind of [[], ['Done'], ['x'.repeat(10_000)], 'done', null])
      expect((await site.http('POST /posts/get', { body: { statusKind } })).body.code).toBe('VALIDATION_ERROR')
  })

  it('by trend has no post that is done or declined, unless a status, words, own posts or a view are asked for', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    for (const kind of ['planned', 'done', 'declined'] as const)
      await site.call(roadmaps.create, { name: kind, kind, display: kind !== 'declined' })
    const roadmapOf = [null, 'planned', 'done', 'declined']
    for (const roadmapId of roadmapOf) {
      const { body } = await site.http('POST /posts', { token, body: { title: `Wish ${roadmapId ?? 'open'}` } })
      await site.call(posts.update, { id: body.post.postId, partial: true, ...(roadmapId && { roadmapId }) })
    }
    await site.http('POST /views', { token, body: { name: 'Trend', sort: 'trending' } })
    const listed = async (asked: object) => {
      const { body } = await site.http('POST /posts/get', { token, body: { sort: 'trending', ...asked } })
      expect(body.total_count).toBe(body.posts.length)
      return body.posts.map(({ title }: Listed) => title.slice(5)).toSorted()
    }
    const all = ['declined', 'done', 'open', 'planned']
    for (const asked of [{}, { sort: 'TRENDING' }, { boardId: ['none'] }, { query: ' ' }, { mine: false }])
      expect([asked, await listed(asked)]).toEqual([asked, ['open', 'planned']])
    for (const [asked, titles] of [
      [{ statusKind: ['done'] }, ['done']],
      [{ statusKind: ['open', 'planned', 'active', 'done', 'declined'] }, all],
      [{ roadmapId: 'declined' }, ['declined']],
      [{ roadmapIds: ['done', 'none'] }, ['done', 'open']],
      [{ query: 'wish' }, all],
      [{ query: 'is:done' }, ['done']],
      [{ mine: true }, all],
      [{ voted: true }, all],
      [{ following: true }, all],
      [{ view: 'Trend' }, all],
      [{ sort: 'votes' }, all],
    ] as const)
      expect([asked, await listed(asked)]).toEqual([asked, titles])
    const visitors = (await site.http('POST /posts/get', { body: { sort: 'trending' } })).body.posts as Listed[]
    // A private roadmap is open to them: the list tells nothing of it
    expect(visitors.map(({ title }) => title.slice(5)).toSorted()).toEqual(['declined', 'open', 'planned'])
  })

  it('takes so many boards and roadmaps that one statement can merge their posts', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const [places, stages]: [string[], string[]] = [[], []]
    for (let number = 0; number < 11; number++) {
      places.push((await site.call(boards.create, { name: `Board ${number}`, display: true })).board.url)
      stages.push((await site.call(roadmaps.create, { name: `Stage ${number}`, display: true })).roadmap.url)
    }
    const list = async (body: object) => site.http('POST /posts/get', { body })
    for (const sort of SORTS) {
      const { status } = await list({ boardId: places.slice(1), roadmapIds: stages.slice(1), sort })
      expect([sort, status]).toEqual([sort, 200])
    }
    // A kind may have more of them: their posts are looked at one by one
    const post = async (number: number, roadmapId: string | null) => {
      const { postId } = (await site.call(posts.create, { title: `${number}`, boardId: places[number] ?? null })).post
      return (await site.call(posts.update, { id: postId, roadmapId, partial: true })).post.postId
    }
    const made = [await post(0, stages[0] ?? null), await post(10, stages[10] ?? null), await post(5, null)]
    await site.call(roadmaps.create, { name: 'Done', display: true })
    await post(6, 'done')
    for (const sort of SORTS) {
      const { status, body } = await list({ boardId: places, statusKind: ['open'], sort })
      expect([sort, status, body.total_count, ids(body.posts)]).toEqual([sort, 200, 3, made.toSorted()])
    }
    const { status, body } = await list({ boardId: places, roadmapIds: stages })
    expect([status, body.errors]).toMatchObject([400, [{ field: 'roadmapIds' }]])
  })

  it('means the same in a search, which takes no cursor of another', async () => {
    const { site, authors, reader } = await filled(engine)
    const search = async (path: string, token?: string) =>
      (await site.http(`GET /posts/search/${path}`, { token })).body
    const dark: Answer = await search('dark?limit=100')
    const light: Answer = await search('light')
    expect([dark.posts.length, light.posts.length]).toEqual([8, 8])
    const [inside, outside] = [dark.posts[4]!.postId, light.posts[4]!.postId]
    expect(((await search(`dark?after=${inside}`)) as Answer).posts).toEqual(dark.posts.slice(5))
    for (const path of [`dark?after=${outside}`, `!?after=${inside}`, `dark?boardId=bugs&after=${inside}`])
      expect((await search(path)).errors?.[0]?.code).toBe('INVALID_CURSOR')
    const secret: Answer = await search('export?boardId=plans', reader)
    expect(secret.posts.length).toBeGreaterThan(2)
    expect((await search(`export?after=${secret.posts[2]!.postId}`, authors[0]!.token)).errors?.[0]?.code).toBe('INVALID_CURSOR') // prettier-ignore
    expect((await search(`export?after=${newId()}`)).errors?.[0]?.code).toBe('INVALID_CURSOR')
  })
})

describe.each(engines)('a list of many posts on %s', (engine) => {
  /** Posts that have a word, the oldest first: more than a search looks at. The oldest is on a board. */
  async function many() {
    const site = await makeSite(engine)
    await site.owner()
    const { board } = await site.call(boards.create, { name: 'Ideas' })
    const post = (number: number) => ({
      postId: newId(),
      title: `Post ${number < 1000 ? 'small' : 'large'}`,
      slug: `post-${number}`,
      slugId: `${number}`.padStart(20, '0'),
      contentMarkdown: number === 0 ? 'oldest' : null,
      userId: null,
      boardId: number === 0 ? board.boardId : null,
      roadmap_id: null,
      createdAt: new Date(Date.UTC(2026, 0, 1, 0, 0, number)).toISOString(),
      updatedAt: '',
    })
    for (let from = 0; from < 5002; from += 500) {
      const numbers = Array.from({ length: Math.min(500, 5002 - from) }, (_, index) => from + index)
      await site.db.insertInto('posts').values(numbers.map(post)).execute()
    }
    await indexMissing(site.db)
    return site
  }

  it('says where it has only the newest 1,000, and a search where it looked at the newest 5,000', async () => {
    const site = await many()
    const list = async (body: object) => {
      const { body: answer } = await site.http('POST /posts/get', { body: { ...body, limit: 1 } })
      return [answer.total_count, answer.is_capped]
    }
    expect(await list({ query: 'post' })).toEqual([1000, true])
    expect(await list({ query: 'large', sort: 'votes', page: 1000 })).toEqual([1000, true])
    expect(await list({ query: 'small' })).toEqual([1000, undefined])
    expect(await list({ query: 'oldest post' })).toEqual([1, undefined])
    expect(await list({ query: 'post', boardId: ['ideas'] })).toEqual([0, true])
    expect(await list({ since: '2026-01-01', sort: 'votes' })).toEqual([1000, true])
    expect(await list({ since: '2026-01-01T00:00:00Z', until: '2026-01-01T00:16:40Z', sort: 'votes' })).toEqual([1000, undefined]) // prettier-ignore
    expect(await list({ since: '2026-01-01' })).toEqual([5002, undefined])
    expect(await list({ sort: 'votes' })).toEqual([5002, undefined])

    const search = async (path: string) => {
      const { body: answer } = await site.http(`GET /posts/search/${path}`)
      return [answer.posts.length, answer.has_next_page, answer.is_capped]
    }
    expect(await search('post?limit=100&page=49')).toEqual([100, true, undefined])
    expect(await search('post?limit=100&page=50')).toEqual([100, false, true])
    expect(await search('post?boardId=ideas')).toEqual([0, false, true])
    expect(await search('oldest%20post?boardId=ideas')).toEqual([1, false, undefined])
    expect(await search('small?limit=100&page=10')).toEqual([100, false, undefined])
    const [last] = (await site.http('GET /posts/search/post?page=5&limit=1')).body.posts as Listed[]
    expect(await search(`post?boardId=ideas&created=asc`)).toEqual([1, false, true])
    expect((await site.http(`GET /posts/search/post?after=${last!.postId}&limit=100`)).body.is_capped).toBe(undefined)

    const page = async (path: string) => (await site.http(`GET //board${path}`)).text
    const said = 'Only the newest matches are shown. Use more words to find older posts.'
    for (const path of ['/?q=post', '/?q=post&page=50', '/boards/ideas?q=post', '/search?q=post&page=10'])
      expect(await page(path)).toContain(said)
    for (const path of ['/', '/?q=small', '/search?q=oldest']) expect(await page(path)).not.toContain(said)
  })
})
