import { describe, expect, it } from 'vitest'
import { fieldsOf } from '../../src/core/fields.js'
import * as boards from '../../src/service/boards.js'
import * as posts from '../../src/service/posts.js'
import type { AnyOperation } from '../../src/service/lib/operation.js'
import { routes } from '../../src/web/dashboard/routes.js'
import { PENDING, pendingIn } from '../../src/web/kit/pending.js'
import { engines, makeSite, OWNER, type TestSite } from '../support/site.js'

const SITE = 'http://localhost'

const send = async (site: TestSite, path: string, form: Record<string, string>, token?: string) => {
  const { status, text, headers } = await site.http(`POST /${path}`, {
    headers: { accept: 'text/html', origin: SITE, 'content-type': 'application/x-www-form-urlencoded', ...(token && { cookie: `feedbackctl=${token}` }) }, // prettier-ignore
    body: new URLSearchParams(form).toString(),
  })
  return { status, text, to: String(headers.location) }
}

const ENTITIES: Record<string, string> = { '&quot;': '"', '&amp;': '&', '&lt;': '<', '&gt;': '>', '&#39;': "'" }

/** The hidden fields of a page. */
const hidden = (text: string): Record<string, string> =>
  Object.fromEntries(
    Array.from(text.matchAll(/<input[^>]*type="hidden"[^>]*>/g), ([tag]) => {
      const valueOf = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(tag)?.[1] ?? ''
      return [valueOf('name'), valueOf('value').replaceAll(/&[#\w]+;/g, (entity) => ENTITIES[entity] ?? entity)]
    }),
  )

/** Forms that act on the account of whoever signs in, so that none of them waits. */
const OWN_ACCOUNT = ['/dashboard/settings/keys', '/dashboard/settings/keys/:key/revoke']

describe.each(engines)('the forms of the dashboard on %s', (engine) => {
  it('wait while whoever sends them signs in, each with what was typed', async () => {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
    await site.owner()
    await site.call(boards.create, { name: 'Ideas' })
    await site.call(posts.create, { title: 'Dark mode' })
    const wrong: string[] = []
    for (const [route, load] of Object.entries(routes.actions)) {
      const act = await load()
      if (act.operation === null) {
        // A file does not wait
        const { text, to } = await send(site, route, { product: 'csv' }, 'an ended session')
        if (!to?.startsWith('/login') && !text.includes('name="password"'))
          wrong.push(`${route} ${to}: ${text.slice(0, 500)}`)
        continue
      }
      const operation = act.operation as unknown as AnyOperation
      const typed = Object.fromEntries([...fieldsOf(operation.input).map(({ name }) => name), 'q'].map((name) => [name, `Typed as ${name}`])) // prettier-ignore
      const form = { ...typed, checked: 'yes', chosen: 'x', verb: 'keep' }
      const { text, to } = await send(site, route.replaceAll(/:\w+/g, 'ideas'), form, 'an ended session')
      if (OWN_ACCOUNT.includes(route)) {
        if (to !== `/login?redirect=${encodeURIComponent(route.replace(':key', 'ideas'))}`) wrong.push(`${route} ${to}`)
        continue
      }
      const waits = pendingIn(hidden(text))
      if (waits?.route !== route || Object.entries(typed).some(([name, value]) => waits.fields[name] !== value)) wrong.push(`${route}: ${JSON.stringify(waits)}`) // prettier-ignore
    }
    expect(wrong).toEqual([])
  })

  it('are done after signing in, and keep what was typed through a mistake on the way', async () => {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
    await site.owner()
    const first = await send(site, '/dashboard/boards/new', { name: '💡 Ideas & "more"', url: '', display: 'true' })
    expect(first.text).toContain('name="password"')
    const credentials = { email: OWNER.email, password: OWNER.password }
    const mistaken = await send(site, '/login', { ...hidden(first.text), ...credentials, password: 'wrong' })
    expect(hidden(mistaken.text)[PENDING.route]).toBe('/dashboard/boards/new')
    const done = await send(site, '/login', { ...hidden(mistaken.text), ...credentials })
    expect(done.to).toBe('/dashboard/boards?done=boardCreated')
    expect((await site.call(boards.list, {})).boards).toMatchObject([{ name: '💡 Ideas & "more"' }])
  })

  it('that others would see are refused until an address is confirmed; all others work', async () => {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {}, unverified: 'read' })
    await site.owner()
    const { post } = await site.call(posts.create, { title: 'Dark mode' })
    const { token, userId } = await site.member(['dashboard:read', 'post:update', 'post:destroy', 'board:create', 'board:read']) // prettier-ignore
    await site.db.updateTable('users').set({ isVerified: 0 }).where('userId', '=', userId).execute()
    const chosen = `${post.postId} ${post.updatedAt}`
    const decided = await send(site, '/dashboard', { chosen, verb: 'spam' }, token)
    expect(decided.status).toBe(403)
    expect(await site.call(posts.show, { id: post.postId }), 'nothing was done').not.toMatchObject({ post: { is_spam: true } }) // prettier-ignore
    const made = await send(site, '/dashboard/boards/new', { name: 'Ideas', display: 'true' }, token)
    expect(made.to).toBe('/dashboard/boards?done=boardCreated')
  })
})
