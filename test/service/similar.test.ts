import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.js'
import { indexAgain } from '../../src/db/search.js'
import * as boards from '../../src/service/boards.js'
import * as merges from '../../src/service/merges.js'
import type { Item } from '../../src/service/moderation.js'
import * as posts from '../../src/service/posts.js'
import type { SimilarReason } from '../../src/service/lib/similarreasons.js'
import { engines, makeSite, type Engine } from '../support/site.js'

const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }

type Waiting = Pick<Item, 'id' | 'repeats'>

async function filled(engine: Engine, options: Parameters<typeof makeSite>[1] = {}) {
  const site = await makeSite(engine, { siteUrl: 'http://localhost', ...options })
  await site.owner()
  await site.call(boards.create, { name: 'Secret', display: false })
  for (const title of [
    'Dark mode for the evening',
    'Export as CSV',
    'Evening mails',
    'Dark mode',
    'Modes of transport',
  ])
    await site.call(posts.create, { title })
  await site.call(posts.create, { title: 'Dark mode of the team', boardId: 'secret' })
  const member = await site.member()
  const like = async (title: string, token?: string) => {
    const { body } = await site.http(`GET /posts/similar?${new URLSearchParams({ title }).toString()}`, { token })
    return (body.posts as { title: string }[]).map((post) => post.title)
  }
  return { site, member, like }
}

describe.each(engines)('similar posts on %s', (engine) => {
  it('are those that share most words with a title, and of each word the newest', async () => {
    const { site, like } = await filled(engine)
    expect(await like('A dark mode!')).toEqual(['Dark mode', 'Dark mode for the evening', 'Modes of transport'])
    expect(await like('evening mode')).toEqual([
      'Dark mode for the evening',
      'Evening mails',
      'Modes of transport',
      'Dark mode',
    ])
    expect(await like('csv')).toEqual(['Export as CSV'])
    for (const title of ['', '!', 'as of', 'nothing', `${'x'.repeat(200)} csv`]) expect(await like(title)).toEqual([])
    for (let number = 0; number < 6; number++) await site.call(posts.create, { title: `Dark ${number}` })
    expect(await like('dark')).toEqual([5, 4, 3, 2, 1].map((number) => `Dark ${number}`))
    const { body } = await site.http('GET /posts/similar?title=csv')
    const listed = (await site.http('POST /posts/get', { body: { query: 'csv', votes: false } })).body.posts
    expect(body).toEqual({ posts: listed, reasons: [{ postId: listed[0].postId, score: expect.any(Number) as number, words: ['csv'] }] }) // prettier-ignore
    expect((await site.http('GET /posts/similar')).body.code).toBe('VALIDATION_ERROR')
  })

  it('are the same by words of hundreds of titles, and where PostgreSQL plans each of these', async () => {
    const { site, like } = await filled(engine)
    await site.call(posts.create, { title: 'Unlike' })
    const { userId } = await site.db.selectFrom('posts').select('userId').executeTakeFirstOrThrow()
    const many = Array.from({ length: 400 }, (_, at) => ({ title: `Dark mode ${at}`, contentMarkdown: null, userId, boardId: null, roadmap_id: null, display: 1 as const, createdAt: '', updatedAt: '', postId: newId(), slug: `s${at}`, slugId: `s${at}` })) // prettier-ignore
    for (let at = 0; at < many.length; at += 50) await site.db.insertInto('posts').values(many.slice(at, at + 50)).execute() // prettier-ignore
    await indexAgain(site.db, many.map(({ postId }) => postId)) // prettier-ignore
    const asked = ['dark modes', 'dark mode 17', 'evening mode', 'dark exprot', 'Modes of transport']
    const found = await Promise.all(asked.map((title) => like(title)))
    expect(found.map(([first]) => first))
      .toEqual(['Dark mode 399', 'Dark mode 17', 'Dark mode for the evening', 'Export as CSV', 'Modes of transport']) // prettier-ignore
    const number = 300_000
    await site.db.updateTable('posts').set({ number }).where('title', '=', 'Unlike').execute()
    expect(await Promise.all(asked.map((title) => like(title)))).toEqual(found)
  })

  it('are found by a last word that is half typed, before its other spellings', async () => {
    const { site, like } = await filled(engine)
    for (const title of ['Notifications are too loud', 'Configurable toolbar']) await site.call(posts.create, { title })
    for (const title of ['tool', 'toolb', 'configurable tool']) expect([title, (await like(title))[0]]).toEqual([title, 'Configurable toolbar']) // prettier-ignore
    expect(await like('toolb loud')).toEqual(['Notifications are too loud'])
    const { body } = await site.http('GET /posts/similar?title=%3F&text=toolb')
    expect(body.posts ?? []).toEqual([])
  })

  it('say what merged posts said, also where the post itself means the same', async () => {
    const { site } = await filled(engine)
    const { post } = await site.call(posts.create, { title: 'Scrolling of lyrics by itself' })
    for (let number = 0; number < 3; number++) {
      const other = (await site.call(posts.create, { title: 'Add autoscroll' })).post
      await site.call(merges.merge, { ids: [other.postId], into: post.postId })
    }
    const { body } = await site.http('GET /posts/similar?title=autoscroll%20lyrics')
    expect(body.reasons[0]).toMatchObject({ words: ['lyrics'], merged: { posts: 3, words: ['autoscroll'] } })
  })

  it('say which words they share, and what only merged posts said', async () => {
    const { site } = await filled(engine)
    for (const title of ['Autoscroll with the middle button', 'AUTOSCROLL please', 'Export as CSV again']) {
      const { post } = await site.call(posts.create, { title })
      await site.call(merges.merge, { ids: [post.postId], into: title.startsWith('Export') ? '2' : '4' })
    }
    const reasons = async (title: string) => {
      const { body } = await site.http(`GET /posts/similar?${new URLSearchParams({ title }).toString()}`)
      return (body.reasons as SimilarReason[]).map(({ words, merged }) => ({ words, ...(merged && { merged }) }))
    }
    expect((await reasons('autoscroll'))[0]).toEqual({ words: [], merged: { posts: 2, words: ['autoscroll'] } })
    const secret = (await site.call(boards.create, { name: 'Lab', display: false })).board
    const { post: inside } = await site.call(posts.create, { title: 'Zanzibar', boardId: secret.boardId })
    const { post: open } = await site.call(posts.create, { title: 'Dark beach', boardId: secret.boardId })
    await site.call(merges.merge, { ids: [inside.postId], into: open.postId })
    await site.call(posts.update, { id: open.postId, boardId: null, partial: true })
    expect((await reasons('beach zanzibar'))[0]).toEqual({ words: ['beach'] })
    await site.call(posts.remove, { id: open.postId })
    expect((await reasons('Dark autoscrolls button'))[0]).toEqual({ words: ['dark'], merged: { posts: 2, words: ['autoscrolls', 'button'] } }) // prettier-ignore
    expect(await reasons('evening modes')).toEqual([
      { words: ['evening', 'modes'] },
      { words: ['evening'] },
      { words: ['modes'] },
      { words: ['modes'] },
    ])
    expect((await reasons('exprot'))[0]).toEqual({ words: ['export'] })
    expect(await reasons('nothing')).toEqual([])
    const { token } = await site.member()
    const { text } = await site.http('GET //posts/similar?title=dark+autoscroll', { headers: { accept: 'text/html', cookie: `feedbackctl=${token}` } }) // prettier-ignore
    expect(text).toMatch(/<mark>Dark<\/mark> mode/)
    expect(text.replaceAll(/[\u2066-\u2069]/g, '')).toContain('2 merged posts said: autoscroll')
  })

  it('say it in another word, in another language, with other endings and with a typing error', async () => {
    const { site, like } = await filled(engine)
    for (const title of ['Benachrichtigungen stummschalten', '深色模式', '通知を検索する', 'Raccourcis clavier', 'Panes should be resizable', 'Filenames in bulk', 'List of versions'])
      await site.call(posts.create, { title }) // prettier-ignore
    const first = async (title: string) => (await like(title))[0]
    expect(await like('night theme')).toEqual(expect.arrayContaining(['Dark mode', '深色模式']))
    expect(await first('Download to csv')).toBe('Export as CSV')
    expect(await first('mute notifications')).toBe('Benachrichtigungen stummschalten')
    expect(await first('通知の検索')).toBe('通知を検索する')
    expect(await first('夜间模式')).toBe('深色模式')
    expect(await first('hotkeys')).toBe('Raccourcis clavier')
    expect(await first('resize panes')).toBe('Panes should be resizable')
    expect(await like('Отключить уведомления')).toContain('Benachrichtigungen stummschalten')
    expect(await first('rename many files')).toBe('Filenames in bulk')
    expect(await first('Versionenliste überarbeiten')).toBe('List of versions')
    expect(await first('Trasnport')).toBe('Modes of transport')
  })

  it('leave out the post itself, take its text too, and are as many as asked for', async () => {
    const { site } = await filled(engine)
    const { post } = await site.call(posts.create, { title: 'Evening', contentMarkdown: 'I read in the dark.' })
    const found = async (more: object) => {
      const { posts: some } = await site.call(posts.similar, { title: post.title, ...more })
      return some.map(({ title }) => title)
    }
    expect(await found({ limit: 2 })).toEqual(['Evening', 'Evening mails'])
    expect(await found({ except: post.postId.toUpperCase(), limit: 1 })).toEqual(['Evening mails'])
    expect(await found({ except: post.postId })).toEqual(['Evening mails', 'Dark mode for the evening'])
    expect(await found({ except: post.postId, text: post.contentMarkdown, limit: 2 })).toEqual([
      'Dark mode for the evening',
      'Evening mails',
    ])
    const score = async (more: object) => (await site.call(posts.similar, { title: 'Evenings', except: post.postId, ...more })).reasons[0]?.score // prettier-ignore
    expect(await score({ text: 'Zebras, giraffes and a walk at night' })).toBe(await score({}))
    for (const wrong of [{ limit: 0 }, { limit: 21 }, { limit: 'x' }, { except: 'x' }])
      expect((await site.http(`GET /posts/similar?${new URLSearchParams({ title: 'x', ...Object.fromEntries(Object.entries(wrong).map(([key, value]) => [key, String(value)])) }).toString()}`)).body.code).toBe('VALIDATION_ERROR') // prettier-ignore
  })

  it('learn from merges: the words of what was merged lead to what it was merged into', async () => {
    const { site, like } = await filled(engine)
    for (const title of ['Bananas for breakfast', 'Fruit in the morning', 'Morning sun'])
      await site.call(posts.create, { title })
    await site.call(merges.merge, { ids: ['bananas-for-breakfast'].map(() => '7'), into: '1' })
    expect((await like('bananas'))[0]).toBe('Dark mode for the evening')
    expect(await like('sun')).toEqual(['Morning sun'])
  })

  it('of a post have a page, which its own page leads to, and a team that merges sees why', async () => {
    const { site } = await filled(engine)
    const headers = { accept: 'text/html' }
    const page = async (path: string, token?: string) => (await site.http(`GET /${path}`, { headers: { ...headers, ...(token !== undefined && { cookie: `feedbackctl=${token}` }) } })) // prettier-ignore
    const { posts: all } = await site.call(posts.list, { query: 'evening' })
    const slug = all.find(({ title }) => title.startsWith('Dark'))?.slug ?? ''
    expect((await page(`/posts/${slug}`)).text).toContain(`href="/posts/${slug}/similar" rel="nofollow"`)
    const { status, text } = await page(`/posts/${slug}/similar`)
    expect(status).toBe(200)
    expect(text.match(/id="post-\d+"/g)).toEqual(['id="post-4"', 'id="post-3"', 'id="post-5"'])
    expect(text).toContain('noindex')
    expect(text).not.toContain('of the team')
    expect((await page('/posts/no-such-post-aaaaaaaaaaaaaaaaaaaa/similar')).status).toBe(404)
    const { token } = await site.member(['board:read', 'post:update'])
    expect((await page(`/posts/${slug}/similar`, token)).text).toContain('of the team')
    const merging = (await page(`/posts/${slug}/merge`, token)).text
    expect(merging).toMatch(/value="4".*<mark>Dark<\/mark> <mark>mode<\/mark>/s)
    expect(merging).not.toMatch(/name="chosen" value="1"/)
  })

  it('tell nothing of posts that a reader may not see, and are not crowded out by them', async () => {
    const { site, like } = await filled(engine)
    const score = async (title: string) => {
      const { body } = await site.http(`GET /posts/similar?${new URLSearchParams({ title }).toString()}`)
      return (body.reasons as SimilarReason[])[0]?.score
    }
    const before = [await score('evening acquisition'), await score('evening redundancy')]
    await site.call(posts.create, { title: 'Acquisition of Initech, 買収', boardId: 'secret' })
    const after = [await score('evening acquisition'), await score('evening redundancy'), await score('csv 買収'), await score('csv 解雇')] // prettier-ignore
    expect([after[0], after[2]]).toEqual([after[1], after[3]])
    expect(before[0]).toBe(before[1])
    const { board } = await site.call(boards.create, { name: 'Many', display: false })
    for (let n = 0; n < 310; n++) await site.call(posts.create, { title: `Dark mode ${n}`, boardId: board.boardId })
    expect(await like('dark mode')).toEqual(expect.arrayContaining(['Dark mode', 'Dark mode for the evening']))
  })

  it('are named in the queue of the team, where one button merges into the earlier post', async () => {
    const { site } = await filled(engine)
    const member = await site.member()
    const write = async (title: string) => (await site.http('POST /posts', { token: member.token, body: { title } })).body.post // prettier-ignore
    const [repeat, other] = [await write('A DARK mode'), await write('Zebras')]
    const staff = await site.member(['dashboard:read', 'post:destroy', 'post:update'])
    const waiting = async (token: string) => {
      const { body } = await site.http('GET /moderation', { token })
      return new Map((body.items as Waiting[]).map((item) => [item.id, item.repeats])) // prettier-ignore
    }
    const first = await waiting(staff.token)
    expect(first.get(repeat.postId)).toMatchObject({ number: 4, title: 'Dark mode', words: ['dark', 'mode'] })
    expect([first.has(other.postId), first.get(other.postId)]).toEqual([true, undefined])
    const cookie = `feedbackctl=${staff.token}`
    const { text } = await site.http('GET //dashboard', { headers: { accept: 'text/html', cookie } })
    const [, path = ''] = /formaction="([^"]+merge[^"]*)" name="into" value="4"/.exec(text) ?? []
    expect([text.match(/<button[^>]*data-key="i"/g), text.match(/<a[^>]*\/merge[^>]*data-key="i"/g)].map((found) => found?.length)).toEqual([1, 1]) // prettier-ignore
    const done = await site.http(`POST /${path.replaceAll('&amp;', '&')}`, { headers: { ...FORM, cookie }, body: 'into=4' }) // prettier-ignore
    expect([done.status, done.headers.location]).toEqual([303, expect.stringMatching(/^\/dashboard\?done=merged/)])
    expect((await waiting(staff.token)).has(repeat.postId)).toBe(false)
    const hidden = await write('Dark modes of a team')
    expect((await waiting(staff.token)).get(hidden.postId)).toMatchObject({ number: 4 })
    await site.call(posts.update, { id: '4', boardId: 'secret', partial: true })
    expect((await waiting(staff.token)).get(hidden.postId), 'the next one that is not private').toMatchObject({
      number: 1,
    })
  })

  it('are merged with one button only where nobody sees more or less by it', async () => {
    const { site } = await filled(engine)
    const member = await site.member()
    const write = async (title: string) => (await site.http('POST /posts', { token: member.token, body: { title } })).body.post // prettier-ignore
    const [reported, wide] = [await write('A DARK mode'), await write('Dark modes of the team')]
    await site.http(`POST /posts/${reported.number}/report`, { token: member.token, body: {} })
    const staff = await site.member(['dashboard:read', 'post:destroy', 'post:update', 'board:read'])
    const reader = await site.member(['dashboard:read', 'post:destroy', 'board:read'])
    const waiting = async ({ token }: { token: string }) => {
      const { body } = await site.http('GET /moderation', { token })
      return new Map((body.items as Waiting[]).map((item) => [item.id, item.repeats]))
    }
    const shown = async ({ token }: { token: string }) =>
      (await site.http('GET //dashboard', { headers: { accept: 'text/html', cookie: `feedbackctl=${token}` } })).text
    const all = await waiting(staff)
    expect(all.get(reported.postId)).toMatchObject({ number: 4, is_private: false, is_mergeable: false })
    expect(all.get(wide.postId)).toMatchObject({ number: 6, board: { name: 'Secret' }, is_private: true, is_mergeable: false }) // prettier-ignore
    const text = await shown(staff)
    expect(text).toMatch(/May repeat #6[^]*<bdi>Secret<\/bdi><\/a> <span class="mark">Private<\/span>/)
    expect(text).toContain(`href="/posts/${wide.slug}/merge?to=`)
    expect(text).not.toContain(`/posts/${reported.slug}/merge`)
    expect(text).not.toMatch(/<button[^>]*data-key="i"/)
    await site.call(posts.update, { id: String(wide.number), boardId: 'secret', partial: true })
    expect((await waiting(staff)).get(wide.postId)).toMatchObject({ number: 6, is_mergeable: true })
    expect(await shown(staff)).toMatch(/<button[^>]*data-key="i"/)
    expect((await waiting(reader)).get(wide.postId)).toMatchObject({ number: 6, is_mergeable: false })
    expect(await shown(reader)).not.toContain('/merge')
  })

  it('are merged with one button as they were shown, and as the earlier post stood', async () => {
    const { site } = await filled(engine)
    const member = await site.member()
    const write = async (title: string) => (await site.http('POST /posts', { token: member.token, body: { title } })).body.post // prettier-ignore
    const { number } = await write('A DARK mode')
    const staff = await site.member(['dashboard:read', 'post:destroy', 'post:update'])
    const headers = { cookie: `feedbackctl=${staff.token}` }
    const buttonOf = async () => {
      const { text } = await site.http('GET //dashboard', { headers: { accept: 'text/html', ...headers } })
      return /formaction="([^"]+merge[^"]*)" name="into" value="(\d+)"/.exec(text.replaceAll('&amp;', '&')) ?? []
    }
    const press = ([, path = '', into = '']: readonly string[]) =>
      site.http(`POST /${path}`, { headers: { ...FORM, accept: 'text/html', ...headers }, body: `into=${into}` })
    const isThere = async () => {
      const { body } = await site.http('GET /moderation', { token: staff.token })
      return (body.items as Item[]).some(({ post }) => post.number === number)
    }
    const first = await buttonOf()
    site.clock.now = new Date(site.clock.now.getTime() + 1000)
    await site.call(posts.update, { id: String(number), title: 'A dark mode, but of another kind', partial: true })
    const changed = await press(first)
    expect([changed.status, await isThere()]).toEqual([409, true])
    expect(changed.text).toContain('The text was changed meanwhile. Read it again, then decide.')
    expect(changed.text).toContain('A dark mode, but of another kind')
    const second = await buttonOf()
    expect(second[2]).toBe('4')
    const wide = await site.member(['dashboard:read', 'post:destroy', 'post:update', 'board:read'])
    const seen = (await site.http('GET /moderation', { token: wide.token })).body.items as Item[]
    const [asked] = seen.filter(({ post }) => post.number === number)
    expect(asked?.repeats).toMatchObject({ number: 4, is_mergeable: true })
    await site.call(posts.update, { id: '4', boardId: 'secret', partial: true })
    const pressed = { ids: [String(number)], into: '4', if_updated_at: [asked?.updated_at] }
    const late = await site.http('POST /posts/merge', { token: wide.token, body: pressed })
    expect(late.body.outcomes).toMatchObject([{ error: { code: 'CONTENT_CHANGED' } }])
    await site.call(posts.update, { id: '4', boardId: null, partial: true })
    await site.call(merges.merge, { ids: ['4'], into: '3' })
    expect([(await press(second)).status, await isThere()]).toEqual([409, true])
    const { body } = await site.http('POST /posts/merge', { token: staff.token, body: { ids: [String(number)], into: '3', if_updated_at: [] } }) // prettier-ignore
    expect(body.code).toBe('VALIDATION_ERROR')
  })

  it('are found beside words that are nowhere, and by words with two letters swapped', async () => {
    const { site, like } = await filled(engine)
    await site.call(posts.create, { title: '深色模式' })
    await site.call(posts.create, { title: 'Webhook integration' })
    expect((await like('希望手机客户端阅读界面像微信淘宝那样提供深色模式'))[0]).toBe('深色模式')
    const odd = 'zorba quixo flarne gribble snorf plunk twizz krobe vlint gazeb hupps jorvi wexel alfa bravo charlie'
    expect((await like(`dark mode ${odd}`))[0]).toBe('Dark mode')
    expect((await like('exprot'))[0]).toBe('Export as CSV')
    expect((await like('wehbook'))[0]).toBe('Webhook integration')
  })

  it('are found for every text, however odd', async () => {
    const { site } = await filled(engine)
    for (const title of ['"', "'", '\\', 'a:b*', 'NOT dark OR', '(((', '¶dark ≈x ⁀y', '💡'.repeat(90), 'ก'.repeat(300), 'é̶́'.repeat(99), 'x'.repeat(5000), "l'été d'hier"])
      expect((await site.call(posts.similar, { title, text: title })).posts.length).toBeLessThanOrEqual(5) // prettier-ignore
  })

  it('are none of a private board, but for who may read it', async () => {
    const { site, like } = await filled(engine)
    expect(await like('team')).toEqual([])
    expect(await like('team', (await site.member(['board:read'])).token)).toEqual(['Dark mode of the team'])
  })

  it('have a limit of their own, which keeps nobody from writing', async () => {
    const { site, member } = await filled(engine, { rates: { similar: { points: 2, seconds: 60 } } })
    const look = async (token?: string) => (await site.http('GET /posts/similar?title=dark', { token })).status
    expect([await look(member.token), await look(member.token), await look(member.token)]).toEqual([200, 200, 429])
    expect([await look(), await look((await site.member()).token)]).toEqual([200, 200])
    expect((await site.call(posts.similar, { title: 'dark' })).posts).toHaveLength(3) // a command
    const cookie = `feedbackctl=${member.token}`
    expect((await site.http('GET //posts/similar?title=dark', { headers: { cookie } })).status).toBe(429)
    const body = new URLSearchParams({ title: 'Dark night', name: 'Eve' }).toString()
    const { status, headers } = await site.http('POST //posts/new', { body, headers: { ...FORM, cookie } })
    expect([status, headers.location]).toEqual([303, expect.stringContaining('/posts/dark-night')])
  })

  it('are looked for after a visitor has signed in, and shown before the post is written', async () => {
    const { site, member } = await filled(engine)
    const { status, headers } = await site.http('GET //posts/similar?title=dark')
    expect([status, headers.location]).toEqual([303, expect.stringMatching(/\/login\?redirect=/)])
    const body = new URLSearchParams({ title: 'Dark night', name: 'Eve' }).toString()
    const send = async (more: object) => (await site.http('POST //posts/new', { body, headers: { ...FORM, ...more } })).text // prettier-ignore
    const [before, after] = [await send({}), await send({ cookie: `feedbackctl=${member.token}` })]
    expect([before.includes('<h1>Sign in</h1>'), before.includes('for the evening')]).toEqual([true, false])
    expect([/<h1[^>]*>Similar posts<\/h1>/.test(after), after.includes('for the evening')]).toEqual([true, true])
    expect((await site.http('GET //posts/new?title=dark')).text).not.toContain('for the evening')
    expect((await site.call(posts.list, { query: 'night' })).posts).toEqual([])
  })
})
