import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { parseQuery } from '../../src/core/search/grammar.js'
import { migrations } from '../../src/db/migrations/index.js'
import { tokensOf, writeWords } from '../../src/db/search.js'
import { dropLeftovers, leftovers, misindexed } from '../../src/db/searchcheck.js'
import { backfill, indexMissing, pendingKinds, unindexed } from '../../src/db/searchindex.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as merges from '../../src/service/merges.js'
import * as posts from '../../src/service/posts.js'
import * as posttags from '../../src/service/posttags.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as tags from '../../src/service/tags.js'
import { assertProperty } from '../support/properties.js'
import { engines, makeSite, type Engine } from '../support/site.js'

interface Hit {
  post: { title: string; number: number }
  found_in: string
  match: string
  title_marks: { from: number; to: number }[]
  excerpt: string
  excerpt_marks: { from: number; to: number }[]
  comment?: { id: string; author: { username: string } }
}

async function filled(engine: Engine) {
  const site = await makeSite(engine)
  await site.owner()
  for (const name of ['Ideas', 'Secret']) await site.call(boards.create, { name, display: name === 'Ideas' })
  for (const name of ['Planned', 'Shipped']) await site.call(roadmaps.create, { name, display: true })
  const write = async (title: string, contentMarkdown = '', more: object = {}) =>
    (await site.call(posts.create, { title, contentMarkdown, ...more })).post
  const look = async (query: string, token?: string, more = '') => {
    const { body, status } = await site.http(`GET /search?query=${encodeURIComponent(query)}${more}`, { token })
    expect([query, status]).toEqual([query, 200])
    return body as { hits: Hit[]; unknown: string[]; is_capped?: boolean; page_info: { has_next_page: boolean; end_cursor: string | null } } // prettier-ignore
  }
  const titles = async (query: string, token?: string) => (await look(query, token)).hits.map(({ post }) => post.title)
  return { site, write, look, titles }
}

describe.each(engines)('a search on %s', (engine) => {
  it('finds posts by filters alone, whatever table has what they ask for', async () => {
    const { site, write, titles, look } = await filled(engine)
    const tagged = await write('Tagged')
    await write('Plain')
    for (const name of ['Web', 'Phone']) await site.call(tags.create, { name })
    await site.call(posttags.tag, { ids: [tagged.postId], add: ['web'] })
    const eve = await site.member()
    await site.http('POST /votes', { token: eve.token, body: { postId: tagged.postId } })
    expect([await titles('tag:web'), await titles('tag:phone'), await titles('tag:web tag:phone')]).toEqual([['Tagged'], [], []]) // prettier-ignore
    for (const filter of ['voted=true', 'following=true', 'tags=web', 'allTags=web']) {
      const { hits } = await look('is:open', eve.token, `&${filter}`)
      expect([filter, hits.map(({ post }) => post.title)]).toEqual([filter, ['Tagged']])
    }
  })

  it('finds titles before texts before comments, and phrases before words, and marks them', async () => {
    const { site, write, look, titles } = await filled(engine)
    const inComment = await write('Colours')
    await site.call(comments.create, { post_id: inComment.postId, body: 'A **dark mode** would help my eyes.' })
    await write('Appearance', 'In the evening a dark, quiet mode.')
    await write('Themes', `${'Something else first. '.repeat(30)}\n\nI want a dark mode at night.`)
    await write('Mode that is dark')
    await write('Dark mode')
    await write('Light mode')
    await write('Export')
    expect(await titles('dark mode')).toEqual([
      'Dark mode',
      'Mode that is dark',
      'Themes',
      'Appearance',
      'Colours',
      'Light mode',
    ])
    const { hits } = await look('dark mode')
    expect(hits.map(({ found_in: place, match }) => `${place} ${match}`)).toEqual([
      'title phrase',
      'title all',
      'text phrase',
      'text all',
      'comment phrase',
      'title some',
    ])
    expect(hits[0]?.title_marks).toEqual([
      { from: 0, to: 4 },
      { from: 5, to: 9 },
    ])
    for (const { excerpt, excerpt_marks: marks } of hits.slice(2, 5))
      expect(marks.map(({ from, to }) => excerpt.slice(from, to))).toEqual(['dark', 'mode'])
    expect(hits[2]?.excerpt).toMatch(/^….*I want a dark mode at night\.$/)
    expect(hits[4]).toMatchObject({ comment: { author: { username: expect.any(String) } }, excerpt: 'A dark mode would help my eyes.' }) // prettier-ignore
    expect(await titles('"dark mode"')).toEqual(['Dark mode', 'Themes', 'Colours'])
    expect(await titles('dark -night')).toEqual(['Dark mode', 'Mode that is dark', 'Appearance', 'Colours'])
    for (const post of await titles('mode')) expect(['Export']).not.toContain(post)
    const [first] = (await look('dark mode', undefined, '&limit=1')).hits
    const second = await look('dark mode', undefined, '&limit=2&page=2')
    expect([first?.post.title, ...second.hits.map(({ post }) => post.title)]).toEqual(['Dark mode', 'Themes', 'Appearance']) // prettier-ignore
    const after = await look('dark mode', undefined, `&limit=2&after=${second.page_info.end_cursor}`)
    expect([after.hits.map(({ post }) => post.title), after.page_info.has_next_page]).toEqual([['Colours', 'Light mode'], false]) // prettier-ignore
  })

  it('is limited by what its query says, and never refused', async () => {
    const { site, write, look, titles } = await filled(engine)
    site.clock.now = new Date('2026-03-01T10:00:00Z')
    const old = await write('Old export', '', { boardId: 'ideas' })
    site.clock.now = new Date('2026-04-01T10:00:00Z')
    const shipped = await write('Shipped export')
    await site.call(posts.update, { id: shipped.postId, roadmapId: 'shipped', partial: true })
    const eve = await site.member()
    await site.http('POST /posts', { token: eve.token, body: { title: 'Export of Eve' } })
    await site.http('POST /votes', { token: eve.token, body: { postId: old.postId } })
    const all = (await titles('export')).toSorted()
    expect(all).toEqual(['Export of Eve', 'Old export', 'Shipped export'])
    for (const [query, found] of [
      ['export board:ideas', ['Old export']],
      ['export board:Ideas', ['Old export']],
      ['export board:none -eve', ['Shipped export']],
      ['export status:shipped', ['Shipped export']],
      ['is:open export -eve', ['Old export']],
      ['export is:done', ['Shipped export']],
      ['export is:DONE is:declined', ['Shipped export']],
      ['export is:declined', []],
      ['export votes:>1', ['Old export']],
      ['votes:2..5', ['Old export']],
      ['export votes:1', ['Export of Eve', 'Shipped export']],
      ['export before:2026-03-02', ['Old export']],
      ['after:2026-04 status:shipped', ['Shipped export']],
      [`#${old.number}`, ['Old export']],
      [`#${old.number} shipped`, []],
      ['nothing votes:many', []],
      ['export tag:ui', []],
      ['export board:nowhere', []],
      ['export author:nobody', []],
      ['export is:mine', []],
      ['export votes:many', all],
    ] as const)
      expect([query, (await titles(query)).toSorted()]).toEqual([query, found])
    expect(await titles('export is:mine', eve.token)).toEqual(['Export of Eve'])
    expect((await look('export board:nowhere tag:x status:y')).unknown).toEqual(['board:nowhere', 'status:y', 'tag:x'])
    for (const query of [
      '',
      ' ',
      '"',
      '-',
      '-x',
      '""',
      ':',
      'board:',
      '#0',
      '"'.repeat(400),
      "'; drop",
      'a AND',
      '* ^ {}',
      '\ud83d'.toWellFormed(),
      'é'.repeat(500),
    ])
      // prettier-ignore
      await look(query)
  })

  it('knows names of before and after a change, and what a minus stands before', async () => {
    const { site, write, look, titles } = await filled(engine)
    const planned = await write('Export', '', { boardId: 'ideas' })
    await site.call(posts.update, { id: planned.postId, roadmapId: 'planned', partial: true })
    await write('Export elsewhere')
    await site.call(tags.create, { name: 'Phone' })
    await site.call(posttags.tag, { ids: ['1'], add: ['phone'] })
    await site.call(boards.update, { boardId: 'ideas', name: 'Köpfe und Ideen', partial: true })
    await site.call(roadmaps.update, { id: 'planned', name: 'Next up', partial: true })
    await site.call(tags.update, { tagId: 'phone', name: 'Mobile app', partial: true })
    for (const query of [
      'board:ideas',
      'board:"köpfe UND ideen"',
      'status:planned',
      'status:"next up"',
      'tag:phone',
      'tag:"Mobile app"',
    ])
      // prettier-ignore
      expect([query, await titles(`export ${query}`)]).toEqual([query, ['Export']])
    await site.call(boards.update, { boardId: 'secret', name: 'Vault', partial: true })
    for (const query of ['board:secret', 'board:vault'])
      expect(await look(`export ${query}`)).toMatchObject({ hits: [], unknown: [query] })
    expect(await titles('export -tag:phone')).toEqual(['Export elsewhere'])
    expect(await titles('-tag:"mobile app"')).toEqual(['Export elsewhere'])
    for (const query of ['-board:ideas', '-is:open', '-votes:>1', '-#1', '-tag:nothing']) {
      expect(await look(`export ${query}`)).toMatchObject({ hits: [], unknown: [query] })
      expect((await site.http('POST /posts/get', { body: { query } })).body.posts).toEqual([])
    }
    for (const query of ['%', '(((', '\u{1f389}', '"', '- -', '\\'])
      expect([query, await titles(query)]).toEqual([query, []])
  })

  it('looks at the post of a comment, and at what was merged into a post', async () => {
    const { site, write, titles } = await filled(engine)
    const farm = await write('Animals', 'A vicuna')
    await site.call(comments.create, { post_id: farm.postId, body: 'My alpaca' })
    expect([await titles('alpaca'), await titles('alpaca -vicuna'), await titles('alpaca -llama')]).toEqual([['Animals'], [], ['Animals']]) // prettier-ignore
    const stays = await write('Dark mode')
    const other = await write('Night theme for the editor', 'It hurts my eyes')
    await site.call(merges.merge, { ids: [other.postId], into: stays.postId })
    for (const query of ['night theme', '"night theme"', '"my eyes" night', '"dark mode" "night theme"'])
      expect([query, await titles(query)]).toEqual([query, ['Dark mode']])
    for (let number = 0; number < 30; number++) await site.call(comments.create, { post_id: stays.postId, body: `${number} eyes, my own` }) // prettier-ignore
    const before = site.statements.length
    expect(await titles('"my eyes"')).toEqual(['Dark mode'])
    const read = site.statements.slice(before).filter((statement) => statement.includes('substr(posts."contentMarkdown", 1, 2000)')) // prettier-ignore
    // What was merged into the post is read once for each place, not once for each comment
    expect([1, 2, 3]).toContain(read.length)
    for (const each of read) expect(each.split('from merges')).toHaveLength(2)
    for (const query of [
      '"theme night"',
      '"night theme" -eyes',
      '"night theme" -dark',
      'dark -"night theme"',
      'dark -editor',
      '"my eyes" -"night theme"',
      '"my own" -editor',
      '-"night theme" -alpaca -animals',
    ])
      expect([query, await titles(query)]).toEqual([query, []])
    for (const query of ['dark -"theme night"', 'dark -"my own"', 'night -"my theme"'])
      expect([query, await titles(query)]).toEqual([query, ['Dark mode']])
    const listed = (await site.http('POST /posts/get', { body: { query: '"night theme"' } })).body.posts as { title: string }[] // prettier-ignore
    expect(listed.map(({ title }) => title)).toEqual(['Dark mode'])
    for (const query of ['dark -"night theme"', 'dark -editor'])
      expect([query, (await site.http('POST /posts/get', { body: { query } })).body.posts]).toEqual([query, []])
  })

  it('excludes a phrase by what was merged in public alone', async () => {
    const { site, write, titles } = await filled(engine)
    await site.call(boards.create, { name: 'Vault', display: true })
    const stays = await write('Dark rooms')
    await site.call(merges.merge, { ids: [(await write('A lucky cat', '', { boardId: 'vault' })).postId], into: stays.postId }) // prettier-ignore
    expect(await titles('dark -"lucky cat"')).toEqual([])
    const editor = await site.member(['board:read', 'post:update'])
    await site.call(boards.update, { boardId: 'vault', display: false, partial: true })
    for (const token of [undefined, editor.token]) expect(await titles('dark -"lucky cat"', token)).toEqual(['Dark rooms']) // prettier-ignore
    await site.call(boards.update, { boardId: 'vault', display: true, partial: true })
    expect(await titles('dark -"lucky cat"')).toEqual([])
    await sql`update merges set "wasHeld" = 1`.execute(site.db)
    expect(await titles('dark -"lucky cat"')).toEqual(['Dark rooms'])
  })

  it('excludes and finds words of several merged posts, with ss for ß too, in a few statements', async () => {
    const { site, write, titles } = await filled(engine)
    for (const number of [1, 2, 3]) {
      const stays = await write(`Night ${number}`)
      await site.call(merges.merge, { ids: [(await write(`Straße sperren ${number}`)).postId], into: stays.postId })
    }
    await write('Night 4')
    expect(await titles('night "straße sperren"')).toHaveLength(3)
    for (const query of ['night -straße', 'night -strasse', 'night -"strasse sperren"', 'night -"straße sperren"'])
      expect([query, await titles(query)]).toEqual([query, ['Night 4']])
    for (let number = 0; number < 30; number++) await write(`${['Apple', 'Berry'][number % 2]} ${number}`)
    const [before] = [site.statements.length, await titles('apple berry night -strasse')]
    expect(site.statements.length - before).toBeLessThan(20)
  })

  it('corrects a word where others of the same query are found, and finds one syllable of Korean', async () => {
    const { write, look, titles } = await filled(engine)
    for (let number = 0; number < 11; number++) await write(`Dark corner ${number}`)
    await write('Rhinoceros in the dark')
    await write('검색결과를 정렬')
    const { hits } = await look('dark rhinocerso')
    expect([hits[0]?.post.title, hits[0]?.match, hits[1]?.match]).toEqual(['Rhinoceros in the dark', 'near', 'some'])
    expect((await titles('dark corner 3'))[0]).toBe('Dark corner 3')
    for (const query of ['검', '검색', '결과'])
      expect([query, await titles(query)]).toEqual([query, ['검색결과를 정렬']])
  })

  it('finds parts of words last, and shows nobody words of what they may not read', async () => {
    const { site, write, look, titles } = await filled(engine)
    const member = await site.member()
    const hidden = await write('Reportage of the team', '', { boardId: 'secret' })
    await write('Export of all')
    await write('Something', 'It exports nothing, and it has a reportage')
    await write('Port of a ship')
    const { hits } = await look('port', member.token)
    expect(hits.map(({ post, match, found_in: place }) => `${post.title}: ${match} ${place}`)).toEqual([
      'Port of a ship: phrase title',
      'Export of all: inside title',
      'Something: inside text',
    ])
    expect(hits[1]?.title_marks).toEqual([{ from: 0, to: 6 }])
    for (const query of ['xport', 'XPOR', 'xpor of', 'xpor -ship'])
      expect([query, await titles(query, member.token)]).toEqual([query, expect.arrayContaining(['Export of all'])])
    for (const query of ['por', 'xpo', '"xpor"', 'xpor -export', 'xpor board:ideas'])
      expect([query, await titles(query)]).toEqual([query, expect.not.arrayContaining(['Export of all'])])
    expect(await titles('portage', member.token)).toEqual([])
    expect(await titles('portage', (await site.member(['board:read'])).token)).toEqual([hidden.title, 'Something'])
    for (let number = 0; number < 10; number++) await write(`Portable ${number}`)
    expect(await titles('port', member.token)).not.toContain('Export of all')
    const loud = await write('Louder', '', { boardId: 'ideas' })
    expect(await titles('oude')).toEqual(['Louder'])
    await site.http('DELETE /posts', { token: (await site.member(['post:destroy'])).token, body: { id: loud.postId } })
    expect(await titles('oude')).toEqual([])
  })

  it('shows nobody what they may not read', async () => {
    const { site, write, titles } = await filled(engine)
    const member = await site.member()
    await write('Zebra of the team', '', { boardId: 'secret' })
    const post = await write('Animals')
    await site.call(comments.create, { post_id: post.postId, body: 'A zebra, internally.', is_internal: true })
    const { activity } = await site.call(comments.create, { post_id: post.postId, body: 'A giraffe.' })
    expect(await titles('zebra', member.token)).toEqual([])
    expect(await titles('zebra', (await site.member(['board:read'])).token)).toEqual(['Zebra of the team'])
    expect(await titles('zebra', (await site.member(['comment:view_internal'])).token)).toEqual(['Animals'])
    expect(await titles('giraffe')).toEqual(['Animals'])
    await site.call(comments.update, { post_id: post.postId, comment_id: activity.id, is_spam: true, partial: true })
    expect(await titles('giraffe')).toEqual([])
    expect(await titles('giraffe', (await site.member(['comment:update:any'])).token)).toEqual(['Animals'])
  })

  it('follows every change, and doctor names what another program wrote', async () => {
    const { site, write, titles } = await filled(engine)
    const post = await write('Quokka', 'wombat')
    const { activity } = await site.call(comments.create, { post_id: post.postId, body: 'A numbat.' })
    await site.call(comments.update, { post_id: post.postId, comment_id: activity.id, body: 'A bilby.' })
    await site.call(posts.update, { id: post.postId, contentMarkdown: 'dingo', partial: true })
    const found = async (...words: string[]) => Promise.all(words.map(async (word) => (await titles(word)).length))
    expect(await found('quokka', 'wombat', 'dingo', 'numbat', 'bilby')).toEqual([1, 0, 1, 0, 1])
    await sql`update comments set body = 'An emu.'`.execute(site.db)
    await sql`update posts set title = 'Echidna'`.execute(site.db)
    expect(await found('quokka', 'bilby', 'echidna', 'emu')).toEqual([0, 0, 0, 0])
    expect([await unindexed(site.db, 'posts'), await unindexed(site.db, 'comments')]).toEqual([1, 1])
    await indexMissing(site.db)
    expect(await found('echidna', 'emu')).toEqual([1, 1])
    await site.call(comments.remove, { post_id: post.postId, comment_id: activity.id })
    expect(await found('emu')).toEqual([0])
    await site.call(comments.create, { post_id: post.postId, body: 'An emu.' })
    await sql`delete from comment_search`.execute(site.db)
    await (engine === 'sqlite' ? sql`update comments set number = null` : sql`delete from indexed_comments`).execute(
      site.db,
    )
    await sql`delete from post_search`.execute(site.db)
    await sql`insert into search_refill (kind, "after") values ('posts', ''), ('comments', '')`.execute(site.db)
    await backfill(site.db)
    expect(await found('echidna', 'emu')).toEqual([1, 1])
    await site.call(posts.remove, { id: post.postId })
    expect(await found('echidna', 'emu')).toEqual([0, 0])
    expect(await sql`select 1 from indexed_comments`.execute(site.db)).toMatchObject({ rows: [] })
  })

  it('is compared with the texts, and mended where it has other words or what is gone', async () => {
    const { site, write, titles } = await filled(engine)
    const stays = await write('Quokka', 'It is a wombat, and so is what it was with')
    await site.call(merges.merge, { ids: [(await write('Night theme')).postId, (await write('Dingo 검색결과')).postId], into: stays.postId }) // prettier-ignore
    const other = await write('Echidna')
    const { activity } = await site.call(comments.create, { post_id: other.postId, body: 'A numbat. It isn’t here' })
    const wrong = async () => [
      await misindexed(site.db, 'posts'),
      await misindexed(site.db, 'comments'),
      await leftovers(site.db, 'posts'),
      await leftovers(site.db, 'comments'),
    ]
    expect(await wrong()).toEqual([0, 0, 0, 0])
    // What is written while the triggers are off
    await writeWords(site.db, 'post_search', [
      { number: other.number, words: tokensOf(site.db, '', 'Wallaby') },
      { number: 900, words: tokensOf(site.db, '', 'Bilby') },
    ])
    const numbers = await sql<{ number: number }>`select number from indexed_comments where comment_id = ${activity.id}`.execute(site.db) // prettier-ignore
    await writeWords(site.db, 'comment_search', [
      { number: numbers.rows[0]?.number ?? 0, words: [...tokensOf(site.db, 'A numbat. It isn’t here'), 'emu', 'kiwi'] },
      { number: 901, words: ['bilby'] },
    ])
    expect([await wrong(), await titles('wallaby'), await titles('emu')]).toEqual([[1, 1, 1, 1], ['Echidna'], ['Echidna']]) // prettier-ignore
    const parts: number[] = []
    for (const kind of ['posts', 'comments'] as const) {
      await misindexed(site.db, kind, { mends: true, onProgress: (part) => parts.push(part) })
      await dropLeftovers(site.db, kind)
    }
    expect([await wrong(), parts]).toEqual([
      [0, 0, 0, 0],
      [1, 1],
    ])
    expect([await titles('wallaby'), await titles('emu'), await titles('echidna'), await titles('numbat')]).toEqual([[], [], ['Echidna'], ['Echidna']]) // prettier-ignore
    // What is cached of the index is not used again
    await writeWords(site.db, 'post_search', [{ number: 902, words: tokensOf(site.db, '', 'Potoroo') }])
    expect(await titles('potoroo')).toEqual([])
    await dropLeftovers(site.db, 'posts')
    expect(await titles('potoroo')).toEqual([])
    // A word less, and one in place of another
    await writeWords(site.db, 'post_search', [{ number: stays.number, words: tokensOf(site.db, stays.contentMarkdown ?? '', stays.title) }]) // prettier-ignore
    expect(await wrong()).toEqual([1, 0, 0, 0])
  })

  it('is made anew after an update, also beside a server of an earlier version', async () => {
    const { site, write, titles } = await filled(engine)
    const post = await write('Muitos botões', '')
    await site.call(comments.create, { post_id: post.postId, body: 'Echidnas.' })
    for (const name of ['0069_word_forms', '0070_search_refill']) await migrations[name]?.up(site.db)
    // What such a server does: it indexes what it finds there, with the forms of words that it knows
    await sql`delete from search_backfill`.execute(site.db)
    await sql`delete from comment_search`.execute(site.db)
    await sql`delete from post_search`.execute(site.db)
    expect(await pendingKinds(site.db)).toEqual(['posts', 'comments'])
    await backfill(site.db)
    expect([await pendingKinds(site.db), await titles('botão'), await titles('echidna')]).toEqual([[], [post.title], [post.title]]) // prettier-ignore
  })

  it('knows other forms of words, scripts without spaces, accents and width', async () => {
    const { write, look, titles } = await filled(engine)
    for (const title of ['Exported settings', 'ダークモードを追加', '深色模式', '어두운다크모드', 'โหมดมืด', 'Café au lait', 'Ｗｉｄｅ letters', 'Einstellungen für Benutzer', 'Recevoir des journaux', 'Varias notificaciones', 'Muitos botões grandes', 'Копирование настроек', 'إرسال الإشعارات', 'Große Schlüssel', 'Maße messen im Schloss', 'Wasserstraße im Fluss']) await write(title) // prettier-ignore
    for (const [query, title] of [
      ['export setting', 'Exported settings'],
      ['exporting', 'Exported settings'],
      ['モード', 'ダークモードを追加'],
      ['色模', '深色模式'],
      ['深', '深色模式'],
      ['다크', '어두운다크모드'],
      ['มืด', 'โหมดมืด'],
      ['cafe', 'Café au lait'],
      ['wide', 'Ｗｉｄｅ letters'],
      ['Einstellung Benutzern', 'Einstellungen für Benutzer'],
      ['journal', 'Recevoir des journaux'],
      ['notificación', 'Varias notificaciones'],
      ['botão', 'Muitos botões grandes'],
      ['копировать', 'Копирование настроек'],
      ['إشعار', 'إرسال الإشعارات'],
      ['exprot settings', 'Exported settings'],
      ['grosse', 'Große Schlüssel'],
      ['GROSSE schluss', 'Große Schlüssel'],
      ['"grosse schlüssel"', 'Große Schlüssel'],
      ['"Große Schlüssel"', 'Große Schlüssel'],
      ['masse schloß', 'Maße messen im Schloss'],
      ['schloß -masse -groß', undefined],
      ...['wasserstrasse', 'Waßerstraße', '"wasserstrasse im fluß"', 'asserstrasse', 'asserstraße'].map((query) => [query, 'Wasserstraße im Fluss']), // prettier-ignore
      ['Einstelungen', 'Einstellungen für Benutzer'],
    ] as const)
      expect([query, await titles(query)]).toEqual([query, title === undefined ? [] : [title]])
    const [hit] = (await look('grosse')).hits
    expect([hit?.match, hit?.title_marks]).toEqual(['phrase', [{ from: 0, to: 5 }]])
  })
})

it('a query is read without an error, whatever it is', async () => {
  const pieces = ['"', '-', ':', '#', 'is:', 'votes:', '>', '..', 'board:', ' ', 'é', '１', '2026-02-30', 'after:']
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom(...pieces) }))
  await assertProperty(
    fc.asyncProperty(text, async (query) => {
      const { phrases, without } = parseQuery(query)
      expect([...phrases, ...without].join('')).not.toContain('"')
    }),
    { numRuns: 300 },
  )
})
