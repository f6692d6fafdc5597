import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { SORTS } from '../../src/db/posts/order.js'
import * as boards from '../../src/service/boards.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
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
    await site.call(posts.update, {
      id: body.post.postId,
      partial: true,
      ...(number % 6 === 5 && { boardId: 'plans' }),
      ...(number % 4 !== 0 && { roadmapId: ['soon', 'later'][number % 2] }),
    })
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
    const filters: [object, (number: number) => boolean][] = [
      [{ boardId: ['ideas'] }, (n) => n % 3 === 0],
      [{ boardId: ['ideas', 'bugs'] }, (n) => n % 3 !== 2 && n % 6 !== 5],
      [{ roadmapId: 'soon' }, (n) => n % 4 === 2],
      [{ authorId: authors[0]!.userId }, (n) => n % 2 === 0],
      [{ since: '2026-03-03T10:10:00Z', until: '2026-03-03T10:22:00Z' }, (n) => n >= 10 && n < 22],
      [{ query: 'dark' }, (n) => n % 3 === 0],
      [{ query: 'dark', roadmapId: 'later', since: '2026-03-03T10:10:00Z' }, (n) => n % 3 === 0 && n % 4 !== 0 && n % 2 === 1 && n >= 10], // prettier-ignore
      [{ query: '!' }, () => false],
      [{ mine: true, authorId: authors[0]!.userId }, () => false],
    ]
    for (const token of [authors[1]!.token, reader]) {
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
