import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import { fieldsOf } from '../../src/core/fields.js'
import type { AnyOperation } from '../../src/service/lib/operation.js'
import { routes } from '../../src/web/index.js'
import { repeatOf } from '../../src/web/kit/repeat.js'
import type { AnyAction } from '../../src/web/kit/page.js'
import { makeSite, type TestSite } from '../support/site.js'

// What a new page or form is easily left out of.

const SITE = 'http://localhost'

async function world() {
  const site = await makeSite('sqlite', { siteUrl: SITE, rates: {} })
  await site.owner()
  const { token } = await site.member(['board:read', 'post:update', 'roadmap:assign', 'comment:update:any'], { password: 'a good password' }) // prettier-ignore
  const { board } = await site.call(boards.create, { name: 'Ideas' })
  const { roadmap } = await site.call(roadmaps.create, { name: 'Next' })
  const { post } = await site.call(posts.create, { title: 'Dark mode', boardId: board.boardId })
  const { activity } = await site.call(comments.create, { post_id: post.postId, body: 'x' })
  const params: Record<string, string> = { ':url': '', ':slug': post.slug, ':comment': activity.comment.id, ':session': 'x' } // prettier-ignore
  const pathOf = (pattern: string): string => {
    const url = pattern.startsWith('/boards') ? board.url : roadmap.url
    return pattern.replaceAll(/:\w+/g, (name) => (name === ':url' ? url : (params[name] ?? name)))
  }
  return { site, token, pathOf }
}

const cookieOf = (token: string | undefined) => (token === undefined ? {} : { cookie: `feedbackctl=${token}` })
const page = (site: TestSite, path: string, token?: string) => site.http(`GET /${path}`, { headers: { accept: 'text/html', ...cookieOf(token) } }) // prettier-ignore

it('every page is in the sitemap, kept from crawlers by robots.txt, or says that it is not to be listed', async () => {
  const { site, pathOf } = await world()
  const sitemap = (await site.http('GET //sitemap.xml')).text
  const refused = Array.from((await site.http('GET //robots.txt')).text.matchAll(/^Disallow: (.*)$/gm), ([, path = '']) => path) // prettier-ignore
  const open: string[] = []
  for (const pattern of Object.keys(routes.pages)) {
    const path = pathOf(pattern)
    if (sitemap.includes(`<loc>${SITE}${path}</loc>`) || refused.some((each) => path.startsWith(each))) continue
    const { status, text } = await page(site, path)
    // Visitors are led to sign in
    if (status === 200 && !text.includes('<meta name="robots" content="noindex"/>')) open.push(pattern)
  }
  expect(open).toEqual([])
})

/** For password managers. Nothing reads it. */
const UNREAD = ['/settings/password: email']

/** The forms of a page: where each is sent to, and the names of its fields without files. */
function formsIn(html: string): { path: string; names: string[] }[] {
  return Array.from(html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs), ([, head = '', body = '']) => ({
    path: /method="post"/i.test(head) ? (/action="([^"?]*)/.exec(head)?.[1] ?? '') : '',
    names: Array.from(body.matchAll(/<(?:input(?! type="file")|textarea|select|button)\b[^>]*?\bname="([^"]+)"/g), ([, name = '']) => name), // prettier-ignore
  })).filter(({ path }) => path !== '')
}

async function actionAt(path: string): Promise<AnyAction | undefined> {
  const found = Object.entries(routes.actions).find(([pattern]) =>
    new RegExp(`^${pattern.replaceAll(/:\w+/g, '[^/]+')}$`).test(path),
  )
  return found?.[1]()
}

it('every field of a form is repeated after an error, but for secrets', async () => {
  const { site, token, pathOf } = await world()
  const lost: string[] = []
  const seen = new Set<string>()
  for (const as of [undefined, token])
    for (const pattern of Object.keys(routes.pages)) {
      const { text } = await page(site, pathOf(pattern), as)
      for (const { path, names } of formsIn(text)) {
        const action = await actionAt(path.replace(SITE, ''))
        if (!action) throw new Error(`${pattern} has a form that leads nowhere: ${path}`)
        seen.add(path)
        const operation = action.operation as unknown as AnyOperation | null
        const secret = new Set(operation === null ? [] : fieldsOf(operation.input).flatMap((field) => (field.secret ? [field.name] : []))) // prettier-ignore
        const { fields } = repeatOf(action, path, Object.fromEntries(names.map((name) => [name, 'x'])))
        lost.push(...names.filter((name) => !secret.has(name) && fields[name] === undefined).map((name) => `${path}: ${name}`)) // prettier-ignore
      }
    }
  expect(seen.size).toBeGreaterThan(8)
  expect([...new Set(lost)]).toEqual(UNREAD)
})

it('cookies are written in one place, which the gate and the pages read', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
  const having = (pattern: RegExp) =>
    sources.filter((file) => pattern.test(readFileSync(path.join('src', file), 'utf8')))
  expect(having(/['"`]set-cookie['"`]|stringifySetCookie/i)).toEqual(['web/kit/cookies.ts'])
  expect(having(/headers\.cookie|parseCookie/).toSorted()).toEqual(['web/kit/cookies.ts', 'web/kit/gate.ts', 'web/kit/renderer.tsx']) // prettier-ignore
})
