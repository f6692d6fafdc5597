import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import type { Permission } from '../../src/core/permissions.js'
import { indexMissing } from '../../src/db/searchindex.js'
import * as boards from '../../src/service/boards.js'
import type { PostFacets } from '../../src/service/postfacets.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import { engines, makeSite, type Engine, type TestSite } from '../support/site.js'

/** Eighteen posts: of three boards and none, one of them private; on two roadmaps and none, one of them private. */
async function filled(engine: Engine) {
  const site = await makeSite(engine)
  await site.owner()
  for (const name of ['Ideas', 'Bugs', 'Plans', 'Empty'])
    await site.call(boards.create, { name, display: name !== 'Plans' })
  for (const name of ['Soon', 'Secret']) await site.call(roadmaps.create, { name, display: name === 'Soon' })
  const author = await site.member()
  for (let number = 0; number < 18; number++) {
    site.clock.now = new Date(Date.UTC(2026, 2, 3, 10, number))
    const { body } = await site.http('POST /posts', {
      token: author.token,
      body: { title: `${number % 2 === 0 ? 'Dark' : 'Light'} ${number}`, boardId: ['ideas', 'bugs', null][number % 3] },
    })
    await site.call(posts.update, {
      id: body.post.postId,
      partial: true,
      ...(number % 6 === 5 && { boardId: 'plans' }),
      ...(number % 4 !== 0 && { roadmapId: ['soon', 'secret'][number % 2] }),
    })
  }
  return { site, author, reader: await site.member(['board:read', 'roadmap:read']) }
}

async function facetsOf(site: TestSite, token: string | undefined, filter: Record<string, string> = {}) {
  const { status, body } = await site.http(`GET /posts/facets?${new URLSearchParams(filter).toString()}`, { token })
  expect([filter, status]).toEqual([filter, 200])
  const { boards: ofBoards, roadmaps: ofRoadmaps } = body as PostFacets
  return {
    boards: Object.fromEntries(ofBoards.counts.map(({ board, posts: count }) => [board?.url ?? 'none', count])),
    roadmaps: Object.fromEntries(ofRoadmaps.counts.map(({ roadmap, posts: count }) => [roadmap?.url ?? 'none', count])),
    capped: [ofBoards.is_capped, ofRoadmaps.is_capped],
  }
}

/** The same counts, from the lists with each choice. */
async function counted(
  site: TestSite,
  token: string | undefined,
  filter: Record<string, string>,
  urls: { boards: string[]; roadmaps: string[] },
) {
  const count = async (more: object) =>
    (await site.http('POST /posts/get', { token, body: { ...bodyOf(filter), ...more, limit: 1 } })).body
      .total_count as number
  const all = async (names: string[], field: string) =>
    Object.fromEntries(await Promise.all(names.map(async (name) => [name, await count({ [field]: [name] })] as const)))
  return { boards: await all(urls.boards, 'boardId'), roadmaps: await all(urls.roadmaps, 'roadmapIds') }
}

const bodyOf = ({ boardId, roadmapIds, mine, voted, ...filter }: Record<string, string>) => ({
  ...filter,
  ...(boardId !== undefined && { boardId: boardId.split(',') }),
  ...(roadmapIds !== undefined && { roadmapIds: roadmapIds.split(',') }),
  ...(mine !== undefined && { mine: true }),
  ...(voted !== undefined && { voted: true }),
})

describe.each(engines)('facets of posts on %s', (engine) => {
  it('are what lists with each board and each roadmap count, whatever the other filters', async () => {
    const { site, author, reader } = await filled(engine)
    const filters: Record<string, string>[] = [
      {},
      { boardId: 'ideas' },
      { boardId: 'ideas,none', roadmapIds: 'soon' },
      { roadmapIds: 'soon' },
      { query: 'dark' },
      { query: 'dark', boardId: 'bugs' },
      { query: '!' },
      { authorId: author.userId, roadmapIds: 'soon' },
      { since: '2026-03-03T10:05:00Z', until: '2026-03-03T10:15:00Z', boardId: 'ideas,bugs' },
      { mine: 'true' },
      { voted: 'true', query: 'light' },
    ]
    for (const token of [author.token, reader.token])
      for (const filter of filters) {
        const found = await facetsOf(site, token, filter)
        const isReader = token === reader.token
        const [places, stages] = [['ideas', 'bugs', 'none', ...(isReader ? ['plans'] : [])], ['soon', ...(isReader ? ['secret', 'none'] : [])]] // prettier-ignore
        const lists = await counted(site, token, filter, { boards: places, roadmaps: stages })
        const ofBoards = Object.entries(lists.boards).filter(([url, count]) => count > 0 || url === 'none' || (filter.boardId ?? '').split(',').includes(url)) // prettier-ignore
        expect([filter, found]).toEqual([filter, { boards: Object.fromEntries(ofBoards), roadmaps: lists.roadmaps, capped: [undefined, undefined] }]) // prettier-ignore
      }
  })

  it('name no private board and no private roadmap to others, nor how many posts have none', async () => {
    const { site } = await filled(engine)
    const asked = async (permissions: Permission[] | undefined) =>
      site.http('GET /posts/facets', { token: permissions && (await site.member(permissions)).token })
    for (const permissions of [undefined, [], ['board:read'], ['roadmap:read']] as const) {
      const { text, body } = await asked(permissions && [...permissions])
      expect([permissions, text.includes('"Plans"')]).toEqual([permissions, permissions?.[0] === 'board:read'])
      expect([permissions, text.includes('"Secret"')]).toEqual([permissions, permissions?.[0] === 'roadmap:read'])
      const none = (body as PostFacets).roadmaps.counts.some(({ roadmap }) => roadmap === null)
      expect([permissions, none]).toEqual([permissions, permissions?.[0] === 'roadmap:read'])
    }
    for (const [filter, code] of [
      ['boardId=plans', 'VALIDATION_ERROR'],
      ['roadmapIds=secret', 'VALIDATION_ERROR'],
      ['roadmapIds=none', 'NOT_ENOUGH_PERMISSION'],
      ['mine=true', 'INVALID_AUTH_HEADER'],
      ['voted=true', 'INVALID_AUTH_HEADER'],
    ])
      // prettier-ignore
      expect([filter, (await site.http(`GET /posts/facets?${filter}`)).body.code]).toEqual([filter, code])
  })

  it('follow each change, and say of 1,000 posts without kept counts that there are at least so many', async () => {
    const { site, author } = await filled(engine)
    const { boards: before } = await facetsOf(site, author.token)
    await site.http('POST /posts', { token: author.token, body: { title: 'Dark', boardId: 'bugs' } })
    const { boards: after } = await facetsOf(site, author.token)
    expect([after.bugs, after.empty]).toEqual([before.bugs! + 1, undefined])
    const { boardId } = await site.db.selectFrom('boards').select('boardId').where('url', '=', 'empty').executeTakeFirstOrThrow() // prettier-ignore
    const rows = Array.from({ length: 1001 }, (_, number) => ({
      postId: newId(),
      title: 'Many',
      slug: `many-${number}`,
      slugId: `${number}`.padStart(20, '0'),
      contentMarkdown: null,
      userId: null,
      boardId,
      roadmap_id: null,
      createdAt: new Date(Date.UTC(2026, 5, 1, 0, 0, number)).toISOString(),
      updatedAt: '',
    }))
    for (const from of [0, 500, 1000])
      await site.db
        .insertInto('posts')
        .values(rows.slice(from, from + 500))
        .execute()
    await indexMissing(site.db)
    expect(await facetsOf(site, author.token)).toMatchObject({
      boards: { empty: 1001 },
      capped: [undefined, undefined],
    })
    expect(await facetsOf(site, author.token, { query: 'many' })).toMatchObject({
      boards: { empty: 1001 },
      capped: [true, true],
    })
    expect(await facetsOf(site, author.token, { since: '2026-01-01' })).toMatchObject({
      boards: { empty: 1001 },
      capped: [true, true],
    })
    expect(await facetsOf(site, author.token, { query: 'dark' })).toMatchObject({ capped: [undefined, undefined] })
  })
})
