import { writeFileSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { h } from 'preact'
import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as posts from '../../src/service/posts.js'
import { page, type AnyPage, type LiveView } from '../../src/web/kit/page.js'
import type { Document } from '../../src/web/kit/routes.js'
import { surfaceOf } from '../../src/web/kit/surface.js'
import { routes } from '../../src/web/index.js'
import { engines, makeSite, temporaryFolder, type Engine } from '../support/site.js'

/** A page as a developer might add it. */
const saying = (cache: 'visitor' | 'actor' | 'never', text: () => string): AnyPage => ({
  ...page({
    cache: 'never',
    load: async () => text(),
    title: () => 'Added',
    show: (_view, said) => h('p', null, said),
  }),
  cache,
})

/** A site with that page alone. */
async function withPage(engine: Engine, added: AnyPage) {
  const surface = surfaceOf({ ...routes, pages: { '/added': async () => added }, actions: {}, documents: {}, downloads: {} }) // prettier-ignore
  const site = await makeSite(engine, { surfaces: [surface], siteUrl: 'http://localhost' })
  return { site, get: (headers: Record<string, string> = {}) => site.http('GET //added', { headers }) }
}

it('the compiler refuses a page that does not say how it is cached, and a cached one that reads more than rows', () => {
  const rest = { title: () => '', show: () => h('p', null) }
  const pages = [
    // @ts-expect-error -- no `cache`
    page({ ...rest, load: async () => {} }),
    // @ts-expect-error -- an operation without a cache
    page({ ...rest, cache: 'actor', load: (view) => view.call(posts.search, { words: 'x' }) }),
    // @ts-expect-error -- a limit
    page({ ...rest, cache: 'visitor', load: (view) => view.guard('preview', async () => {}) }),
    // @ts-expect-error -- a `load` that asks for more than the view of a cached page
    page({ ...rest, cache: 'visitor', load: (view: LiveView) => view.call(posts.search, { words: 'x' }) }),
    // @ts-expect-error -- the same of the other functions of a page
    page({ ...rest, cache: 'actor', load: async () => {}, show: (view: LiveView) => h('p', null, String(view.guard)) }),
    page({ ...rest, cache: 'never', load: (view) => view.call(posts.search, { words: 'x' }) }),
    page({ ...rest, cache: 'never', load: (view: LiveView) => view.call(posts.search, { words: 'x' }) }),
    page({ ...rest, cache: 'actor', load: (view) => view.call(boards.list, {}) }),
  ]
  expect(pages).toHaveLength(8)
})

it('the compiler refuses a document that asks for more than the view of a cached page', () => {
  const rest = { type: 'text/plain', cache: 'visitor' as const }
  const documents: Document[] = [
    // @ts-expect-error -- an operation without a cache
    { ...rest, make: async (view: LiveView) => JSON.stringify(await view.call(posts.search, { words: 'x' })) },
    { ...rest, make: async (view) => view.path },
  ]
  expect(documents).toHaveLength(2)
})

describe.each(engines)('a new page on %s', (engine) => {
  it.each(['the clock', 'a counter', 'a file'] as const)(
    'that depends on %s fails in the tests as soon as one asks twice, unless it is never cached',
    async (what) => {
      const file = path.join(temporaryFolder(), 'imprint')
      let calls = 0
      for (const cache of ['visitor', 'actor', 'never'] as const) {
        writeFileSync(file, 'one')
        const read = { 'the clock': () => site.clock.now.toISOString(), 'a counter': () => String(++calls), 'a file': () => readFileSync(file, 'utf8') } // prettier-ignore
        const { site, get } = await withPage(engine, saying(cache, read[what]))
        const statuses = [(await get()).status]
        site.clock.now = new Date(site.clock.now.getTime() + 1000)
        writeFileSync(file, 'two')
        statuses.push((await get()).status)
        expect([cache, statuses]).toEqual([cache, cache === 'never' ? [200, 200] : [200, 500]])
        expect(site.logs.join().includes('page /added is cached, but responds differently')).toBe(cache !== 'never')
      }
    },
  )

  it('is stored for each person, for visitors, or for nobody, as it declares', async () => {
    for (const cache of ['visitor', 'actor', 'never'] as const) {
      let calls = 0
      const { site, get } = await withPage(
        engine,
        saying(cache, () => (calls++, 'the same')),
      )
      const { token } = await site.member()
      const seen: unknown[] = []
      for (const headers of [{}, { cookie: `feedbackctl=${token}` }]) {
        const before = calls
        const { headers: sent } = await get(headers)
        await get(headers)
        seen.push([sent['cache-control'], calls - before])
      }
      // A hit runs once more, to be compared
      const stored = { visitor: ['no-cache', 2], signedIn: ['private, no-cache', 2], none: ['no-store', 2] }
      expect([cache, seen]).toEqual([cache, [cache === 'never' ? stored.none : stored.visitor, cache === 'actor' ? stored.signedIn : stored.none]]) // prettier-ignore
    }
  })
})

it('every page of the site declares how it is cached', async () => {
  const declared = await Promise.all(Object.entries(routes.pages).map(async ([at, load]) => [at, (await load()).cache]))
  expect(Object.fromEntries(declared)).toMatchObject({
    '/': 'actor',
    '/search': 'never',
    '/posts/:slug': 'actor',
    '/login': 'visitor',
    '/settings': 'never',
    '/password-reset/confirm': 'never',
  })
})
