import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import * as boards from '../../src/service/boards.js'
import * as merges from '../../src/service/merges.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import { engines, makeSite } from '../support/site.js'

interface Cluster {
  into: { title: string }
  posts: { title: string; score: number; words: string[]; is_apart?: true }[]
}

describe.each(engines)('clusters of posts on %s', (engine) => {
  it('are of open posts that can be merged, and of those that may be read', async () => {
    const site = await makeSite(engine)
    await site.owner()
    await site.call(boards.create, { name: 'Secret', display: false })
    await site.call(boards.create, { name: 'Quiet', view_voters: false })
    for (const [name, kind] of [
      ['Done', 'done'],
      ['Next', 'planned'],
    ] as const)
      // prettier-ignore
      await site.call(roadmaps.create, { name, kind, display: true })
    const create = (title: string, more = {}) => site.call(posts.create, { title, ...more })
    await create('Keyboard shortcuts')
    await create('Keyboard shortcut')
    await create('Shortcuts of the keyboard')
    for (const [id, roadmapId] of [['2', 'next'], ['3', 'done']]) await site.call(posts.update, { id, roadmapId, partial: true }) // prettier-ignore
    await create('Keyboard shortcuts', { boardId: 'quiet' })
    await create('Keyboard shortcuts', { boardId: 'secret' })
    await create('Shortcuts for the keyboard', { boardId: 'secret' })
    const found = async (token?: string) => {
      const { body } = await site.http('GET /posts/duplicates', { token })
      return (body.clusters as Cluster[]).map(({ into, posts: alike }) => [into.title, ...alike.map(({ title, is_apart: isApart }) => (isApart ? `${title} (apart)` : title))]) // prettier-ignore
    }
    const editor = await site.member(['post:update'])
    expect(await found(editor.token)).toEqual([['Keyboard shortcut', 'Keyboard shortcuts']])
    const reader = await site.member(['post:update', 'board:read'])
    expect(await found(reader.token)).toEqual([
      ['Keyboard shortcut', 'Keyboard shortcuts', 'Keyboard shortcuts (apart)', 'Shortcuts for the keyboard (apart)'],
      ['Keyboard shortcuts', 'Shortcuts for the keyboard', 'Keyboard shortcuts (apart)'], // that of Quiet
    ])
    await create('Rainbow unicorns', { boardId: 'secret' })
    await create('Rainbow unicorn')
    expect((await found(reader.token)).filter(([title]) => title?.startsWith('Rainbow'))).toEqual([['Rainbow unicorns', 'Rainbow unicorn (apart)']]) // prettier-ignore
    await site.http('DELETE /posts', { token: (await site.member(['post:destroy', 'board:read'])).token, body: { id: '7' } }) // prettier-ignore
    expect(await found(editor.token)).toEqual([['Keyboard shortcut', 'Keyboard shortcuts']])
    expect((await site.http('GET /posts/duplicates', { token: (await site.member()).token })).status).toBe(403)
    expect((await site.http('GET /posts/duplicates?limit=501', { token: editor.token })).status).toBe(400)
    const { post } = await create('Keyboard shortcuts by name')
    await site.call(merges.merge, { ids: [post.postId], into: '2' })
    expect(await found(editor.token)).toEqual([['Keyboard shortcut', 'Keyboard shortcuts']])
  })

  it('are found in any language, by words that say something', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const pairs = [
      ['Please add an option to print', 'Please add an option to sort'],
      ['ダークモードが欲しい', 'ダークモードに対応してほしい'],
      ['Dunkler Modus für die App', 'Bitte den dunklen Modus in der App'],
      ['Modo oscuro', 'MODO OSCURO!!'],
      ['다크 모드 지원', '다크 모드를 지원해 주세요'],
      ['Search', 'Search'],
      ['🎉', '🎉'],
      ['Import', 'Import from Trello boards and lists'],
    ] as const
    for (const titles of pairs) for (const title of titles) await site.call(posts.create, { title })
    const { clusters } = (await site.http('GET /posts/duplicates?all=true', { token })).body
    const listed = (clusters as Cluster[]).map(({ into, posts: alike }) => `${into.title}: ${alike.map(({ words }) => words.join(' ')).join('; ')}`).toSorted() // prettier-ignore
    expect(listed).toEqual([
      'Dunkler Modus für die App: dunklen modus app',
      'Modo oscuro: modo oscuro',
      'Search: search',
      'ダークモードが欲しい: ダークモード',
      '다크 모드 지원: 다크 모드 지원',
    ])
  })

  it('are complete for many posts with one title, and bounded', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const rows = Array.from({ length: 260 }, () => JSON.stringify({ title: 'Dark mode' }))
    const { text } = await site.http('POST /import/posts', { token, body: rows.join('\n'), headers: { 'content-type': 'application/x-ndjson' } }) // prettier-ignore
    expect(text).toContain('"created":260')
    const read = async () => (await site.http('GET /posts/duplicates', { token })).body
    const sizes = ({ clusters }: { clusters: Cluster[] }) => clusters.map(({ posts: alike }) => alike.length)
    const few = await read()
    expect([few.compared, sizes(few), few.is_capped]).toEqual([260, [100, 100, 57], undefined])
    const newer = Array.from({ length: 2000 - 259 }, (_, number) => ({ postId: newId(), title: `Newer ${number}`, slug: `newer-${number}`, slugId: newId(), contentMarkdown: null, userId: null, boardId: null, roadmap_id: null, createdAt: '2099-01-01T00:00:00.000Z', updatedAt: '2099-01-01T00:00:00.000Z' })) // prettier-ignore
    for (let at = 0; at < newer.length; at += 250) await site.db.insertInto('posts').values(newer.slice(at, at + 250)).execute() // prettier-ignore
    const many = await read()
    expect([many.compared, sizes(many), many.is_capped]).toEqual([2000, [100, 100, 56], true])
    const all = (await site.http('GET /posts/duplicates?all=true', { token })).body
    expect([all.compared, sizes(all), all.is_capped]).toEqual([2001, [100, 100, 57], undefined])
  })
})
