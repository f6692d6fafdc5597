import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../src/core/random.js'
import { SECRETS, makeWorld, type World } from '../service/scenarios.world.js'
import { engines } from '../support/site.js'
import { amount, figures } from './amount.js'
import { newSeed } from '../support/random.js'

const REQUESTS = amount(1000, 50_000)
const SEED = newSeed()

type Pick = <T>(choices: readonly T[]) => T

interface Schema {
  type?: string | string[]
  enum?: unknown[]
  items?: Schema
}

interface Described {
  method: string
  path: string
  parameters: { name: string; in: string; schema: Schema }[]
  properties: Record<string, Schema>
}

/** The operations of the API document. */
async function described({ site }: World): Promise<Described[]> {
  const { body } = await site.http('GET /openapi.json')
  // oxlint-disable-next-line typescript/no-explicit-any -- any JSON
  return Object.entries<Record<string, any>>(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      parameters,
      properties: requestBody?.content['application/json']?.schema.properties ?? {},
    })),
  )
}

const LONG = 'x'.repeat(5000)
const TEXTS = [
  '', ' ', '\0', '\u001b[2J', '\u009b31m', '\u202egnp.exe', '\u200b', '\ud800', '\r\nSet-Cookie: a=b', '%00', '%', '%2e%2e%2f', '../../etc/passwd',
  `' or 1=1 --`, `'; drop table users; --`, '" or ""="', '%_\\', '$1', '?', ':name', '${7*7}', '{{7*7}}', '<script>alert(1)</script>', '`id`', '=1+1', '@x',
  '__proto__', 'constructor', 'toString', 'null', 'undefined', 'NaN', 'true', '-1', '0', '1e309', '9'.repeat(400), '0x10', '１２', '2026-02-30', '𝕏', 'é', 'ﬁ', '💥'.repeat(300),
  LONG, LONG.repeat(15), 'a@b', 'root@localhost', `"x y"@example.org`, `${'a'.repeat(64)}@${'b'.repeat(63)}.example`, 'a@xn--80ak6aa92e.example', 'eyJhbGciOiJub25lIn0.e30.', '(a+)+$', `${'a'.repeat(3000)}!`,
] // prettier-ignore
const VALUES: unknown[] = [null, true, false, 0, -1, 1, 0.1, 1e21, 2 ** 53, -(2 ** 63), 1e308, [], {}, [[]], [null], { $ne: null }, { toString: 1 }, { length: 1e9 }, Array(200).fill('x')] // prettier-ignore
const BODIES = ['', '{', '[]', 'null', '"x"', '1', '{}{}', '\ufeff{}', '{"a":1,"a":2}', '{"__proto__":{"isOwner":true,"permissions":["site:update"]}}', '{"constructor":{"prototype":{"isOwner":1}}}', '['.repeat(20_000), `{"a":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}`, '{"email":"\\ud800"}', '{"page":1e999}', `{"${LONG}":1}`, 'a=b&c=d', '\0', 'x'.repeat(110_000)] // prettier-ignore
const TYPES = ['application/json', 'application/json', 'application/json', 'application/json; charset=utf-8', 'application/json; charset=utf-7', 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'APPLICATION/JSON', 'application/json,text/html', 'text/csv', 'application/x-ndjson', 'x'] // prettier-ignore
const HEADERS: Record<string, string[]> = {
  'feedbackctl-dry-run': ['1', '', '0'],
  'x-http-method-override': ['DELETE'],
  'x-forwarded-for': ['127.0.0.1', '::1', LONG, '1.2.3.4, 5.6.7.8'],
  'x-request-id': ['a\tb', LONG, 'ok'],
  'if-none-match': ['*', 'W/"x"', LONG],
  'content-encoding': ['gzip', 'identity', 'br'],
  'content-length': ['0', '5', '-1', '99999999'],
  accept: ['text/html', '*/*', LONG],
  cookie: ['token=1; isOwner=true'],
  origin: ['null', 'https://evil.example'],
  host: ['evil.example', 'localhost:1', ''],
  range: ['bytes=0-1'],
  expect: ['x'],
}

/** Makes requests, half of whose values are as the API document says. */
function generator(world: World, operations: readonly Described[], random: () => number) {
  const pick: Pick = (choices) => choices[Math.floor(random() * choices.length)] as (typeof choices)[number] // never empty
  const chance = (share: number) => random() < share
  const ids = [world.openBoard, world.openRoadmap, world.openPost, world.authorId, 'hidden', world.secretPost, world.secretBoard, world.secretRoadmap] // prettier-ignore
  const likely = ({ type, enum: choices, items }: Schema): unknown => {
    const kind = pick([type].flat())
    if (choices) return pick(choices)
    if (kind === 'integer' || kind === 'number') return Math.floor(random() * 12)
    if (kind === 'boolean') return chance(0.5)
    if (kind === 'array') return Array.from({ length: Math.floor(random() * 3) }, () => likely(items ?? {}))
    if (kind === 'null') return null
    return chance(0.5) ? pick(ids) : chance(0.5) ? `w${Math.floor(random() * 1e6)}@example.org` : 'long enough text'
  }
  const value = (schema: Schema): unknown =>
    chance(0.5) ? likely(schema) : chance(0.6) ? pick(TEXTS) : pick<unknown>(VALUES)
  const inUrl = (schema: Schema): string => {
    const given = value(schema)
    const text = typeof given === 'string' ? given : (JSON.stringify(given) ?? '')
    return chance(0.1) ? text.replaceAll(/[^\x21-\x7e]|[#?]/g, '') : encodeURIComponent(text.toWellFormed())
  }
  const bent = (url: string): string =>
    pick([
      () => url.toUpperCase(),
      () => `${url}/`,
      () => url.replaceAll('/', '//'),
      () => `${url};x=1`,
      () => `/./..${url}`,
      () => `/%2e%2e${url}`,
      () => url.replaceAll('/', '%2f').replace('%2f', '/'),
      () => `${url}?${'a[b]=1&'.repeat(3)}limit=1&limit=2&__proto__[x]=1`,
      () => `${url}?${'&='.repeat(1000)}`,
      () => `${url}%`,
    ])()
  return () => {
    const { method: usual, path, parameters, properties } = pick(operations)
    const query = parameters.filter((each) => each.in === 'query' && chance(0.4))
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      inUrl(parameters.find((each) => each.name === name)?.schema ?? {}) || 'x') // prettier-ignore
    const pairs = query.map(({ name, schema }) => `${name}=${inUrl(schema)}`)
    const plain = filled + (pairs.length > 0 ? `?${pairs.join('&')}` : '')
    const fields = Object.entries(properties).filter(() => chance(0.8))
    const body = Object.fromEntries(fields.map(([name, schema]) => [name, value(schema)]))
    const extra = chance(0.1) ? { [pick(TEXTS)]: pick<unknown>(VALUES), isOwner: true, userId: world.authorId } : {}
    const method = chance(0.05) ? pick(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) : usual
    const tricks = Object.entries(HEADERS).filter(() => chance(0.03))
    return {
      line: `${method} ${chance(0.1) ? bent(plain) : plain}`,
      body: chance(0.1) ? pick(BODIES) : { ...body, ...extra },
      headers: {
        'content-type': chance(0.8) ? 'application/json' : pick(TYPES),
        ...Object.fromEntries(tricks.map(([name, values]) => [name, pick(values)])),
      },
    }
  }
}

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

/** Tokens that nobody issued, for the owner. */
function forged(userId: string): string[] {
  const claims = { userId, iat: 1_772_000_000, exp: 4_000_000_000 }
  const signed = (header: object, key: string) => {
    const head = `${encoded(header)}.${encoded(claims)}`
    return `${head}.${createHmac('sha256', key).update(head).digest('base64url')}`
  }
  return [
    `${encoded({ alg: 'none' })}.${encoded(claims)}.`,
    signed({ alg: 'HS256' }, ''),
    signed({ alg: 'HS256' }, 'secret'),
    signed({ alg: 'HS512' }, 'a secret of the tests, long enough'),
    'x.y.z',
    LONG,
  ]
}

/** What nobody of those who ask may change. */
async function protectedRows({ site: { db }, secretPost }: World): Promise<string> {
  const rows = await Promise.all([
    db.selectFrom('settings').selectAll().execute(),
    db.selectFrom('boards').select(['boardId', 'name', 'url', 'color', 'display', 'view_voters']).orderBy('boardId').execute(),
    db.selectFrom('roadmaps').selectAll().orderBy('id').execute(),
    db.selectFrom('roles').selectAll().orderBy('id').execute(),
    db.selectFrom('role_permissions').selectAll().orderBy('role_id').orderBy('permission').execute(),
    db.selectFrom('users').select(['userId', 'name', 'email', 'password', 'isVerified', 'isBlocked']).where('isOwner', '=', 1).execute(),
    db.selectFrom('posts').select(['postId', 'title', 'contentMarkdown', 'boardId', 'userId']).where('postId', '=', secretPost).execute(),
    db.selectFrom('comments').select(['id', 'body']).where('body', 'like', 'SECRET%').orderBy('id').execute(),
    db.selectFrom('users').select('userId').where('isBlocked', '=', 1).execute(),
  ]) // prettier-ignore
  return JSON.stringify(rows, undefined, 1)
}

describe.each(engines)('hostile requests on %s', (engine) => {
  it('get no 5xx and no secret, and change nothing that is not theirs', async (context) => {
    const world = await makeWorld(engine)
    const { site } = world
    const owner = (await site.db.selectFrom('users').select('userId').where('isOwner', '=', 1).executeTakeFirstOrThrow())
      .userId // prettier-ignore
    const member = await site.member([], { email: 'member@example.org' })
    const operations = await described(world)
    const random = seededRandom(SEED)
    const next = generator(world, operations, random)
    const tokens = [undefined, undefined, member.token, member.token, member.token, ...forged(owner)]
    const before = await protectedRows(world)
    const hidden = [...SECRETS, site.folder, 'node_modules', '$argon2', 'a secret of the tests', ' at Object.', 'SQLITE_', 'select '] // prettier-ignore
    const statuses = new Map<number, number>()
    const wrong: string[] = []
    for (let number = 0; number < REQUESTS && wrong.length === 0; number++) {
      const { line, ...sent } = next()
      const token = tokens[Math.floor(random() * tokens.length)]
      const { status, text } = await site.http(line, { ...sent, token })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      const said = text.replaceAll('<select ', '<') // an element of pages, not of SQL
      const told = hidden.filter((each) => said.includes(each) && !JSON.stringify([line, sent]).includes(each))
      if (status >= 500 || told.length > 0)
        wrong.push(`request ${number}: ${line.slice(0, 300)} ${JSON.stringify(sent).slice(0, 1000)} as ${token?.slice(0, 20)}: ${status} ${text.slice(0, 500)} ${told.join()}`) // prettier-ignore
    }
    expect({ seed: SEED, wrong }).toEqual({ seed: SEED, wrong: [] })
    expect(await protectedRows(world), `seed ${SEED}`).toBe(before)
    const successes = [...statuses].filter(([status]) => status < 300).reduce((sum, [, count]) => sum + count, 0)
    expect(successes, 'half of the values are valid').toBeGreaterThan(REQUESTS / 50)
    figures(context, `${REQUESTS} requests, seed ${SEED}, ${JSON.stringify(Object.fromEntries(statuses))}`)
  }, 3_600_000)

  it('of the owner get no 5xx', async (context) => {
    const world = await makeWorld(engine)
    const operations = await described(world)
    const next = generator(world, operations, seededRandom(SEED))
    const count = REQUESTS / 4
    const wrong: string[] = []
    for (let number = 0; number < count && wrong.length === 0; number++) {
      const { line, ...sent } = next()
      const { status, text } = await world.site.http(line, { ...sent, token: world.ownerToken })
      if (status >= 500 || text.includes('$argon2'))
        wrong.push(`request ${number}: ${line.slice(0, 300)} ${JSON.stringify(sent).slice(0, 1000)}: ${status} ${text.slice(0, 500)}`) // prettier-ignore
    }
    expect({ seed: SEED, wrong }).toEqual({ seed: SEED, wrong: [] })
    figures(context, `${count} requests, seed ${SEED}`)
  }, 3_600_000)
})
