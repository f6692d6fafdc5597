import { readFileSync } from 'node:fs'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { accentOf, DEFAULT_ACCENT } from '../../src/core/colors.js'
import { LANGUAGES } from '../../src/core/language.js'
import { ResponseCache } from '../../src/http/cache/responses.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as moderation from '../../src/service/moderation.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as settings from '../../src/service/settings.js'
import { inject } from 'light-my-request'
import { engines, makeSite, OWNER, type Engine, type TestSite } from '../support/site.js'

const HTML = { accept: 'text/html' }

const at = (engine: Engine, options: Parameters<typeof makeSite>[1] = {}) =>
  makeSite(engine, { siteUrl: 'http://localhost', ...options })

/** Sends a form, as a browser does from a page of ours. */
const send = (
  site: TestSite,
  path: string,
  fields: Record<string, string> = {},
  headers: Record<string, string> = {},
) =>
  site.http(`POST /${path}`, {
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', ...headers },
  })

const cookieIn = (headers: Record<string, unknown>): string =>
  String([headers['set-cookie']].flat()[0]).split(';')[0] ?? ''

async function signedIn(site: TestSite): Promise<{ cookie: string }> {
  const { headers } = await send(site, '/login', { email: OWNER.email, password: OWNER.password })
  return { cookie: cookieIn(headers) }
}

async function filled(site: TestSite) {
  await site.owner()
  const { board } = await site.call(boards.create, { name: 'Ideas', display: true })
  const { board: hidden } = await site.call(boards.create, { name: 'Secret plans', display: false })
  await site.call(roadmaps.create, { name: 'Planned', display: true })
  const { post } = await site.call(posts.create, {
    title: 'Dark mode',
    contentMarkdown: 'Please.',
    boardId: board.boardId,
  })
  const { post: secret } = await site.call(posts.create, {
    title: 'Hush',
    contentMarkdown: 'Shh.',
    boardId: hidden.boardId,
  })
  return { board, hidden, post, secret }
}

describe.each(engines)('pages on %s', (engine) => {
  it('show posts, boards, roadmaps and a post at the addresses of the official client', async () => {
    const site = await at(engine)
    const { post } = await filled(site)
    for (const [path, text] of [
      ['//', 'Dark mode'],
      ['//?sort=votes&board=ideas', 'Dark mode'],
      ['//?q=MODE&sort=newest', '<mark>mode</mark>'],
      ['//?q=nothing', 'Nothing matches this filter'],
      ['//boards/ideas?q=dar', 'name="q" value="dar"'],
      ['//boards', 'Ideas'],
      ['//boards/ideas', 'Dark mode'],
      ['//roadmaps', 'Planned'],
      ['//roadmaps/planned', 'No posts here yet'],
      [`//posts/${post.slug}`, 'Please.'],
      [`//posts/${post.slug}/voters`, 'Ada'],
      ['//search?q=MODE', '<mark>mode</mark>'],
      ['//login', 'Password'],
      ['//join', 'Create account'],
      ['//password-reset', 'Send the link'],
    ] as const) {
      const { status, headers, text: body } = await site.http(`GET ${path}`, { headers: HTML })
      expect([path, status]).toEqual([path, 200])
      expect(headers['content-type']).toBe('text/html; charset=utf-8')
      expect(body.toLowerCase()).toContain(text.toLowerCase())
      expect(String(headers['content-security-policy'])).toContain("default-src 'self'")
      expect(body).not.toMatch(/ style=| on\w+="/)
    }
  })

  it('lead former slugs, numbers and ids of posts to their address, and signed-out people to the sign-in page', async () => {
    const site = await at(engine)
    const { post } = await filled(site)
    const { post: renamed } = await site.call(posts.update, { id: post.postId, title: 'Night mode', partial: true })
    for (const name of [post.slug, String(post.number), post.postId]) {
      const { status, headers } = await site.http(`GET //posts/${name}?page=2`)
      expect([status, headers.location]).toEqual([301, `/posts/${renamed.slug}?page=2`])
    }
    const { status, headers } = await site.http(`GET //posts/${renamed.slug}/edit`)
    expect([status, headers.location]).toEqual([
      303,
      `/login?redirect=${encodeURIComponent(`/posts/${renamed.slug}/edit`)}`,
    ])
  })

  it('hide what is private from visitors: 404, and not in lists, feeds and the sitemap', async () => {
    const site = await at(engine)
    const { hidden, secret } = await filled(site)
    const internal = await site.call(posts.create, { title: 'Open', contentMarkdown: 'Yes.' })
    await site.call(comments.create, { post_id: internal.post.slug, body: 'Only for us', is_internal: true })
    for (const path of [
      `/boards/${hidden.url}`,
      `/posts/${secret.slug}`,
      `/posts/${secret.number}`,
      `/boards/${hidden.url}/feed.atom`,
      `/posts/${secret.slug}/feed.atom`,
    ]) {
      const { status, text } = await site.http(`GET /${path}`, { headers: HTML })
      expect([path, status]).toEqual([path, 404])
      expect(text).not.toMatch(/Hush|Secret plans|Shh/)
    }
    for (const path of [
      '/',
      '/boards',
      '/search?q=hush',
      '/feed.atom',
      '/sitemap.xml',
      `/posts/${internal.post.slug}`,
      `/posts/${internal.post.slug}/feed.atom`,
    ])
      expect([path, (await site.http(`GET /${path}`)).text]).toEqual([
        path,
        expect.not.stringMatching(/Hush|Secret plans|secret-plans|Shh|Only for us/),
      ])
    const mine = { headers: await signedIn(site) }
    expect((await site.http('GET //', mine)).text).toContain('Hush')
    expect((await site.http('GET //feed.atom', mine)).text).not.toContain('Hush')
    expect((await site.http(`GET //posts/${internal.post.slug}`, mine)).text).toContain('Only for us')
  })

  it('say what is wrong with a form beside its field, keep what was typed, and change nothing', async () => {
    const site = await at(engine)
    const { post } = await filled(site)
    const headers = await signedIn(site)
    const before = await site.events()
    const { status, text } = await send(site, '/posts/new', { title: ' ', contentMarkdown: 'Kept text' }, headers)
    expect(status).toBe(422)
    expect(text).toContain('href="#field-title"')
    expect(text).toContain('aria-invalid="true"')
    expect(text).toContain('Enter a title.')
    expect(text).toContain('Kept text')
    const long = await send(site, `/posts/${post.slug}/comments`, { body: 'x'.repeat(1001) }, headers)
    expect([long.status, long.text.includes('This text is too long.')]).toEqual([422, true])
    expect(await site.events()).toEqual(before)
  })

  it('cut no text that is too long, and say how long it may be', async () => {
    const site = await at(engine)
    const { post } = await filled(site)
    const owner = await signedIn(site)
    const body = 'Why? '.repeat(260).trim()
    const refused = await send(site, `/posts/${post.slug}/comments`, { body }, owner)
    expect(refused.status).toBe(422)
    expect(refused.text).toContain('At most 1,000 characters. This text has 1,299.')
    expect(refused.text).toContain(`${body}</textarea>`)
    const form = await site.http('GET //posts/new', { headers: { ...HTML, ...owner } })
    expect(form.text).not.toMatch(/<(?:textarea|input[^>]* name="title")[^>]* maxlength/)
  })

  it('filter by a board that is not among the first hundred, and know no board that is not there', async () => {
    const site = await at(engine)
    await filled(site)
    for (let count = 0; count < 100; count++) await site.call(boards.create, { name: `Board ${count}`, display: true })
    await site.call(posts.create, { title: 'In the last', boardId: 'board-99' })
    const { text } = await site.http('GET //?board=board-99', { headers: HTML })
    expect(text).toContain('In the last')
    expect(text).not.toContain('Dark mode')
    expect(text).toContain('<option value="board-99" selected>')
    expect((await site.http('GET //?board=nowhere', { headers: HTML })).status).toBe(404)
    expect((await site.http('GET //?roadmap=nowhere', { headers: HTML })).status).toBe(404)
  })

  it('show through which roadmaps a post went', async () => {
    const site = await at(engine)
    const { post } = await filled(site)
    await site.call(roadmaps.create, { name: 'Not public', display: false })
    for (const roadmapId of ['planned', 'not-public'])
      await site.call(posts.update, { id: post.postId, roadmapId, partial: true })
    const { text } = await site.http(`GET //posts/${post.slug}`)
    expect(text).toMatch(/<details class="history">.*Planned.*<\/details>/s)
    expect(text).not.toContain('Not public')
    expect((await site.http(`GET //posts/${post.slug}`, { headers: await signedIn(site) })).text).toContain(
      'Not public',
    )
  })

  it('lose nothing where two windows edit the same post or comment', async () => {
    const site = await at(engine)
    const { post } = await filled(site)
    const headers = await signedIn(site)
    const { activity } = await site.call(comments.create, { post_id: post.slug, body: 'First' })
    const open = async (path: string) => (await site.http(`GET /${path}`, { headers: { ...HTML, ...headers } })).text
    const versionIn = (text: string) => /name="(if_?updated_?at)" value="([^"]+)"/i.exec(text)?.slice(1) ?? []
    for (const [path, field, more] of [
      [`/posts/${post.slug}`, 'contentMarkdown', { title: 'Dark mode' }],
      [`/posts/${post.slug}/comments/${activity.id}`, 'body', {}],
    ] as const) {
      const [name = '', version = ''] = versionIn(await open(`${path}/edit`))
      const save = (text: string, at: string) => {
        site.clock.now = new Date(site.clock.now.getTime() + 1000)
        return send(site, `${path}/edit`, { [field]: text, [name]: at, ...more }, headers)
      }
      expect((await save('Of the first window', version)).status).toBe(303)
      const refused = await save('Of the second window', version)
      expect(refused.status).toBe(409)
      expect(refused.text).toMatch(/This was changed while you were writing.*As it is stored now.*Of the first window.*Of the second window/s) // prettier-ignore
      expect(await open(path)).not.toContain('Of the second window')
      const [, present = ''] = versionIn(refused.text)
      expect((await save('Of the second window', present)).status).toBe(303)
    }
  })

  it('let authors delete what others have not added to, with what it says, and ask the team for the rest', async () => {
    const site = await at(engine)
    const { post } = await filled(site)
    const eve = { email: 'eve@example.org', password: 'a good password' }
    await site.member([], eve)
    const headers = { ...HTML, cookie: cookieIn((await send(site, '/login', eve)).headers) }
    const open = async (path: string) => (await site.http(`GET /${path}`, { headers })).text
    const { headers: sent } = await send(site, '/posts/new', { title: 'Mine', contentMarkdown: 'Of *Eve*.', boardId: 'ideas', checked: 'yes' }, headers) // prettier-ignore
    const path = String(sent.location).replace(/\?.*/, '')
    expect(await open(path)).toContain(`href="${path}/delete"`)
    expect(await open(`/posts/${post.slug}`)).not.toContain(`href="/posts/${post.slug}/delete"`)
    expect(await open(`${path}/delete`)).toMatch(
      /Member.*<blockquote[^>]*>Of Eve\..*name="to" value="\/boards\/ideas"/s,
    )
    const owner = await signedIn(site)
    const { text: decided } = await site.http(`GET /${path}`, { headers: { ...HTML, ...owner } })
    expect(decided, 'the team marks as spam, and reports to nobody').not.toContain(`href="${path}/report"`)
    await send(site, `${path}/vote`, {}, owner)
    const asked = await open(`${path}/delete`)
    expect(asked).toContain('You can ask the team to delete it.')
    expect(asked).toContain(`action="${path}/report"`)
    const refused = await send(site, `${path}/delete`, { to: '/boards/ideas' }, headers)
    expect([refused.status, refused.text.includes('You can ask the team')]).toEqual([403, true])
    await send(site, `${path}/unvote`, {}, owner)
    const { headers: gone } = await send(site, `${path}/delete`, { to: '/boards/ideas' }, headers)
    expect(gone.location).toBe('/boards/ideas?done=deleted')

    const { headers: said } = await send(site, `/posts/${post.slug}/comments`, { body: 'Which *shade*?' }, headers)
    const comment = String(said.location).replace(/\?.*/, '')
    expect(await open(`${comment}/delete`)).toMatch(/Member.*<blockquote[^>]*>Which shade\?/s)
    await site.call(comments.create, { post_id: post.slug, body: 'Dark', parent_id: comment.split('/').at(-1) ?? null })
    expect(await open(`${comment}/delete`)).toContain(`action="${comment}/report"`)
  })

  it('ask for a name before the first post or comment of who has none', async () => {
    const site = await at(engine)
    const { post } = await filled(site)
    const account = { email: 'eve@example.org', password: 'a good password' }
    const { headers } = await send(site, '/join', account)
    const mine = { ...HTML, cookie: cookieIn(headers) }
    const { text } = await site.http(`GET //posts/${post.slug}`, { headers: mine })
    expect(text).toContain('Shown next to what you write.')
    const fields = { body: 'We need it too.' }
    const asked = await send(site, `/posts/${post.slug}/comments`, fields, mine)
    expect(asked.text).toMatch(/What is your name\?.*name="body" value="We need it too\."/s)
    const wrong = await send(site, `/posts/${post.slug}/comments`, { ...fields, name: 'x'.repeat(101) }, mine)
    expect([wrong.status, wrong.text.includes('Enter a name of 1 to 100 characters.')]).toEqual([422, true])
    await send(site, `/posts/${post.slug}/comments`, { ...fields, name: 'Eve' }, mine)
    const after = await site.http(`GET //posts/${post.slug}`, { headers: mine })
    expect(after.text).toMatch(/<bdi>Eve<\/bdi>.*We need it too\./s)
    expect(after.text).not.toContain('Shown next to what you write.')
  })

  it('answer a vote that changes nothing, as of another window, with the votes as they are', async () => {
    const site = await at(engine)
    const { post } = await filled(site)
    const headers = { ...(await signedIn(site)), accept: 'application/json' }
    const give = async (word: string) => (await send(site, `/posts/${post.slug}/${word}`, {}, headers)).body
    const voted = { isVoted: true, votes: '1', count: '1 vote' }
    const unvoted = { isVoted: false, votes: '0', count: '0 votes' }
    expect(await give('vote')).toMatchObject(voted)
    for (const now of [unvoted, unvoted]) expect(await give('unvote')).toMatchObject(now)
    for (const now of [voted, voted]) expect(await give('vote')).toMatchObject(now)
  })

  it('follow writes at once, for visitors and for whoever wrote', async () => {
    const site = await at(engine)
    const { post } = await filled(site)
    const mine = { headers: await signedIn(site) }
    for (const options of [{}, mine]) expect((await site.http('GET //', options)).text).toContain('Dark mode')
    await send(site, `/posts/${post.slug}/edit`, { title: 'Night mode', contentMarkdown: 'Please.' }, mine.headers)
    for (const options of [{}, mine]) expect((await site.http('GET //', options)).text).toContain('Night mode')
    await send(site, `/posts/${post.slug}/comments`, { body: 'First!' }, mine.headers)
    for (const options of [{}, mine])
      expect(
        (await site.http(`GET //posts/${post.slug.replace('dark', 'dark')}`, options)).headers.location,
      ).toBeDefined()
  })
})

it('people take their data with them, and leave', async () => {
  const site = await at('sqlite')
  const { post } = await filled(site)
  const { userId } = await site.member([], { email: 'eve@example.org', password: 'a good password' })
  const { headers } = await send(site, '/login', { email: 'eve@example.org', password: 'a good password' })
  const mine = { cookie: cookieIn(headers) }
  await send(site, `/posts/${post.slug}/comments`, { body: 'Eve was here' }, mine)
  const file = await site.http('GET //settings/data', { headers: mine })
  expect(file.headers['content-disposition']).toMatch(/^attachment; filename="[\w.-]+\.json"$/)
  expect(file.body).toMatchObject({
    profile: { userId, email: 'eve@example.org' },
    comments: [{ body: 'Eve was here' }],
  })
  expect((await site.http('GET //settings/data')).status).toBe(303)

  const [comment] = file.body.comments
  const page = async () => (await site.http(`GET //posts/${post.slug}`, { headers: mine })).text
  const tools = async () => {
    const [, own = ''] = (await page()).split(`id="comment-${comment.id}"`)
    return ['Reply</summary>', 'Edit</a>'].filter((each) => own.includes(each))
  }
  expect(await tools()).toEqual(['Reply</summary>', 'Edit</a>'])
  await site.call(moderation.decide, { id: comment.id, decision: 'spam' })
  expect(await page()).toContain('Eve was here')
  expect(await tools()).toEqual([])
  const edit = await site.http(`GET //posts/${post.slug}/comments/${comment.id}/edit`, { headers: mine })
  expect([edit.status, edit.headers.location]).toEqual([303, `/posts/${post.slug}/comments/${comment.id}`])
  await site.call(moderation.decide, { id: comment.id, decision: 'keep' })

  const wrong = await send(site, '/settings/delete', { password: 'wrong', posts: 'keep' }, mine)
  expect([wrong.status, wrong.text.includes('The password is wrong.')]).toEqual([403, true])
  const gone = await send(site, '/settings/delete', { password: 'a good password', posts: 'keep' }, mine)
  expect([gone.status, gone.headers.location]).toEqual([303, '/?done=accountDeleted'])
  expect((await site.http('GET //settings', { headers: mine })).status).toBe(303)
  const { text } = await site.http(`GET //posts/${post.slug}`)
  expect(text).toContain('Eve was here')
  expect(text).toContain('Deleted user')
})

describe('sessions of pages', () => {
  it('are a cookie that scripts cannot read, of this host alone over https, and end with signing out', async () => {
    for (const [siteUrl, name, secure] of [
      ['https://feedback.example.org', '__Host-feedbackctl', '; Secure'],
      ['http://localhost', 'feedbackctl', ''],
    ] as const) {
      const site = await at('sqlite', { siteUrl })
      await site.owner()
      const { status, headers } = await send(site, '/login', { email: OWNER.email, password: OWNER.password })
      expect(status).toBe(303)
      expect(String(headers['set-cookie'])).toMatch(
        new RegExp(`^${name}=[\\w.-]+; Max-Age=\\d+; Path=/; HttpOnly${secure}; SameSite=Lax$`),
      )
      const cookie = cookieIn(headers)
      expect((await site.http('GET //settings', { headers: { cookie } })).text).toContain(OWNER.email)
      expect((await site.http('GET /users/profile', { headers: { cookie } })).status, 'the API reads no cookie').toBe(
        400,
      )
      const out = await send(site, '/logout', {}, { cookie })
      expect(String(out.headers['set-cookie'])).toContain(`${name}=; Max-Age=0`)
      expect((await site.http('GET //settings', { headers: { cookie } })).status, 'the session has ended').toBe(303)
    }
  })

  it('refuse forms of pages of other sites', async () => {
    const site = await at('sqlite')
    const { post } = await filled(site)
    const { cookie } = await signedIn(site)
    const before = await site.events()
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site', origin: 'http://localhost' },
      { 'sec-fetch-site': '', origin: 'https://evil.example' },
      { 'sec-fetch-site': '', origin: 'null' },
    ]) {
      const { status, text } = await site.http(`POST //posts/${post.slug}/delete`, {
        headers: {
          ...(Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== '')) as Record<
            string,
            string
          >),
          cookie,
          'content-type': 'application/x-www-form-urlencoded',
        },
      })
      expect([headers, status]).toEqual([headers, 403])
      expect(text).toContain('came from another site')
    }
    expect(await site.events()).toEqual(before)
    const own = await send(site, `/posts/${post.slug}/delete`, {}, { cookie, origin: 'http://localhost' })
    expect([own.status, own.headers.location]).toEqual([303, '/?done=deleted'])
  })

  it('say before a post is deleted what goes with it, and nothing of what it does not have', async () => {
    const site = await at('sqlite')
    const { post } = await filled(site)
    const { cookie } = await signedIn(site)
    const said = async () => {
      const { text } = await site.http(`GET //posts/${post.slug}/delete`, { headers: { ...HTML, cookie } })
      return /This (?:also deletes [^.<]*|cannot be undone)\./.exec(text)?.[0]
    }
    expect(await said()).toBe('This also deletes 1 vote.')
    await send(site, `/posts/${post.slug}/comments`, { body: 'First' }, { cookie })
    expect(await said()).toBe('This also deletes its comments and 1 vote.')
    await send(site, `/posts/${post.slug}/unvote`, {}, { cookie })
    expect(await said()).toBe('This also deletes its comments.')
    const { slug } = (await site.call(posts.create, { title: 'Bare', contentMarkdown: 'x' })).post
    await send(site, `/posts/${slug}/unvote`, {}, { cookie })
    const { text } = await site.http(`GET //posts/${slug}/delete`, { headers: { ...HTML, cookie } })
    expect(text).toContain('This cannot be undone.')
    expect(text).not.toContain('also deletes')
  })

  it('lead to pages of this site only', async () => {
    const site = await at('sqlite')
    await site.owner()
    for (const redirect of [
      'https://evil.example/',
      '//evil.example/',
      '/\\evil.example',
      '\\/evil.example',
      '/\t/evil.example',
      'javascript:alert(1)',
    ])
      expect(
        (await send(site, '/login', { email: OWNER.email, password: OWNER.password, redirect })).headers.location,
      ).toBe('/')
    expect(
      (await send(site, '/login', { email: OWNER.email, password: OWNER.password, redirect: '/boards?page=2' })).headers
        .location,
    ).toBe('/boards?page=2')
  })
})

describe('the bytes of pages', () => {
  it('are compressed as the browser takes them, and cached for all of the same language', async () => {
    const site = await at('sqlite', { rerun: false })
    await filled(site)
    const server = await site.server()
    await server.ready()
    const get = (headers: Record<string, string>) =>
      inject((request, response) => void server.server.emit('request', request, response), {
        method: 'GET',
        url: '/',
        headers,
      })
    const plain = (await get({})).payload
    const br = await get({ 'accept-encoding': 'gzip, deflate, br, zstd' })
    const gzip = await get({ 'accept-encoding': 'gzip;q=0.8' })
    expect([br.headers['content-encoding'], gzip.headers['content-encoding']]).toEqual(['br', 'gzip'])
    expect(brotliDecompressSync(br.rawPayload).toString()).toBe(plain)
    expect(gunzipSync(gzip.rawPayload).toString()).toBe(plain)
    const handled = vi.spyOn(ResponseCache.prototype, 'open')
    await get({ 'accept-language': 'en-GB,en;q=0.9', cookie: 'other=1', 'accept-encoding': 'br' })
    expect(handled).not.toHaveBeenCalled()
    handled.mockRestore()
    expect((await get({ 'accept-language': 'de-AT,de;q=0.9,en;q=0.8' })).payload).toContain('<html lang="de"')
  })
})

it.each(LANGUAGES)('the catalogue has the texts, placeholders and plural forms of English: %s', (language) => {
  type Entry = string | Record<string, string>
  const read = (code: string) =>
    JSON.parse(readFileSync(`src/core/catalogue/${code}.json`, 'utf8')) as Record<string, Entry>
  const textsOf = (entry: Entry) => (typeof entry === 'string' ? [entry] : Object.values(entry))
  const placeholders = (entry: Entry) => [...new Set(textsOf(entry).flatMap((text) => text.match(/\{\w+\}/g) ?? []))].toSorted() // prettier-ignore
  const formsOf = (entry: Entry) => (typeof entry === 'string' ? [] : Object.keys(entry).toSorted())
  const [english, own] = [read('en'), read(language)]
  expect(Object.keys(own)).toEqual(Object.keys(english))
  const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions()
  for (const [key, entry] of Object.entries(english)) {
    const translated = own[key] ?? ''
    const forms = typeof entry === 'string' ? [] : pluralCategories.toSorted()
    // prettier-ignore
    expect([key, placeholders(translated), formsOf(translated)]).toEqual([key, placeholders(entry), forms])
    expect([key, textsOf(translated).filter((text) => text.trim() === '' || text !== text.trim())]).toEqual([key, []]) // prettier-ignore
  }
})

it('pages of accounts give one answer for known and unknown addresses, and take no common password', async () => {
  const site = await at('sqlite')
  await site.owner()
  const answer = async (path: string, fields: Record<string, string>) => {
    const { status, text, headers } = await send(site, path, fields)
    return [status, text.replaceAll(fields.email ?? '', 'ADDRESS'), headers.location]
  }
  const unknown = 'nobody@example.org'
  const wrong = await answer('/login', { email: OWNER.email, password: 'a wrong one' })
  expect(wrong).toEqual([403, expect.stringContaining('The address or the password is wrong. Check both.'), undefined])
  expect(await answer('/login', { email: unknown, password: 'a wrong one' })).toEqual(wrong)
  const sent = await answer('/password-reset', { email: OWNER.email })
  expect(sent[0]).toBe(303)
  expect(await answer('/password-reset', { email: unknown })).toEqual(sent)

  const joined = await send(site, '/join', { email: unknown, password: 'Password' })
  expect([joined.status, joined.text.includes('This password is easy to guess. Choose another one.')]).toEqual([422, true]) // prettier-ignore
  const { headers } = await send(site, '/login', { email: OWNER.email, password: OWNER.password })
  const change = { currentPassword: OWNER.password, password: 'password1' }
  expect((await send(site, '/settings/password', change, { cookie: cookieIn(headers) })).status).toBe(422)
  expect((await site.http('POST /auth/signup', { body: { email: unknown, password: 'password' } })).status).toBe(201)
  expect((await site.http('POST /auth/login', { body: { email: 'none@example.org', password: 'x' } })).status).toBe(404)
})

it('a setting of the owner changes the pages: title, colour, sign-up', async () => {
  const site = await at('sqlite')
  await filled(site)
  await site.call(settings.update, { title: '<b>Moon & "base"</b>', accentColor: 'ffee00', allowSignup: false })
  const { text } = await site.http('GET //')
  expect(text).toContain('&lt;b>Moon &amp; &quot;base&quot;&lt;/b>')
  expect(text).not.toContain('<b>Moon')
  expect(text).toContain('/assets/accent/ffee00.css')
  expect(text).not.toContain('href="/join"')
  expect((await site.http('GET //join')).text).toContain('does not accept new accounts')
  for (const [accent, text] of Object.entries({
    ffee00: '000000',
    '1f5fd6': 'ffffff',
    777777: '000000',
    '0a0a2a': 'ffffff',
  }))
    // prettier-ignore
    expect((await site.http(`GET //assets/accent/${accent}.css`)).text).toMatch(
      new RegExp(`^:root{--accent:light-dark\\(#[0-9a-f]{6},#[0-9a-f]{6}\\);--fill:#${accent};--on-fill:#${text}}$`),
    )
  expect((await site.http('GET //assets/accent/x.css')).status).toBe(404)
  await site.call(settings.update, { accentColor: DEFAULT_ACCENT.toUpperCase() })
  expect((await site.http('GET //')).text).not.toContain('/assets/accent/')
  const own = accentOf(DEFAULT_ACCENT)
  expect(readFileSync('src/web/assets/site.css', 'utf8')).toContain(`--accent: light-dark(#${own.light}, #${own.dark});\n  --fill: #${own.fill};`) // prettier-ignore
})

it('a path that nobody knows is a page for browsers, and JSON for programs', async () => {
  const site = await at('sqlite')
  await site.owner()
  const page = await site.http('GET //nowhere', { headers: HTML })
  expect([page.status, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
  expect(page.text).toContain('Page not found')
  expect((await site.http('GET //nowhere')).body).toMatchObject({ code: 'NOT_FOUND' })
  expect((await site.http('GET /nowhere', { headers: HTML })).body).toMatchObject({ code: 'NOT_FOUND' })
})

it('the team gets the list of a page as CSV, with its filters', async () => {
  const site = await at('sqlite')
  await site.owner()
  const mine = await signedIn(site)
  await site.call(boards.create, { name: 'Ideas' })
  await site.call(posts.create, { title: 'On a board', boardId: 'ideas' })
  await site.call(posts.create, { title: 'On none' })
  const html = { accept: 'text/html' }
  const { text } = await site.http('GET //?board=ideas', { headers: { ...html, ...mine } })
  const link = /href="(\/export\/posts[^"]*)"/.exec(text)?.[1] ?? ''
  expect(link).toBe('/export/posts?board=ideas&amp;kind=open&amp;kind=planned&amp;kind=active')
  const file = await site.http(`GET /${link.replaceAll('&amp;', '&')}`)
  expect([file.status, file.headers['content-disposition']]).toEqual([200, 'attachment; filename="posts.csv"'])
  expect(file.text.split('\n').slice(1)).toEqual([expect.stringMatching(/^1,On a board,Ideas,/), ''])
  expect((await site.http('GET //?board=ideas', { headers: html })).text).not.toContain('/export/posts')
  const none = await site.http('GET //export/posts?board=nothing', { headers: html })
  expect([none.status, none.headers['content-disposition']]).toEqual([400, undefined])
})

it('a list says how many posts its filter finds, and each part of it goes with one click', async () => {
  const site = await at('sqlite')
  await site.owner()
  const { board } = await site.call(boards.create, { name: 'Ideas', display: true })
  const { roadmap } = await site.call(roadmaps.create, { name: 'Planned', display: true })
  await site.call(posts.create, { title: 'Dark mode', boardId: 'ideas' })
  await site.call(posts.create, { title: 'Dark roast', boardId: 'ideas' })
  const chips = async (path: string) => {
    const { text } = await site.http(`GET //${path}`, { headers: HTML })
    const list = /<ul class="buttons active-filters".*?<\/ul>/s.exec(text)?.[0] ?? ''
    return {
      words: list
        .replaceAll(/<[^>]+>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
      to: [...list.matchAll(/href="([^"]*)"/g)].map(([, href]) => href?.replaceAll('&amp;', '&')),
    }
  }
  expect(await chips('')).toEqual({ words: '', to: [] })
  expect(await chips('?q=dark&board=ideas&sort=newest')).toEqual({
    words: '2 posts “dark” × Ideas × Clear all',
    to: ['/?board=ideas&sort=newest', '/?q=dark&sort=newest', '/'],
  })
  expect((await chips(`?board=${board.boardId}&roadmap=${roadmap.id}`)).words).toBe('Ideas × Planned × Clear all')
  expect((await chips('?q=light')).words).toBe('“light” × Clear all')
  expect((await chips('boards/ideas?q=mode')).to).toEqual(['/boards/ideas', '/boards/ideas'])
})

it('a board has one mark: the emoji of its name, or a square of its colour', async () => {
  const site = await at('sqlite')
  await site.owner()
  for (const name of ['💡 Ideas', '🇩🇪 Deutsch', 'Bugs', '1st things'])
    await site.call(boards.create, { name, display: true, description: `About ${name}` })
  const { text } = await site.http('GET //boards', { headers: HTML })
  const cards = [...text.matchAll(/<li><a href="\/boards\/.*?<\/li>/gs)].map(([card]) => card)
  expect(cards.map((card) => card.includes('class="swatch"'))).toEqual([false, false, true, true])
  expect(cards[2]).toContain('>About Bugs</bdi>')
})
