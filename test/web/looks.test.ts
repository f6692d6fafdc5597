import { generate } from 'otplib'
import { describe, expect, it } from 'vitest'
import { STATUS_KINDS } from '../../src/core/statuskinds.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as settings from '../../src/service/settings.js'
import * as users from '../../src/service/users.js'
import { serveSite, visit } from '../support/browser.js'
import { addBoards } from '../support/manyboards.js'
import { makeSite, OWNER, type TestSite } from '../support/site.js'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'

const at = () => makeSite('sqlite', { siteUrl: 'http://localhost' })

const send = (site: TestSite, path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  site.http(`POST /${path}`, {
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', ...headers },
  })

const signIn = async (site: TestSite, headers: Record<string, string> = {}) => {
  const { headers: sent } = await send(site, '/login', { email: OWNER.email, password: OWNER.password }, headers)
  return { cookie: String([sent['set-cookie']].flat()[0]).split(';')[0] ?? '' }
}

const get = async (site: TestSite, path: string, headers: Record<string, string> = {}) =>
  (await site.http(`GET /${path}`, { headers: { accept: 'text/html', ...headers } })).text

describe('boards to choose from', () => {
  it('are private ones too, for those who may see them', async () => {
    const site = await at()
    await site.owner()
    await site.call(boards.create, { name: 'Labs', display: false })
    await site.call(roadmaps.create, { name: 'Maybe', display: false })
    const owner = await signIn(site)
    for (const [path, name] of [
      ['/?status=all', '<option value="labs">'],
      ['/?status=all', '<option value="maybe">'],
      ['/boards', 'Labs'],
      ['/roadmaps', 'Maybe'],
      ['/posts/new', '<option value="labs">'],
    ] as const) {
      expect([path, (await get(site, path, owner)).includes(name)]).toEqual([path, true])
      expect([path, (await get(site, path)).includes(name)]).toEqual([path, false])
    }
  })

  it('are all of them up to 1,000; above that the first 100, and a way to the others', async () => {
    const site = await at()
    await site.owner()
    const offered = async (path: string) => {
      const text = await get(site, path)
      return [text.match(/<option value="board-\d+"/g)?.length, /Show all 1,001 boards|has 1,001 boards/.test(text)]
    }
    await addBoards(site, 0, 1000)
    for (const path of ['/?status=all', '/posts/new']) expect(await offered(path)).toEqual([1000, false])
    await addBoards(site, 1000, 1001)
    for (const path of ['/?status=all', '/posts/new']) expect(await offered(path)).toEqual([100, true])
    expect(await offered('/posts/new?board=board-1000')).toEqual([101, true])
  })
})

describe('what a page says', () => {
  it('is first of all that a form was refused: in its title', async () => {
    const site = await at()
    await site.owner()
    const titleOf = (text: string) => /<title>(.*)<\/title>/.exec(text)?.[1]
    expect(titleOf(await get(site, '/login'))).toBe('Sign in · Moonbase')
    const refused = await send(site, '/login', { email: OWNER.email, password: 'wrong' })
    expect(titleOf(refused.text)).toBe('Error: Sign in · Moonbase')
    const german = await send(site, '/login', { email: OWNER.email, password: 'wrong' }, { 'accept-language': 'de' })
    expect(titleOf(german.text)).toBe('Fehler: Anmelden · Moonbase')
  })

  it('is the description of the site in the language of the reader, until the owner writes another', async () => {
    const site = await at()
    await site.owner()
    expect(await get(site, '/')).toContain('Tell us what you miss')
    const german = await get(site, '/', { 'accept-language': 'de' })
    expect(german.match(/Sagen Sie uns, was Ihnen fehlt/g)).toHaveLength(3)
    expect(german).not.toContain('Tell us')
    await site.call(settings.update, { description: 'Our plans' })
    expect(await get(site, '/', { 'accept-language': 'de' })).toContain('Our plans')
  })

  it('is the browser and the system of a session, or what another program calls itself', async () => {
    const site = await at()
    await site.owner()
    await signIn(site, { 'user-agent': FIREFOX })
    await signIn(site, { 'user-agent': 'our-script/2' })
    const text = await get(site, '/settings', await signIn(site, { 'user-agent': '' }))
    expect(text).toContain('>Firefox on Linux</bdi>')
    expect(text).toContain('>our-script/2</bdi>')
    expect(text).toContain('>Unknown device</bdi>')
  })

  it('is when a session began, and when another was used last', async () => {
    const site = await at()
    await site.owner()
    const other = await signIn(site, { 'user-agent': FIREFOX })
    site.clock.now = new Date(site.clock.now.getTime() + 3 * 3600_000)
    await get(site, '/settings', other)
    const text = await get(site, '/settings', await signIn(site, { 'user-agent': 'our-script/2' }))
    const [own = '', firefox = ''] = ['our-script/2', 'Firefox'].map((name) => new RegExp(`<bdi>${name}.*?</li>`, 's').exec(text)?.[0]) // prettier-ignore
    expect(own).toMatch(/this device.*Signed in <time datetime="2026-03-02T13:/s)
    expect(own).not.toContain('Last seen')
    expect(firefox).toMatch(/Signed in <time datetime="2026-03-02T10:.*Last seen <time datetime="2026-03-02T13:00/s)
  })

  it('is whom a reply answers, where replies are not moved in any more', async () => {
    const site = await at()
    await site.owner()
    const { post } = await site.call(posts.create, { title: 'Dark mode' })
    let parent: string | undefined
    for (const body of ['zero', 'one', 'two', 'three', 'four']) {
      site.clock.now = new Date(site.clock.now.getTime() + 1000)
      const { activity } = await site.call(comments.create, { post_id: post.slug, body, ...(parent && { parent_id: parent }) }) // prettier-ignore
      parent = activity.id
    }
    const { activity } = await site.call(comments.list, { post_id: post.slug })
    const idOf = (body: string) => activity.find(({ comment }) => comment.body === body)?.id
    const text = await get(site, `/posts/${post.slug}`)
    const answers = Array.from(text.matchAll(/<a href="#comment-([\w-]+)">to \u2068Ada\u2069/g), ([, id]) => id)
    expect(answers).toEqual([idOf('two'), idOf('three')])
  })

  it('is how a post moved, in whole sentences of each language', async () => {
    const site = await at()
    await site.owner()
    for (const name of ['Planned', 'Done']) await site.call(roadmaps.create, { name, display: true })
    for (const name of ['Ideas', 'Bugs']) await site.call(boards.create, { name, display: true })
    const { post } = await site.call(posts.create, { title: 'Dark mode' })
    for (const change of [
      { roadmapId: 'planned' },
      { roadmapId: 'done' },
      { roadmapId: null },
      { boardId: 'ideas' },
      { boardId: 'bugs' },
    ]) {
      // prettier-ignore
      site.clock.now = new Date(site.clock.now.getTime() + 1000)
      await site.call(posts.update, { id: post.postId, partial: true, ...change })
    }
    const told = async (language: string) => {
      const text = await get(site, `/posts/${post.slug}`, { 'accept-language': language })
      const history = /<details class="history">(.*?)<\/details>/.exec(text)?.[1] ?? ''
      return Array.from(history.matchAll(/<span>(.*?)<\/span>/g), ([, line = '']) =>
        line.replaceAll(/<[^>]*>|[\u2068\u2069]/g, '').trim(),
      )
    }
    expect(await told('en')).toEqual([
      'Status set to Planned',
      'Status changed from Planned to Done',
      'Status Done removed',
      'Moved to Ideas',
      'Moved from Ideas to Bugs',
    ])
    expect(await told('de')).toEqual([
      'Status auf Planned gesetzt',
      'Status von Planned auf Done geändert',
      'Status Done entfernt',
      'Nach Ideas verschoben',
      'Von Ideas nach Bugs verschoben',
    ])
  })

  it('is where to get a new link, of one that does not work any more', async () => {
    const site = await at()
    await site.owner()
    const reset = await send(site, '/password-reset/confirm', { token: 'used', password: 'correct horse' })
    expect([reset.status, reset.text.includes('This link no longer works')]).toEqual([401, true])
    expect(reset.text).toContain('href="/password-reset">Send a new link')
    for (const [path, words] of [
      ['/password-reset/confirm', 'href="/password-reset">Send a new link'],
      ['/email-verify', 'href="/settings">Send the mail again'],
      ['/login/link', 'href="/login">Sign in'],
    ] as const) {
      const text = await get(site, `${path}?token=used`)
      expect([path, text.includes('This link no longer works'), text.includes(words)]).toEqual([path, true, true])
      expect(text, 'no form to fill in first').not.toContain('name="token"')
    }
    const token = await site.mailedToken(OWNER.email)
    for (let look = 0; look < 2; look++)
      expect(await get(site, `/email-verify?token=${token}`), 'to look uses it not').toContain(`value="${token}"`)
    const verified = await send(site, '/email-verify', { token: 'used' })
    expect(verified.text).toContain('href="/settings">Send the mail again')
  })

  it('is at its field what is wrong with it, with a way there; codes and passwords are not repeated', async () => {
    const site = await at()
    await site.owner()
    const owner = await signIn(site)
    const wrong = { currentPassword: 'wrong', password: 'another good password' }
    const { text } = await send(site, '/settings/password', wrong, owner)
    expect(text).toContain('<a href="#field-currentPassword">The password is wrong.</a>')
    expect(text).toContain('id="field-currentPassword-wrong"')
    expect(text).not.toContain('id="field-password-wrong"')
    expect(text).not.toContain('another good password')
  })

  it('is no error where a code is asked for first', async () => {
    const site = await at()
    await site.owner()
    const owner = await signIn(site)
    const { text: begun } = await send(site, '/settings/totp', {}, owner)
    const secret = /<code>([^<]+)/.exec(begun)?.[1]?.replaceAll(' ', '') ?? ''
    await send(site, '/settings/totp/enable', { code: await generate({ secret, epoch: site.clock.now.getTime() / 1000 }) }, owner) // prettier-ignore
    const fields = { email: OWNER.email, password: OWNER.password }
    const { text: asked } = await send(site, '/login', fields)
    expect(asked).not.toContain('class="problem"')
    expect(asked).toMatch(/<input[^>]* id="field-code"[^>]* autofocus/)
    expect(asked).not.toContain('field-password')
    const passwordToken = /name="passwordToken" value="([^"]+)"/.exec(asked)?.[1] ?? ''
    const { text: refused } = await send(site, '/login', { email: OWNER.email, passwordToken, code: '000000' })
    expect(refused).toContain('<a href="#field-code">The code is wrong')
    expect(refused).not.toContain('value="000000"')
    expect(refused).not.toContain('field-password')
  })

  it('is how long a locked account waits', async () => {
    const site = await makeSite('sqlite', { siteUrl: 'http://localhost', rates: { 'sign-in': { points: 1, seconds: 900 } } }) // prettier-ignore
    await site.owner()
    const lock = () => send(site, '/login', { email: OWNER.email, password: 'wrong' })
    for (let count = 0; count < 10; count++) expect((await lock()).status).toBe(403)
    const { status, text } = await lock()
    expect([status, text.includes('Too many attempts. Try again in 15 minutes.')]).toEqual([429, true])
  })

  it('is that an address is confirmed, to who opens the link of the mail again', async () => {
    const site = await at()
    await site.owner()
    const token = await site.mailedToken(OWNER.email)
    const { cookie } = await signIn(site)
    expect((await send(site, '/email-verify', { token }, { cookie })).headers.location).toBe('/?done=verified')
    expect((await send(site, '/email-verify', { token }, { cookie })).text).toContain(
      '>Your address is confirmed.</h1>',
    )
    expect((await send(site, '/email-verify', { token })).text).toContain('there is nothing more to do')
  })

  it('is on a missing page a search, and on a form of another site no way to sign in', async () => {
    const site = await at()
    await site.owner()
    const main = (text: string) => text.slice(text.indexOf('<main'))
    const missing = main(await get(site, '/nowhere'))
    expect(missing).toContain('action="/search"')
    expect(missing).toContain('Go to the start page')
    const { status, text } = await send(site, '/login', {}, { 'sec-fetch-site': 'cross-site' })
    expect([status, main(text).includes('Sign in')]).toEqual([403, false])
    expect(await get(site, '/?status=all')).toContain('a vote counts half as much after a week')
  })

  it('is how long a password must be', async () => {
    const site = await at()
    await site.owner()
    const { text } = await send(site, '/join', { email: 'grace@example.org', password: 'short' })
    expect(text).toContain('href="#field-password">Enter a password of 8 to 256 characters.')
  })

  it('is a way to write what a filter does not find', async () => {
    const site = await at()
    await site.owner()
    await site.call(boards.create, { name: 'Ideas', display: true })
    await site.call(roadmaps.create, { name: 'Planned', display: true })
    for (const [path, write] of [
      ['/?q=night', 'title=night'],
      ['/?q=night&board=ideas', 'title=night&amp;board=ideas'],
      ['/boards/ideas?q=night', 'title=night&amp;board=ideas'],
      ['/roadmaps/planned?q=night', 'title=night'],
    ] as const)
      expect([path, (await get(site, path)).includes(`href="/posts/new?${write}"`)]).toEqual([path, true])
  })

  it('is nothing of a site that is not there yet', async () => {
    const site = await at()
    const texts = [await get(site, '/setup/welcome'), await get(site, '/setup/create-account'), (await send(site, '/setup/create-account', {})).text] // prettier-ignore
    for (const text of texts) {
      expect(text).toContain('English')
      for (const other of ['/login', '/join', '/search', '/boards', '/feed.atom'])
        expect([other, text.includes(`="${other}`)]).toEqual([other, false])
    }
    await site.owner()
    expect(await get(site, '/setup/create-board', await signIn(site))).not.toContain('="/search')
  })

  it('is written in feeds as people write it', async () => {
    const site = await at()
    await site.owner()
    await site.call(posts.create, { title: 'Read/write & <more> "now"' })
    const text = await get(site, '/feed.atom')
    expect(text).toContain('Read/write &#38; &#60;more&#62; &#34;now&#34;')
    expect(text).toContain('<id>http://localhost/</id>')
  })
})

it('long lines of code are whole on paper', async () => {
  const site = await serveSite('sqlite')
  await site.owner()
  const { post } = await site.call(posts.create, { title: 'Logs', contentMarkdown: `\`\`\`\n${'word '.repeat(200)}\n\`\`\`` }) // prettier-ignore
  const { page } = await visit()
  await page.goto(`${site.url}/posts/${post.slug}`)
  const isCut = () => page.locator('.prose pre').evaluate((pre) => pre.scrollWidth > pre.clientWidth)
  expect(await isCut()).toBe(true)
  await page.emulateMedia({ media: 'print' })
  expect(await isCut()).toBe(false)
})

describe('the page of a post', () => {
  it('has its voters and actions beside its text where there is room, and below it on a phone', async () => {
    const site = await serveSite('sqlite')
    const { url } = site
    await site.owner()
    await site.call(boards.create, { name: 'Ideas', display: true })
    const { post } = await site.call(posts.create, { title: 'Dark mode', contentMarkdown: 'At night.', boardId: 'ideas' }) // prettier-ignore
    const { page } = await visit()
    const boxes = async (width: number) => {
      await page.setViewportSize({ width, height: 900 })
      const [text, side, talk] = await Promise.all(
        ['.text', '.side', '.talk'].map((part) => page.locator(part).boundingBox()),
      )
      return { text: text!, side: side!, talk: talk! }
    }
    await page.goto(`${url}/posts/${post.slug}`)
    const [wide, narrow] = [await boxes(1280), await boxes(390)]
    expect([wide.side.x > wide.text.x + wide.text.width, wide.side.y === wide.text.y, wide.talk.x === wide.text.x]).toEqual([true, true, true]) // prettier-ignore
    expect([narrow.side.x === narrow.text.x, narrow.side.y > narrow.text.y, narrow.talk.y > narrow.side.y]).toEqual([true, true, true]) // prettier-ignore
    const crumbs = page.getByRole('navigation', { name: 'You are here' })
    expect((await crumbs.innerText()).split(/\s+/)).toEqual(['Ideas', `#${post.number}`])
    await crumbs.getByRole('link', { name: 'Ideas' }).click()
    await page.waitForURL(`${url}/boards/ideas`)
  })

  it('marks the comments of its author, but none of deleted people', async () => {
    const site = await at()
    const owner = await site.owner()
    const { token, userId } = await site.member()
    const { post } = (await site.http('POST /posts', { token, body: { title: 'Dark mode' } })).body
    const write = (as: string, body: string) => site.http(`POST /posts/${post.slug}/comments`, { token: as, body: { body } }) // prettier-ignore
    for (const [as, body] of [[token, 'mine'], [owner, 'another']] as const) expect((await write(as, body)).status).toBe(201) // prettier-ignore
    const marked = async () =>
      Array.from((await get(site, `/posts/${post.slug}`)).matchAll(/<li id="comment-.*?<\/li>/gs), ([comment]) => /another|mine/.exec(comment)?.[0] + (comment.includes('>Author</span>') ? ': Author' : '')) // prettier-ignore
    expect(await marked()).toEqual(['mine: Author', 'another'])
    await site.call(users.remove, { user: userId })
    expect((await marked()).filter((comment) => comment.includes('Author'))).toEqual([])
  })
})

it('a status shows its progress by its shape, in lists and on the page of its post', async () => {
  const site = await at()
  await site.owner()
  for (const kind of STATUS_KINDS) {
    await site.call(roadmaps.create, { name: `Kind ${kind}`, display: true, kind })
    const { post } = await site.call(posts.create, { title: `Post ${kind}` })
    await site.call(posts.update, { id: post.postId, partial: true, roadmapId: `kind-${kind}` })
  }
  const chip = /<a class="chip status"[^>]*>(<svg.*?<\/svg>)<bdi>Kind (\w+)<\/bdi>/gs
  const withoutColor = (svg = '') => svg.replaceAll(/#[0-9a-f]{6}/g, '#')
  const shapes = new Map(Array.from((await get(site, '/?status=all')).matchAll(chip), ([, svg, kind]) => [kind, withoutColor(svg)])) // prettier-ignore
  expect(new Set(shapes.keys())).toEqual(new Set(STATUS_KINDS))
  expect(new Set(shapes.values()).size).toBe(STATUS_KINDS.length)
  const { posts: found } = await site.call(posts.list, { roadmapId: 'kind-done' })
  const [[, svg] = []] = Array.from((await get(site, `/posts/${found[0]?.slug}`)).matchAll(chip))
  expect(withoutColor(svg)).toBe(shapes.get('done'))
})
