import { createServer, request as send, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as posts from '../../src/service/posts.js'
import { visit } from '../support/browser.js'
import { cleanup, makeSite, type TestSite } from '../support/site.js'

const BASE = '/feedback'
const EVE = { name: 'Eve', email: 'eve@example.org', password: 'a good password' }

const listening = async (server: Server): Promise<number> => {
  await new Promise((resolve) => void server.listen(0, '127.0.0.1', () => resolve(undefined)))
  return (server.address() as AddressInfo).port
}

/** A site behind a proxy that has other things beside it. `strays` are requests that were not for the site. */
async function behindProxy(strips: boolean): Promise<{ site: TestSite; url: string; strays: string[] }> {
  const strays: string[] = []
  let target = 0
  const proxy = createServer((incoming, outgoing) => {
    const { url = '', method, headers } = incoming
    if (url !== BASE && !url.startsWith(`${BASE}/`)) {
      strays.push(`${method} ${url}`)
      outgoing.writeHead(404).end()
      return
    }
    const path = strips ? url.slice(BASE.length) || '/' : url
    const onwards = send({ host: '127.0.0.1', port: target, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onwards.on('error', () => outgoing.destroy())
    incoming.pipe(onwards)
  })
  const url = `http://localhost:${await listening(proxy)}${BASE}`
  cleanup(async () => {
    proxy.close()
    proxy.closeAllConnections()
  })
  const site = await makeSite('sqlite', { siteUrl: url })
  const server = await site.server()
  await server.listen({ host: '127.0.0.1', port: 0 })
  target = (server.server.address() as AddressInfo).port
  return { site, url, strays }
}

/** The addresses that a page or a file names. */
const addressesIn = (text: string): string[] =>
  Array.from(
    text.matchAll(/(?:(?:href|src|action)="|<loc>|: )((?:https?:\/)?\/[^"<\s]*)/g),
    ([, address = '']) => address,
  )

it.each([
  { proxy: 'keeps the path', strips: false, script: true },
  { proxy: 'keeps the path', strips: false, script: false },
  { proxy: 'removes the path', strips: true, script: true },
  { proxy: 'removes the path', strips: true, script: false },
])('a site below a path is whole, where the proxy $proxy (script: $script)', async ({ strips, script }) => {
  const { site, url, strays } = await behindProxy(strips)
  await site.owner()
  await site.call(boards.create, { name: 'Ideas', display: true })
  await site.call(posts.create, { title: 'Export as CSV', contentMarkdown: 'Please.', boardId: 'ideas' })
  const { page } = await visit({ script })
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`) && request.url() !== url) strays.push(request.url())
  })
  const links = async () => {
    for (const link of await page.locator('a[href], form[action], link[href], script[src]').all()) {
      const address = (await link.getAttribute('href')) ?? (await link.getAttribute('action')) ?? (await link.getAttribute('src')) ?? '' // prettier-ignore
      if (!address.startsWith('#') && !`${new URL(address, page.url()).href}/`.startsWith(`${url}/`)) strays.push(`${page.url()} leads to ${address}`) // prettier-ignore
    }
  }

  await page.goto(url)
  await links()
  await page.click('.post .vote button')
  await page.click('main >> text=No account yet?')
  await page.fill('#field-name', EVE.name)
  await page.fill('#field-email', EVE.email)
  await page.fill('#field-password', EVE.password)
  await page.click('main form button[type=submit]')
  const voted = page.locator('.post .vote button')
  await expect.poll(() => voted.getAttribute('aria-pressed')).toBe('true')
  await voted.click()
  await expect.poll(() => voted.getAttribute('aria-pressed')).toBe('false')

  await page.click('text=New post')
  await page.fill('#field-title', 'Dark mode')
  await page.fill('#field-contentMarkdown', 'It is *bright*.')
  await page.click('button:has-text("Preview")')
  await expect.poll(() => page.locator('.preview em').innerText()).toBe('bright')
  await page.click('button:text-is("Post")')
  await expect.poll(() => page.innerText('h1')).toBe('Dark mode')
  await page.fill('#field-body', 'Who else?')
  await page.click('main >> button:text-is("Comment")')
  await expect.poll(() => page.locator('.comment .prose').allInnerTexts()).toEqual(['Who else?'])
  await links()
  const post = new URL(page.url()).pathname
  await page.click('header >> text=Boards')
  await page.click('text=Ideas')
  await expect.poll(() => page.innerText('h1')).toContain('Ideas')
  await links()
  await page.goto(`${url}/settings`)
  await links()
  await page.click('header .to-logout')
  await expect.poll(() => page.innerText('.flash')).toBe('You are signed out.')

  await page.goto(`${url}/settings`)
  expect(new URL(page.url()).pathname, 'led to sign in').toBe(`${BASE}/login`)
  await page.click('text=Forgot your password?')
  await page.fill('#field-email', EVE.email)
  await page.click('main form button')
  await page.locator('.flash').waitFor()
  const { text } = await site.db
    .selectFrom('deliveries')
    .select('text')
    .orderBy('deliveryId', 'desc')
    .executeTakeFirstOrThrow()
  const [link = ''] = /http\S+/.exec(text) ?? []
  expect(link).toContain(`${url}/password-reset/confirm/?token=`)
  await page.goto(link)
  await page.fill('#field-password', 'another good password')
  await page.click('main form button')
  await expect.poll(() => page.innerText('.flash')).toBe('Your password is set.')

  for (const path of [
    '/feed.atom',
    '/boards/ideas/feed.atom',
    `${post.slice(BASE.length)}/feed.atom`,
    '/sitemap.xml',
    '/robots.txt',
    '/',
  ]) {
    // prettier-ignore
    const answer = await fetch(url + path)
    expect([path, answer.status]).toEqual([path, 200])
    const found = addressesIn((await answer.text()).replaceAll('&#x2F;', '/'))
    expect(found.length).toBeGreaterThan(1)
    strays.push(...found.filter((each) => !`${new URL(each, url).href}/`.startsWith(`${url}/`)))
  }
  expect((await fetch(`${url}/api/v1/boards`)).status).toBe(200)
  expect(strays).toEqual([])
})
