import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { engines, makeSite, OWNER } from '../support/site.js'

const PAGES = ['/email-verify', '/password-reset/confirm'] as const
const hashOf = (text = '') => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

describe.each(engines)('the pages of links in mails on %s', (engine) => {
  it('are HTML at URLs with and without a trailing slash, in any letter case, and are never stored', async () => {
    const site = await makeSite(engine)
    for (const page of PAGES) {
      for (const url of [page, `${page}/`, `${page}/?token=x`, page.toUpperCase()]) {
        const { status, headers, text } = await site.http(`GET /${url}`)
        expect([url, status]).toEqual([url, 200])
        expect(headers).toMatchObject({
          'content-type': 'text/html; charset=utf-8',
          'referrer-policy': 'no-referrer',
          'cache-control': 'no-store',
        })
        expect(text).toMatch(/^<!doctype html>\n<html lang="en">/)
      }
      expect((await site.http(`HEAD /${page}/`)).status).toBe(200)
    }
  })

  it('allow only their own script and style', async () => {
    const site = await makeSite(engine)
    for (const page of PAGES) {
      const { headers, text } = await site.http(`GET /${page}/`)
      const policy = String(headers['content-security-policy']).split('; ')
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("form-action 'none'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).toContain(`script-src ${hashOf(/<script>(.*)<\/script>/s.exec(text)?.[1])}`)
      expect(policy).toContain(`style-src ${hashOf(/<style>(.*)<\/style>/s.exec(text)?.[1])}`)
      expect(text.match(/<script/g)).toHaveLength(1)
      expect(text).not.toMatch(/ (style|on\w+)=|https?:\/\//)
    }
  })

  it('escape the title of the site, and never contain the token', async () => {
    const site = await makeSite(engine)
    await site.db.updateTable('settings').set({ title: '<script>alert("1")</script> & Söhne' }).execute()
    for (const page of PAGES) {
      const { text } = await site.http(`GET /${page}/?token=%3Cscript%3Eabc`)
      expect(text).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;&#x2F;script&gt; &amp; Söhne')
      expect(text).not.toContain('abc')
    }
  })

  it('have a label for every field, a live region for results, and a hint for browsers without JavaScript', async () => {
    const site = await makeSite(engine)
    const { text } = await site.http('GET //password-reset/confirm/')
    const ids = [...text.matchAll(/<input id="(\w+)" type="password" autocomplete="new-password"/g)].map(([, id]) => id)
    expect(ids).toHaveLength(2)
    for (const id of ids) expect(text).toContain(`<label for="${id}">`)
    for (const page of PAGES) expect((await site.http(`GET /${page}`)).text).toMatch(/aria-live="polite"[^]*<noscript>/)
  })

  it('change nothing when a mail scanner loads them', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const token = await site.mailedToken(OWNER.email)
    for (const page of PAGES) await site.http(`GET /${page}/?token=${token}`)
    expect(await site.db.selectFrom('users').select('isVerified').execute()).toEqual([{ isVerified: 0 }])
    expect((await site.http('POST /auth/email/validate', { body: { token } })).status).toBe(200)
  })
})

it('no token in a URL is logged, wherever it is', async () => {
  const site = await makeSite('sqlite')
  await site.owner()
  const token = await site.mailedToken(OWNER.email)
  for (const url of [
    `//email-verify/?token=${token}`,
    `//email-verify?x=1&%74oken=${token}`,
    `//PASSWORD-RESET/confirm/?utm=1&token=${token}`,
    `//password-reset/confirm?a?token=${token}`,
    `//nowhere/?token=${token}`,
    `//%zz?token=${token}`,
    `/auth/setup?token=${token}`,
    `/boards?after=x&Token=${token}&page=1`,
    `/boards?page=1&%74oken=${token}`,
    `/nowhere?resetToken=${token}`,
  ]) {
    await site.http(`GET ${url}`)
  }
  const log = site.logs.join('')
  expect(log).not.toContain(token)
  expect(log).toContain('"url":"/email-verify/?***"')
  expect(log).toContain('"url":"/api/v1/boards?after=x&Token=***&page=1"')
})
