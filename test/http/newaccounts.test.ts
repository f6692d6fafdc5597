import { describe, expect, it } from 'vitest'
import type { Permission } from '../../src/core/permissions.js'
import { buildServer } from '../../src/http/server.js'
import { operations } from '../../src/service/index.js'
import { Limits } from '../../src/service/lib/limits.js'
import * as posts from '../../src/service/posts.js'
import * as users from '../../src/service/users.js'
import { cleanup, engines, httpOf, makeSite, type Engine, type TestSite } from '../support/site.js'

const HOUR = 3600
const TWO = { points: 2, seconds: HOUR }
const RATES = { posts: TWO, comments: TWO, edits: TWO, reports: TWO }
const PASSWORD = 'a long password'

async function makeLimited(engine: Engine, options: { unverified?: 'read' } = {}) {
  const site = await makeSite(engine, { rates: RATES, newFor: 24 * HOUR, siteUrl: 'http://localhost', ...options })
  const owner = await site.owner()
  const { post } = await site.call(posts.create, { title: 'First' })
  return { site, owner, post }
}

const later = (site: TestSite, hours: number) =>
  void (site.clock.now = new Date(site.clock.now.getTime() + hours * HOUR * 1000))

/** The outcomes of the same write, three times. */
async function thrice(
  site: TestSite,
  request: string,
  token: string,
  body: object,
  http = site.http,
): Promise<(number | string)[]> {
  const outcomes: (number | string)[] = []
  for (let time = 0; time < 3; time++) {
    const { status, body: answer } = await http(request, { token, body })
    outcomes.push(answer.code ?? status)
  }
  return outcomes
}

describe.each(engines)('new accounts on %s', (engine) => {
  it('write so many posts, comments and reports, and then wait', async () => {
    const { site, owner, post } = await makeLimited(engine)
    const [eve, bob] = [await site.member(), await site.member()]
    const writes = [
      ['POST /posts', { title: 'New' }, 201],
      [`POST /posts/${post.slug}/comments`, { body: 'Yes' }, 201],
      [`POST /posts/${post.slug}/report`, { reason: 'why' }, 200],
    ] as const
    for (const [request, body, done] of writes) {
      expect((await site.http(request, { token: eve.token, body: { title: 5 } })).status).toBe(400) // does not count
      const dry = { 'feedbackctl-dry-run': '1' }
      expect((await site.http(request, { token: eve.token, body, headers: dry })).status).toBe(done) // counts by itself
      expect(await thrice(site, request, eve.token, body)).toEqual([done, done, 'RATE_LIMITED'])
      expect((await site.http(request, { token: eve.token, body, headers: dry })).status).toBe(429)
      expect(await thrice(site, request, owner, body)).toEqual([done, done, done])
      expect((await site.http(request, { token: bob.token, body })).status).toBe(done)
    }
    later(site, 0.5)
    const refused = await site.http('POST /posts', { token: eve.token, body: { title: 'New' } })
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1800'])
    expect(refused.body.message).toBe('You have reached the limit of posts for new accounts. Try again in 30 minutes.')
    later(site, 0.5)
    expect(await thrice(site, 'POST /posts', eve.token, { title: 'New' })).toEqual([201, 201, 'RATE_LIMITED'])
  })

  it('try as much as they may write, counted by itself', async () => {
    const { site, owner } = await makeLimited(engine)
    const { token } = await site.member()
    const trial = (whose: string) =>
      site.http('POST /posts', { token: whose, body: { title: 'New' }, headers: { 'feedbackctl-dry-run': '1' } })
    const codes = []
    for (let time = 0; time < 3; time++) codes.push((await trial(token)).status)
    expect(codes).toEqual([201, 201, 429])
    expect(await thrice(site, 'POST /posts', token, { title: 'New' })).toEqual([201, 201, 'RATE_LIMITED'])
    for (let time = 0; time < 3; time++) expect((await trial(owner)).status).toBe(201)
    later(site, 1)
    expect((await trial(token)).status).toBe(201)
  })

  it('change the texts of posts and comments so many times, whichever they are', async () => {
    const { site, owner, post } = await makeLimited(engine)
    const [eve, bob] = [await site.member(), await site.member()]
    const thread = `/posts/${post.slug}/comments`
    const own = async (token: string) => {
      const { postId: id } = (await site.http('POST /posts', { token, body: { title: 'Mine' } })).body.post
      const { activity } = (await site.http(`POST ${thread}`, { token, body: { body: 'Yes' } })).body
      const edit = (title: string) => site.http('PATCH /posts', { token, body: { id, title } })
      const reword = (body: string) => site.http(`PUT ${thread}/${activity.comment.id}`, { token, body: { body } })
      return { edit, reword }
    }
    const { edit, reword } = await own(eve.token)
    expect((await edit('')).status).toBe(400) // does not count
    expect([(await edit('One')).status, (await reword('@ada')).status]).toEqual([200, 200])
    const refused = [await edit('Three'), await reword('@bob')]
    const message = 'You have reached the limit of edits for new accounts. Try again in 60 minutes.'
    expect(refused.map(({ status, body }) => [status, body.message])).toEqual([[429, message], [429, message]]) // prettier-ignore
    for (const token of [owner, bob.token]) expect((await (await own(token)).edit('One')).status).toBe(200)
    later(site, 1)
    expect((await reword('@bob')).status).toBe(200)
  })

  it('are those of a day, and those without a confirmed address, but none of the team, whatever its key permits', async () => {
    const { site } = await makeLimited(engine)
    const write = (token: string) => thrice(site, 'POST /posts', token, { title: 'New' })
    const [young, unconfirmed, old] = [await site.member(), await site.member(), await site.member()]
    const moderator = await site.member(['post:destroy'])
    const { body } = await site.http('POST /keys', { token: moderator.token, body: { name: 'Import', permissions: ['post:create'] satisfies Permission[] } }) // prettier-ignore
    for (const { userId } of [young, old]) await site.call(users.update, { user: userId, isVerified: true })
    expect(await write(moderator.token)).toEqual([201, 201, 201])
    expect(await write(body.token)).toEqual([201, 201, 201])
    expect(await write(young.token)).toEqual([201, 201, 'RATE_LIMITED'])
    later(site, 25)
    expect(await write(old.token)).toEqual([201, 201, 201])
    expect(await write(unconfirmed.token)).toEqual([201, 201, 'RATE_LIMITED'])
  })

  it('are counted together by all servers on a database', async () => {
    const { site } = await makeLimited(engine)
    const eve = await site.member()
    const parts = { ...site.base, ping: async () => {}, limits: new Limits(RATES) }
    const other = await buildServer(operations, parts, { level: 'silent', stream: { write: () => {} } }, {})
    cleanup(() => other.close())
    expect(await thrice(site, 'POST /posts', eve.token, { title: 'New' })).toEqual([201, 201, 'RATE_LIMITED'])
    const there = httpOf(other)
    expect((await there('POST /posts', { token: eve.token, body: { title: 'New' } })).status).toBe(429)
  })

  it('have the limits that the site sets, before those of the server, which an empty text brings back', async () => {
    const { site, owner, post } = await makeLimited(engine)
    const token = async () => (await site.member()).token
    const wrote = async (whose: string) => thrice(site, 'POST /posts', whose, { title: 'New' })
    const set = (body: object) => site.http('PATCH /settings/site', { token: owner, body })
    expect((await set({ limitPosts: ' 1 / 1H ', limitComments: 'off' })).body.settings).toMatchObject({ limitPosts: '1/1h', limitComments: 'off', limitEdits: null }) // prettier-ignore
    const eve = await token()
    expect(await wrote(eve)).toEqual([201, 'RATE_LIMITED', 'RATE_LIMITED'])
    expect(await thrice(site, `POST /posts/${post.slug}/comments`, eve, { body: 'Yes' })).toEqual([201, 201, 201])
    later(site, 0.5)
    expect(await wrote(eve)).toEqual(['RATE_LIMITED', 'RATE_LIMITED', 'RATE_LIMITED'])
    later(site, 0.5)
    expect(await wrote(eve)).toEqual([201, 'RATE_LIMITED', 'RATE_LIMITED'])
    await set({ newFor: 'off' })
    expect(await wrote(await token())).toEqual([201, 201, 201])
    await set({ newFor: '2h' })
    const bob = await site.member()
    await site.call(users.update, { user: bob.userId, isVerified: true })
    expect(await wrote(bob.token)).toEqual([201, 'RATE_LIMITED', 'RATE_LIMITED'])
    later(site, 2)
    expect(await wrote(bob.token)).toEqual([201, 201, 201])

    const { body } = await site.http('GET /settings/limits', { token: owner })
    const limit = (name: string, own: string | null, configured: string) => ({ name, applies: own ?? configured, site: own, configured }) // prettier-ignore
    expect(body.limits).toEqual([
      limit('newFor', '2h', '1d'),
      limit('limitPosts', '1/1h', '2/1h'),
      limit('limitComments', 'off', '2/1h'),
      limit('limitEdits', null, '2/1h'),
      limit('limitReports', null, '2/1h'),
    ])
    await set({ newFor: '', limitPosts: '' })
    expect(await wrote(await token())).toEqual([201, 201, 'RATE_LIMITED'])
  })

  it('cannot be limited by what is no limit', async () => {
    const { site, owner } = await makeLimited(engine)
    for (const [field, code, texts] of [
      ['newFor', 'DURATION_INVALID', ['0d', '1', '367d', '1/1h', 'never', '-1d', '١d']],
      [
        'limitPosts',
        'RATE_INVALID',
        ['20', '5 0/1h', '0/1h', '1/2d', '1/1w', '1/h1', '-1/1h', '9999999999/1h', 'on', '١/1h'],
      ],
    ] as const)
      for (const text of texts) {
        const { status, body } = await site.http('PATCH /settings/site', { token: owner, body: { [field]: text } })
        expect([text, status, body.errors?.[0]?.field, body.errors?.[0]?.code]).toEqual([text, 400, field, code])
      }
  })

  it('are limited by the page of settings, which shows what the server says', async () => {
    const { site } = await makeLimited(engine)
    const cookie = await signedInAs(site, 'admin@example.org', ['dashboard:read', 'settings:read', 'settings:update'])
    const page = async () => (await site.http('GET //dashboard/settings/general', { headers: { accept: 'text/html', cookie } })).text // prettier-ignore
    expect(await page()).toMatch(/id="field-limitPosts-hint"[^>]*>Empty: 2\/1h, as the server is configured\.</)
    const form = { title: 'Moonbase', newFor: '3d', limitPosts: '5/1d', limitReports: 'off' }
    const save = (fields: Record<string, string>) => send(site, '/dashboard/settings/general', fields, cookie)
    const wrong = await save({ ...form, limitPosts: 'five' })
    expect([wrong.status, wrong.text.includes('Write a number and a time of at most 24 hours')]).toEqual([422, true])
    expect(wrong.text).toMatch(/id="field-limitPosts"[^>]*aria-invalid="true"/)
    expect((await save(form)).status).toBe(303)
    expect((await site.http('GET /settings/site')).body.settings).toMatchObject({ newFor: '3d', limitPosts: '5/1d', limitComments: null, limitReports: 'off' }) // prettier-ignore
    expect(await page()).toMatch(/value="5\/1d" id="field-limitPosts"/)
    expect((await save({ title: 'Moonbase' })).status).toBe(303) // a form that is older than the fields leaves them
    expect((await site.http('GET /settings/site')).body.settings.limitPosts).toBe('5/1d')
  })

  it('read above the fields of a form that it is refused now, before they write', async () => {
    const { site, post } = await makeLimited(engine)
    const cookie = await signedIn(site, 'eve@example.org')
    const forms = ['/posts/new', `/posts/${post.slug}`, `/posts/${post.slug}/report`]
    const notes = async () => Promise.all(forms.map((path) => noteOn(site, path, cookie)))
    expect(await notes()).toEqual([undefined, undefined, undefined])
    const fields = [{ title: 'New', checked: 'yes' }, { body: 'Yes' }, { reason: '' }]
    const targets = ['/posts/new', `/posts/${post.slug}/comments`, `/posts/${post.slug}/report`]
    for (const [index, path] of targets.entries())
      for (let time = 0; time < 2; time++)
        expect((await send(site, path, fields[index] ?? {}, cookie)).status).toBe(303)
    later(site, 0.5)
    const text = 'You have reached the limit for new accounts. You can write again in 30 minutes.'
    expect(await notes()).toEqual([text, text, text])

    const refused = await send(site, '/posts/new', { title: 'Third', checked: 'yes' }, cookie)
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1800'])
    expect(refused.text.match(new RegExp(text, 'g'))).toHaveLength(1)
    expect(refused.text).toContain('value="Third"')
    const other = await signedIn(site, 'bob@example.org')
    expect(await noteOn(site, '/posts/new', other)).toBeUndefined()
    later(site, 0.5)
    expect(await notes()).toEqual([undefined, undefined, undefined])
  })

  it('read the same where they may not write before their address is confirmed, or at all', async () => {
    const { site, post } = await makeLimited(engine, { unverified: 'read' })
    const cookie = await signedIn(site, 'eve@example.org')
    const text = 'Confirm your e-mail address first: open the link in the mail that we sent you. Send the mail again'
    for (const path of ['/posts/new', `/posts/${post.slug}`, `/posts/${post.slug}/report`]) {
      expect([path, await noteOn(site, path, cookie)]).toEqual([path, text])
      expect(await noteOn(site, path)).toBeUndefined()
    }
    await site.call(users.update, { user: 'eve@example.org', isVerified: true })
    expect(await noteOn(site, '/posts/new', cookie)).toBeUndefined()
    await site.db.deleteFrom('role_permissions').where('permission', '=', 'post:create').execute()
    expect(await noteOn(site, '/posts/new', cookie)).toBe('Your account does not have permission to do this.')
  })
})

const send = (site: TestSite, path: string, fields: Record<string, string>, cookie?: string) =>
  site.http(`POST /${path}`, {
    body: new URLSearchParams(fields).toString(),
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
      ...(cookie !== undefined && { cookie }),
    },
  })

const signedIn = (site: TestSite, email: string) => signedInAs(site, email, [])

async function signedInAs(site: TestSite, email: string, permissions: Permission[]): Promise<string> {
  await site.member(permissions, { email, password: PASSWORD })
  const { headers } = await send(site, '/login', { email, password: PASSWORD })
  return String([headers['set-cookie']].flat()[0]).split(';')[0] ?? ''
}

/** The text above the fields. */
async function noteOn(site: TestSite, path: string, cookie?: string): Promise<string | undefined> {
  const { text } = await site.http(`GET /${path}`, { headers: { accept: 'text/html', ...(cookie !== undefined && { cookie }) } }) // prettier-ignore
  return /<p class="note" role="note">(.*?)<\/p>/s.exec(text)?.[1]?.replaceAll(/<[^>]*>/g, '')
}
