import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { functionsIn, PURE_FUNCTIONS } from '../../src/db/cache/dependencies.js'
import { operations } from '../../src/service/index.js'
import * as legal from '../../src/service/legal.js'
import { actorOf } from '../../src/service/lib/sessions.js'
import { routes } from '../../src/web/index.js'
import { fileReadsOf } from '../support/filereads.js'
import { engines, makeSite } from '../support/site.js'
import { table } from './scenarios.table.js'
import { makeWorld, type World } from './scenarios.world.js'

// What is cached must not read the clock of the process, however coarse. The clock of the site stands still here: what
// depends on its hour says so, and lasts until the hour ends. Nor must it read a file, which no row tells of when it changes:
// what is read once, at the first request, is of the program.

/** The time of the first request; another minute and hour of the same day; another of everything, the century too. */
const TIMES = ['2026-03-02T10:00:00.000Z', '2026-03-02T21:37:43.251Z', '2146-12-18T19:34:41.111Z'] as const

/** Pages that only redirect. */
const LEADING_ELSEWHERE = ['/posts/:slug/comments/:comment']

const cached = operations.filter((op) => op.cache !== undefined)

afterEach(() => void vi.useRealTimers())

/** What is answered at each of these times, if not always the same; and what is read of files after the first time. */
async function differing(
  name: string,
  ask: () => Promise<string>,
  times: readonly string[] = TIMES,
): Promise<string[]> {
  const answers = new Set<string>()
  const reads = new Set<string>()
  for (const [index, time] of times.entries()) {
    vi.setSystemTime(time)
    const files = await fileReadsOf(async () => answers.add(await ask()))
    if (index > 0) for (const file of files) reads.add(`${name} reads a file: ${file}`)
  }
  return answers.size === 1 ? [...reads] : [`${name}: ${[...answers].join('\n')}`, ...reads]
}

/** A visitor, and the owner, who sees the most. */
async function callersOf({ site, ownerToken }: World) {
  const owner = await site.db.selectFrom('users').selectAll().where('isOwner', '=', 1).executeTakeFirstOrThrow()
  return [
    { token: undefined, userId: null, username: owner.username },
    { token: ownerToken, userId: owner.userId, username: owner.username },
  ]
}

const actor = async ({ site }: World, token: string | undefined) =>
  actorOf(token && `Bearer ${token}`, { db: site.db, now: () => site.clock.now, secret: site.base.secret })

it('every cached operation answers the same at any time of the process, and reads no file', async () => {
  const world = await makeWorld('sqlite', { cached: false })
  vi.useFakeTimers({ toFake: ['Date'] })
  const answered = new Set<string>()
  const faults: string[] = []
  for (const { token, userId } of await callersOf(world))
    for (const op of cached) {
      const input = (await table[op.id]?.input?.(world, userId)) ?? {}
      const call = world.site.callAs(await actor(world, token))
      const ask = async () => {
        const text = JSON.stringify(await call(op, input))
        answered.add(op.id)
        return text
      }
      faults.push(...(await differing(op.id, () => ask().catch(String))))
    }
  expect(faults).toEqual([])
  expect(cached.map(({ id }) => id).filter((id) => !answered.has(id))).toEqual([])
})

it('every cached page and document is the same at any time of the process, and reads no file', async () => {
  const options = { cached: false, siteUrl: 'http://localhost' }
  const [world, unset] = [await makeWorld('sqlite', options), await makeSite('sqlite', options)]
  const { site } = world
  await site.call(legal.set, { name: 'terms', markdown: 'Be kind.' })
  const { slug } = await site.db.selectFrom('posts').select('slug').where('postId', '=', world.openPost).executeTakeFirstOrThrow() // prettier-ignore
  const callers = await callersOf(world)
  const { comment_id } = await world.comment({ by: callers[1]!.userId })
  const names: Record<string, string> = {
    ':slug': slug,
    ':comment': comment_id,
    ':user': callers[0]!.username,
    ':username': callers[0]!.username,
    ':name': 'terms',
    ':role': await world.role(),
  }
  const pathOf = (pattern: string) =>
    pattern.replaceAll(/:\w+/g, (name) => names[name] ?? `open-${/(board|roadmap|tag)s\/:/.exec(pattern)?.[1] ?? 'x'}`)
  vi.useFakeTimers({ toFake: ['Date'] })
  const shown = new Set<string>()
  const faults: string[] = []
  const patterns: string[] = []
  for (const [pattern, load] of [...Object.entries(routes.pages), ...Object.entries(routes.documents)]) {
    if ((await load()).cache === 'never') continue
    patterns.push(pattern)
    const asked = callers.map(({ token }) => ({ of: site, token }))
    if (pattern.startsWith('/setup')) asked.push({ of: unset, token: undefined })
    for (const { of, token } of asked) {
      const headers = { accept: 'text/html', ...(token !== undefined && { cookie: `feedbackctl=${token}` }) }
      const ask = async (): Promise<string> => {
        const { status, text } = await of.http(`GET /${pathOf(pattern)}`, { headers })
        if (status === 503) return ask() // a card is drawn by a thread, which may be too slow beside a load
        if (status === 200) shown.add(pattern)
        return `${status} ${text}`
      }
      faults.push(...(await differing(pattern, ask, [TIMES[0], TIMES[2]])))
    }
  }
  expect(faults).toEqual([])
  expect(patterns.length).toBeGreaterThan(30)
  expect(patterns.filter((pattern) => !shown.has(pattern))).toEqual(LEADING_ELSEWHERE)
})

it.each(engines)('the queries of cached operations call no function but those listed as pure on %s', async (engine) => {
  const world = await makeWorld(engine, { cached: false })
  const { site } = world
  const others = new Set<string>()
  for (const { token, userId } of await callersOf(world))
    for (const op of cached) {
      const input = (await table[op.id]?.input?.(world, userId)) ?? {}
      const call = site.callAs(await actor(world, token))
      site.statements.length = 0
      await call(op, input).catch(() => {}) // as a visitor may not
      for (const query of site.statements)
        for (const name of functionsIn(query)) if (!PURE_FUNCTIONS.has(name)) others.add(`${op.id}: ${name}`)
    }
  expect([...others]).toEqual([])
})

it('a function that is listed as pure is called by a query', () => {
  const files = readdirSync('src/db', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts') && !/^(cache|migrations)\//.test(file)) // prettier-ignore
  const texts = files.map((file) => readFileSync(path.join('src/db', file), 'utf8')).join('\n')
  expect([...PURE_FUNCTIONS].filter((name) => !new RegExp(`\\b${name}(<.*>)?\\(`).test(texts))).toEqual([])
})
