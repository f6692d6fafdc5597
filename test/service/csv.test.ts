import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { indexMissing } from '../../src/db/searchindex.js'
import * as boards from '../../src/service/boards.js'
import { everyPage } from '../../src/service/lib/everypage.js'
import * as posts from '../../src/service/posts.js'
import { engines, makeSite, type Engine } from '../support/site.js'

async function withPosts(engine: Engine, count: number) {
  const site = await makeSite(engine)
  const owner = await site.owner()
  await site.call(boards.create, { name: 'Ideas' })
  const { userId } = await site.db.selectFrom('users').select('userId').executeTakeFirstOrThrow()
  const createdAt = site.clock.now.toISOString()
  const rows = Array.from({ length: count }, (_, at) => ({ postId: newId(), title: `Title ${at}`, slug: `s${at}`, slugId: `s${at}`, contentMarkdown: null, userId, boardId: null, roadmap_id: null, createdAt, updatedAt: createdAt })) // prettier-ignore
  for (let at = 0; at < rows.length; at += 500) await site.db.insertInto('posts').values(rows.slice(at, at + 500)).execute() // prettier-ignore
  return { site, owner, rows }
}

const titlesIn = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).title)

describe.each(engines)('a list to download on %s', (engine) => {
  it('is every page of the list, with its filters, its order and its access', async () => {
    const { site, owner } = await withPosts(engine, 120)
    await site.call(boards.create, { name: 'Secret', display: false })
    await site.call(posts.create, { title: 'Hidden', boardId: 'secret' })
    await site.call(posts.create, { title: 'Shown', boardId: 'ideas' })
    const get = (query: string, token?: string) => site.http(`GET /export/posts?${query}`, { token })
    const lines = await get('format=jsonl&sort=oldest')
    expect(lines.headers).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': 'attachment; filename="posts.jsonl"',
      'cache-control': 'no-store',
    })
    expect(titlesIn(lines.text)).toEqual([...Array.from({ length: 120 }, (_, at) => `Title ${at}`), 'Shown'])
    expect(titlesIn((await get('format=jsonl', owner)).text)).toHaveLength(122)
    expect(titlesIn((await get('format=jsonl&boardId=ideas')).text)).toEqual(['Shown'])
    const [head, row, end] = (await get('boardId=ideas')).text.split('\n')
    expect(head).toBe(
      'number,title,board.name,voters.votesCount,commentsCount,roadmap.name,author,createdAt,slug,postId,marks,tags',
    )
    expect([row, end]).toEqual([expect.stringMatching(/^122,Shown,Ideas,1,0,,Ada,/), ''])
    for (const [query, field] of [
      ['boardId=secret', 'boardId'],
      ['format=xml', 'format'],
      ['limit=5', 'limit'],
      ['after=x', 'after'],
    ] as const) {
      const { status, body, headers } = await get(query)
      expect([query, status, body.errors[0].field]).toEqual([query, 400, field])
      expect(headers['content-disposition']).toBeUndefined()
    }
    for (const sort of ['votes', 'trending', 'discussed'])
      expect((await get(`sort=${sort}`)).body.errors).toMatchObject([{ field: 'sort' }])
    expect((await get('mine=true')).body.code).toBe('INVALID_AUTH_HEADER')
    expect((await site.http('GET /export/comments')).status).toBe(400)
  })

  it('says in its name that the list ends before all that match', async () => {
    const { site } = await withPosts(engine, 1001)
    await indexMissing(site.db)
    const named = async (query: string) =>
      (await site.http(`GET /export/posts?${query}`)).headers['content-disposition']
    expect(await named('query=title')).toBe('attachment; filename="posts-not-all.csv"')
    expect(await named('')).toBe('attachment; filename="posts.csv"')
  })

  it('goes on where a post is deleted meanwhile', async () => {
    const { site, rows } = await withPosts(engine, 120)
    const read: string[] = []
    const pages = everyPage({
      limit: 50,
      read: async (page) => site.call(posts.list, { ...page, sort: 'oldest' }),
      rowsOf: (answer) => answer.posts,
      infoOf: (answer) => answer.page_info,
    })
    for await (const { rows: some } of pages) {
      read.push(...some.map(({ postId }) => postId))
      const last = some.at(-1)?.postId ?? ''
      await site.db.deleteFrom('posts').where('postId', '=', last).execute()
    }
    expect(read).toEqual(rows.map(({ postId }) => postId))
  })
})
