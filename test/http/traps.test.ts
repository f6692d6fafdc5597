import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import * as Type from 'typebox'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/core/errors.js'
import { transaction } from '../../src/db/connect.js'
import { readSettings } from '../../src/db/settings.js'
import * as boards from '../../src/service/boards.js'
import type { CachedContext, Context } from '../../src/service/lib/context.js'
import { operation, type AnyOperation } from '../../src/service/lib/operation.js'
import { fields } from '../../src/service/lib/schemas.js'
import { withPage } from '../support/page.js'
import { engines, makeSite, temporaryFolder } from '../support/site.js'

const Text = Type.Object({ text: Type.String() })

/** An operation as a developer might add it, with or without `cache`. */
const added = (
  http: AnyOperation['http'],
  run: AnyOperation['run'],
  more: Partial<Pick<AnyOperation, 'cache'>> = {},
): AnyOperation => ({
  ...operation({ id: 'added.one', summary: 'One', http, access: 'public', errors: [], input: fields({}), output: Text, run: run as never }), // prettier-ignore
  ...more,
})

const titleIn = async (db: Parameters<typeof readSettings>[0]) => ({ text: (await readSettings(db)).title })

describe.each(engines)('a new operation on %s', (engine) => {
  it.each([undefined, 'public'] as const)(
    'that reads in its own transaction never returns stale data (cache: %s)',
    async (cache) => {
      const op = added('GET /added 200', (ctx) => transaction(ctx.db, titleIn), { ...(cache && { cache }) })
      const site = await makeSite(engine, { extra: [op] })
      const text = async () => (await site.http('GET /added')).body.text as string
      expect([await text(), await text()]).toEqual(['Feedback', 'Feedback'])
      await site.db.updateTable('settings').set({ title: 'Changed' }).execute()
      expect(await text()).toBe('Changed')
    },
  )

  // A cache is declared for what is read from rows alone: one that reads rows and a file must not declare it.
  it.each([
    { reads: 'a row and a file', cache: undefined },
    { reads: 'a file and no row', cache: undefined },
    { reads: 'a file and no row', cache: 'public' },
  ] as const)('that reads $reads never returns stale data (cache: $cache)', async ({ reads, cache }) => {
    const file = path.join(temporaryFolder(), 'text')
    writeFileSync(file, 'one')
    const run: AnyOperation['run'] = async ({ db }) => {
      const { text } = reads === 'a row and a file' ? await titleIn(db) : { text: 'no row' }
      return { text: `${text}, ${readFileSync(file, 'utf8')}` }
    }
    const site = await makeSite(engine, { extra: [added('GET /added 200', run, { ...(cache && { cache }) })] })
    const text = async () => (await site.http('GET /added')).body.text as string
    const row = reads === 'a row and a file' ? 'Feedback' : 'no row'
    expect([await text(), await text()]).toEqual([`${row}, one`, `${row}, one`])
    writeFileSync(file, 'two')
    expect(await text()).toBe(`${row}, two`)
  })

  it.each([
    ['the clock', (ctx: Context) => ctx.now?.().toISOString()],
    ['the secret', (ctx: Context) => ctx.secret?.()],
    ['who asks', (ctx: Context) => ctx.client?.address ?? ctx.client?.userAgent],
    ['how it was asked', (ctx: Context) => ctx.origin],
  ])('that declares a cache is not given %s', async (_, read) => {
    const run: AnyOperation['run'] = async (ctx) => ({ text: `${(await titleIn(ctx.db)).text} ${read(ctx)}` })
    for (const cache of [undefined, 'public', 'actor'] as const) {
      const site = await makeSite(engine, { extra: [added('GET /added 200', run, { ...(cache && { cache }) })] })
      const { status, body } = await site.http('GET /added')
      expect([status, body.text === 'Feedback undefined']).toEqual([200, cache !== undefined])
    }
  })

  it('that declares a cache, and reads a file and a row, fails in the tests as soon as one asks twice', async () => {
    const file = path.join(temporaryFolder(), 'text')
    writeFileSync(file, 'one')
    const run: AnyOperation['run'] = async ({ db }) => ({
      text: `${(await titleIn(db)).text} ${readFileSync(file, 'utf8')}`,
    })
    const site = await makeSite(engine, { extra: [added('GET /added 200', run, { cache: 'public' })] })
    const status = async () => (await site.http('GET /added')).status
    expect([await status(), await status()]).toEqual([200, 200])
    writeFileSync(file, 'two')
    expect([await status(), site.logs.join().includes('added.one is cached, but responds differently')]).toEqual([500, true]) // prettier-ignore
  })

  it('runs for each POST, even if its only effect is outside the database', async () => {
    let sent = 0
    const op = added('POST /added 200', async ({ db }) => {
      await readSettings(db)
      return { text: String(++sent) }
    })
    const site = await makeSite(engine, { extra: [op] })
    const text = async () => (await site.http('POST /added', { body: {} })).body.text as string
    expect([await text(), await text(), await text(), await text()]).toEqual(['1', '2', '3', '4'])
  })

  it('with a public cache runs as a visitor', async () => {
    const op = added('GET /added 200', async ({ db, actor }) => ({ ...(await titleIn(db)), text: String(actor.userId) }), { cache: 'public' }) // prettier-ignore
    const site = await makeSite(engine, { extra: [op] })
    const { token } = await site.member()
    for (const each of [token, undefined, token]) expect((await site.http('GET /added', { token: each })).body.text).toBe('null') // prettier-ignore
  })
})

const Definition = { id: 'added.one', summary: 'One', http: 'GET /added 200', access: 'public', errors: [], input: fields({}), output: Text } as const // prettier-ignore

it('the compiler refuses a cached operation that reads more than rows, is limited, or sends all people secrets', () => {
  const texts = {
    // @ts-expect-error -- the clock
    clock: operation({ ...Definition, errors: [], cache: 'public', run: async ({ now }) => ({ text: now() }) }),
    // @ts-expect-error -- the client
    client: operation({ ...Definition, errors: [], cache: 'actor', run: async ({ client }) => ({ text: client }) }),
    // @ts-expect-error -- a hit of the cache would not be counted
    limit: operation({ ...Definition, errors: [], cache: 'public', limit: 'mail', run: async () => ({ text: '' }) }),
    // @ts-expect-error -- secrets and addresses in one response for all
    sensitive: operation({ ...Definition, errors: [], cache: 'public', sensitive: true, run: async ({ db }: CachedContext) => titleIn(db) }), // prettier-ignore
    own: operation({ ...Definition, errors: [], cache: 'actor', sensitive: true, run: async ({ db }: CachedContext) => titleIn(db) }), // prettier-ignore
    rows: operation({ ...Definition, errors: [], cache: 'public', run: async ({ db }: CachedContext) => titleIn(db) }),
  }
  expect(Object.values(texts).every(({ cache }) => cache !== undefined)).toBe(true)
})

describe.each(engines)('a new route on %s', (engine) => {
  it.each(['cookie', 'accept-language', 'accept', 'host'] as const)(
    'varies by %s if it declares that, and otherwise does not see the header',
    async (name) => {
      const site = await makeSite(engine)
      for (const vary of [[], [name]]) {
        const http = await withPage(site, vary, name)
        const text = async (value: string) => (await http('GET //page', { headers: { [name]: value } })).text
        const seen = [await text('one.example'), await text('two.example'), await text('one.example')]
        expect(seen).toEqual(
          vary.length === 0 ? ['none', 'none', 'none'] : ['one.example', 'two.example', 'one.example'],
        )
      }
    },
  )
})

it.each([
  ['a field that is not declared', async () => ({ text: 'x', other: 'y', more: 1 }), 'does not match its schema'],
  ['too few fields', async () => ({ text: 'x' }), 'does not match its schema'],
  ['fields in another order', async () => ({ other: 'y', text: 'x' }), 'the order in which HTTP sends them'],
  ['an error that is not declared', () => Promise.reject(new AppError('POST_NOT_FOUND', '')), 'does not declare POST_NOT_FOUND'], // prettier-ignore
])('an operation that returns %s fails where a test calls it', async (_, run, reason) => {
  const output = Type.Object({ text: Type.String(), other: Type.String() })
  const site = await makeSite('sqlite')
  await expect(site.call({ ...added('GET /added 200', run as never), output }, {})).rejects.toThrow(reason)
})

it('a POST without a body to a cacheable route is answered', async () => {
  const site = await makeSite('sqlite')
  const url = await (await site.server()).listen({ host: '127.0.0.1', port: 0 })
  for (const headers of [{ 'content-type': 'application/json' }, {}]) {
    const answer = await fetch(`${url}/api/v1/posts/get`, { method: 'POST', headers })
    expect(answer.status).toBe(200)
  }
})

it('a gate sees every request, cache hits too, and may reject it', async () => {
  const seen: string[] = []
  const site = await makeSite('sqlite', {
    gates: [
      ({ url = '' }, response) => {
        seen.push(url)
        if (seen.length <= 4) return true
        response.writeHead(429, { 'retry-after': '1' }).end()
        return false
      },
    ],
  })
  const statuses = []
  for (let n = 0; n < 5; n++) statuses.push((await site.http('GET /settings/site')).status)
  expect(statuses).toEqual([200, 200, 200, 200, 429])
  expect(seen).toHaveLength(5)
})

it('a list that a response repeats has the same rows twice, the second time at its end', async () => {
  const site = await makeSite('sqlite')
  for (const name of ['One "1"', 'Zwei \\ 2', '三']) await site.call(boards.create, { name })
  const twice = await site.http('GET /boards')
  const once = await site.http('GET /boards?page=1')
  expect(Object.keys(twice.body)).toEqual([...Object.keys(once.body), 'results'])
  const { results, ...rest } = twice.body
  expect(results).toEqual(once.body.boards)
  expect({ ...rest, page_info: once.body.page_info }).toEqual(once.body)
  expect(twice.text).toBe(`${once.text.slice(0, -1)},"results":${JSON.stringify(results)}}`)
})

it('a gate that fails lets no request through, and the server goes on', async () => {
  const site = await makeSite('sqlite', {
    gates: [
      ({ url = '' }) => {
        if (url.endsWith('/labs')) throw new Error('the store of the limits is down')
        return true
      },
    ],
  })
  const refused = await site.http('GET /settings/labs')
  expect([refused.status, refused.body.code]).toEqual([500, 'SERVER_ERROR'])
  expect(refused.text).not.toContain('store')
  expect(site.logs.join()).toContain('the store of the limits is down')
  expect((await site.http('GET /settings/site')).status).toBe(200)
})
