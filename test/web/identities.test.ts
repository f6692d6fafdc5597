import { describe, expect, it } from 'vitest'
import { insertIdentity } from '../../src/db/identities.js'
import { engines, makeSite, type Engine, type TestSite } from '../support/site.js'

const SITE = 'http://localhost'
const HTML = { accept: 'text/html' }
const EVE = { email: 'eve@example.org', password: 'a good password' }

type Sent = Awaited<ReturnType<TestSite['http']>>
const cookieIn = ({ headers }: Sent): string => [headers['set-cookie'] ?? []].flat().map((each) => String(each).split(';')[0]).join('; ') // prettier-ignore

async function world(engine: Engine, { password = true } = {}) {
  const site = await makeSite(engine, { siteUrl: SITE })
  await site.owner()
  const { userId, token } = await site.member([], EVE)
  if (!password) await site.db.updateTable('users').set({ password: null }).where('userId', '=', userId).execute()
  let cookie = `feedbackctl=${token}`
  const get = (path: string) => site.http(`GET /${path}`, { headers: { ...HTML, cookie } })
  const send = async (path: string, fields: Record<string, string> = {}) => {
    const sent = await site.http(`POST /${path}`, {
      body: new URLSearchParams(fields).toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'same-origin',
        ...HTML,
        cookie,
      },
    })
    if (cookieIn(sent) !== '') cookie = cookieIn(sent)
    return sent
  }
  const link = (identityId: string) => insertIdentity(site.db, { identityId, userId, provider: 'acme', subject: identityId, email: 'eve@acme.example', createdAt: '2026-03-02T10:00:00.000Z' }) // prettier-ignore
  return { site, userId, get, send, link }
}

/** Where the forms of a page are sent to. */
const formsIn = ({ text }: Sent): string[] =>
  Array.from(text.matchAll(/<form\b[^>]*action="([^"?]*)"/g), ([, path = '']) => path)

describe.each(engines)('the page of an account on %s', (engine) => {
  it('lists the ways to sign in, and removes one that is not the last', async () => {
    const { site, userId, get, send, link } = await world(engine)
    await site.db.deleteFrom('sessions').where('userId', '=', userId).execute()
    await send('/login', EVE)
    const first = await get('/settings')
    expect(first.text).toContain('Ways to sign in')
    expect(formsIn(first)).not.toContain('/settings/ways/password')
    await link('01990000-0000-7000-8000-000000000001')
    const second = await get('/settings')
    expect(second.text).toMatch(/acme.*eve@acme\.example.*not used yet/s)
    expect(formsIn(second).filter((path) => path.startsWith('/settings/ways'))).toEqual([
      '/settings/ways/password',
      '/settings/ways/01990000-0000-7000-8000-000000000001',
    ])
    const ids = () => site.db.selectFrom('sessions').select('sessionId').where('userId', '=', userId).execute()
    const before = await ids()
    const removed = await send('/settings/ways/password')
    expect([removed.status, removed.headers.location]).toEqual([303, '/settings?done=wayRemoved'])
    const third = await get('/settings?done=wayRemoved')
    expect(third.text).toContain('You can no longer sign in that way.')
    expect(third.text).not.toContain('name="currentPassword"')
    expect(formsIn(third)).toContain('/settings/password/link')
    expect(formsIn(third).filter((path) => path.startsWith('/settings/ways'))).toEqual([])
    expect(await ids()).toHaveLength(1)
    expect(await ids(), 'the session of a browser gets another id').not.toEqual(before)
    const last = await send('/settings/ways/01990000-0000-7000-8000-000000000001')
    expect([last.status, last.text]).toEqual([409, expect.stringContaining('This is your only way to sign in')])
  })

  it('asks for no password that is not there, and sends a link to choose one', async () => {
    const { site, get, send } = await world(engine, { password: false })
    const page = await get('/settings')
    expect(page.text).toContain('Your account has no password')
    expect(page.text).not.toContain('type="password"')
    const sent = await send('/settings/password/link')
    expect([sent.status, sent.headers.location]).toEqual([303, '/settings?done=mailSent'])
    const token = await site.mailedToken(EVE.email)
    const chosen = await send('/password-reset/confirm', { token, password: 'another of eve' })
    expect(chosen.headers.location).toBe('/login?done=passwordSet')
    await send('/login', { email: EVE.email, password: 'another of eve' })
    expect((await get('/settings')).text).toContain('name="currentPassword"')
  })

  it('is deleted with a link by mail where it has no password', async () => {
    const { site, userId, get, send } = await world(engine, { password: false })
    const page = await get('/settings/delete')
    expect(page.text).not.toContain('type="password"')
    expect(formsIn(page)).toContain('/settings/delete/link')
    expect((await send('/settings/delete/link')).headers.location).toBe('/settings/delete?done=mailSent')
    const token = await site.mailedToken(EVE.email)
    const opened = await get(`/settings/delete/?token=${token}`)
    expect(opened.text).toContain(`name="deletionToken" value="${token}"`)
    expect(opened.headers['cache-control']).toBe('no-store')
    expect((await get(`/settings/delete/?token=${'x'.repeat(43)}`)).text).toContain('/settings/delete')
    const broken = await send('/settings/delete', { deletionToken: 'x'.repeat(43), posts: 'keep' })
    expect(broken.status).toBe(404)
    expect((await site.db.selectFrom('users').select('userId').where('userId', '=', userId).execute()).length).toBe(1)
    const done = await send('/settings/delete', { deletionToken: token, posts: 'keep' })
    expect([done.status, done.headers.location]).toEqual([303, '/?done=accountDeleted'])
    expect(await site.db.selectFrom('users').select('userId').where('userId', '=', userId).execute()).toEqual([])
  })
})
