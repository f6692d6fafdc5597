import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import type { ControlledTransaction } from 'kysely'
import { expect, it } from 'vitest'
import { PERMISSIONS } from '../../src/core/permissions.js'
import { openDatabase } from '../../src/db/connect.js'
import type { Tables } from '../../src/db/tables.js'
import { buildServer } from '../../src/http/server.js'
import { operations } from '../../src/service/index.js'
import { beginSession } from '../../src/service/lib/sessions.js'
import { sessionToken } from '../../src/service/lib/tokens.js'
import { makeMachine, serve } from '../support/cli.js'
import { cleanup, httpOf, stable, type TestSite } from '../support/site.js'
import { rowsOf, typeOf, UNSHOWN, WRITES, type Given, type Rows, type Write } from './servers.writes.js'

/** Each does every kind of write once, in random order. */
const ROUNDS = Number(process.env.FEEDBACKCTL_TEST_WRITE_ROUNDS ?? 1)
const SEED = process.env.FEEDBACKCTL_TEST_SEED
/** How late a visitor may see a change on PostgreSQL, in milliseconds. */
const STALENESS = 50
/** Steps of a round for writes that were not possible before. */
const SPARE_STEPS = 15
/**
 * Random responses that are compared after each write, beside all of one person from one server, and that are read
 * during it.
 */
const COMPARED = 16
const DURING = 10

const ACTORS = ['visitor', 'owner', 'moderator', 'member', 'guest', 'ended'] as const
type Person = (typeof ACTORS)[number]

type Ids = Set<string>
type Sets = [Ids, Ids, Ids, Ids, Ids]
type World = Awaited<ReturnType<typeof makeWorld>>

/** Two servers on one database, a server without a cache, and rows of every kind. */
async function makeWorld() {
  const machine = await makeMachine('postgres')
  const owner = await machine.setup()
  const { db, ping, close } = await openDatabase(machine.databaseUrl)
  const base = {
    db,
    now: () => new Date(),
    secret: () => readFileSync(path.join(machine.folder, 'data/feedbackctl/secret'), 'utf8').trim(),
    mail: { url: 'folder:mail', from: 'noreply@example.org' },
    siteUrl: 'http://localhost:0', // as of the servers
  }
  const server = await buildServer(operations, { ...base, ping }, { level: 'silent', stream: { write() {} } })
  cleanup(async () => {
    await server.close()
    await close()
  })
  const fresh = httpOf(server)
  const made = async (request: string, body?: object, token = owner) => {
    const response = await fresh(request, { body, token })
    if (response.status >= 300) throw new Error(`${request}: ${response.text}`)
    return response.body
  }

  await made('PATCH /settings/labs', { voteOnBehalf: true })
  const person = async (name: string): Promise<string> =>
    (await made('POST /users', { email: `${name}@example.org`, name, password: 'a long password' })).user.userId
  const people = { moderator: await person('moderator'), member: await person('member'), guest: await person('guest') }
  const [holder, spare] = [await person('held'), await person('spare')]
  const role = async (name: string, permissions: readonly string[]) =>
    (await made('POST /roles', { name, permissions })).role.id as string
  const moderators = await role('Moderators', PERMISSIONS)
  await made(`PUT /roles/${moderators}/users/${people.moderator}`)
  for (const name of ['Spare', 'Other']) await made(`PUT /roles/${await role(name, ['board:read'])}/users/${spare}`)
  const board = async (name: string) => (await made('POST /boards', { name })).board.boardId as string
  const held = { board: await board('Held'), user: holder, post: '', comment: '' }
  const ideas = await board('Ideas')
  await board('Bugs')
  const post = async (boardId: string, token?: string) =>
    (await made('POST /posts', { title: 'Dark mode', boardId }, token)).post.postId as string
  const tokenOf = async (userId = '') => sessionToken(base, await beginSession(base, userId))
  held.post = await post(held.board, await tokenOf(held.user))
  held.comment = (await made(`POST /posts/${held.post}/comments`, { body: 'First' })).activity.comment.id as string
  for (let count = 0; count < 4; count++) {
    const id = await post(ideas)
    await made(`POST /posts/${id}/comments`, { body: 'Yes' })
  }
  for (const name of ['Now', 'Next', 'Later']) await made('POST /roadmaps', { name, display: true })
  for (const name of ['Web', 'Mobile', 'Phone', 'Tablet']) await made('POST /tags', { name })
  const guestToken = await tokenOf(people.guest)
  const tokens = new Map<Person, string | undefined>([
    ['owner', owner],
    ['moderator', await tokenOf(people.moderator)],
    ['member', await tokenOf(people.member)],
    ['guest', guestToken],
    ['ended', guestToken],
  ])
  const [posts, boards, roadmaps, roles, users] = Array.from({ length: 5 }, () => new Set<string>()) as Sets
  return {
    machine,
    db,
    fresh,
    servers: [await serve(machine), await serve(machine)] as const,
    people,
    tokens,
    tokenOf,
    moderators,
    held,
    /** Of rows that exist or existed, newest last. */
    ids: { posts, boards, roadmaps, roles, users },
    /** A transaction that has not ended. */
    open: undefined as { tx: ControlledTransaction<Tables>; left: number } | undefined,
    count: 0,
  }
}

/** Thrown where a write finds no row that it could be about. */
const NOTHING = new Error('nothing to write')
const MAX = 1_000_000

/** Remembers which rows there are now. */
async function look({ db, held, ids }: World): Promise<Rows> {
  const rows = await rowsOf(db, held)
  for (const { postId } of rows.posts) ids.posts.add(postId)
  for (const { boardId, url } of rows.boards) ids.boards.add(boardId).add(url)
  for (const { id, url } of rows.roadmaps) ids.roadmaps.add(id).add(url)
  for (const { id } of rows.roles) ids.roles.add(id)
  for (const { userId } of rows.users) ids.users.add(userId)
  return rows
}

/** Cacheable requests. */
const readsOf = ({ ids, held }: World): [string, object?][] => {
  const posts = [held.post, ...[...ids.posts].slice(-6)]
  const boards = [held.board, ...[...ids.boards].slice(-6)]
  const roadmaps = [...ids.roadmaps].slice(-6)
  const list = 'POST /posts/get'
  return [
    ['GET /auth/setup'],
    ['GET /settings/site'],
    ['GET /settings/labs'],
    ['GET /boards'],
    ['GET /boards?limit=2&page=2'],
    ['GET /boards/get'],
    ['GET /boards/search/b'],
    ...boards.map((url): [string] => [`GET /boards/${url}`]),
    ['GET /roadmaps'],
    ['GET /tags'],
    ['GET /roadmaps/search/n'],
    ...roadmaps.map((url): [string] => [`GET /roadmaps/${url}`]),
    ['GET /roles'],
    ...[...ids.roles].slice(-4).map((id): [string] => [`GET /roles/${id}`]),
    ['GET /users'],
    ['GET /users/profile'],
    ['GET /users/permissions'],
    ...[held.user, ...[...ids.users].slice(-4)].map((id): [string] => [`GET /users/${id}`]),
    [list, {}],
    [list, { sort: 'votes', limit: 3 }],
    [list, { sort: 'oldest', limit: 2, page: 2 }],
    [list, { limit: 2, after: posts[0] }],
    [list, { roadmapId: roadmaps[0] }],
    ...boards.slice(0, 3).map((board): [string, object] => [list, { boardId: [board] }]),
    [list, { authorId: held.user }],
    [list, { authorId: [...ids.users][0] }],
    ['GET /posts/search/dark'],
    ...posts.flatMap((id): [string, object?][] => [
      ['POST /posts/slug', { id }],
      [`GET /posts/${id}/votes`],
      [`GET /posts/${id}/activity`],
    ]),
  ]
}

interface Read {
  person: Person
  request: string
  body: object | undefined
}

/**
 * What a person gets, without what differs each time. Where the database did not answer in time, as after its connections
 * were cut, a server says that its response is an older one.
 */
const get = async ({ tokens }: World, server: TestSite['http'], { person, request, body }: Read) => {
  for (;;) {
    const response = await server(request, { body, token: tokens.get(person) })
    if (!String(response.headers['cache-status']).includes('DATABASE_UNREACHABLE')) return stable(response)
    await sleep(STALENESS)
  }
}

it('two servers on PostgreSQL respond as one without a cache, after any writes by either, a command or another program', async () => {
  const world = await makeWorld()
  const { servers, fresh, db, tokens, held } = world
  const done = new Set<string>()
  cleanup(async () => world.open?.tx.rollback().execute())

  /** Compares what servers respond with what one without a cache does. */
  const compare = (reads: readonly Read[], which: readonly TestSite['http'][], after: string) =>
    Promise.all(
      reads.map(async (read) => {
        const [expected, ...shown] = await Promise.all([fresh, ...which].map((server) => get(world, server, read)))
        for (const each of shown) expect({ after, read, ...each }).toEqual({ after, read, ...expected })
      }),
    )

  /** Returns whether something was written. */
  const execute = async (write: Write, { server, by }: { server: TestSite['http']; by: Person }): Promise<boolean> => {
    if ('request' in write) {
      const { request, body } = write
      const send = (person: Person) => server(request, { body, token: tokens.get(person), headers: typeOf(write) })
      let response = await send(by)
      if (response.status >= 400 && by !== 'owner') response = await send('owner')
      if (response.status >= 500) throw new Error(`${request}: ${response.text}`)
      return response.status < 400
    }
    if ('command' in write) {
      const { code, stderr } = await world.machine.run(write.command)
      if (code !== 0) throw new Error(`${write.command}: ${stderr}`)
      return true
    }
    await write.statements(db)
    return true
  }

  /** Begins a transaction that stays open during some writes, or ends it: others that began later commit earlier. */
  const leaveOpen = async (steps: number, text: string) => {
    const { open } = world
    if (open && open.left-- > 0) return
    if (open) {
      world.open = undefined
      await (steps % 4 === 0 ? open.tx.rollback() : open.tx.commit()).execute()
      return
    }
    const tx = await db.startTransaction().execute()
    world.open = { tx, left: steps % 5 }
    await tx.updateTable('boards').set({ name: text, nameFolded: text }).where('boardId', '=', held.board).execute()
    await tx.updateTable('users').set({ name: text }).where('userId', '=', held.user).execute()
    await tx.updateTable('comments').set({ body: text }).where('id', '=', held.comment).execute()
    await tx.updateTable('posts').set({ title: text }).where('postId', '=', held.post).execute()
  }

  /** Returns whether something was written. */
  const run = async (kind: string, { by, server, dry, visitorsFirst, open, draws, reads }: Step): Promise<boolean> => {
    const text = `Text ${++world.count}`
    const rows = await look(world)
    const { people, moderators } = world
    const write = writeOf(kind, { rows, text, people, moderators, draw: drawing(draws) })
    if (!write) return false
    const requests = readsOf(world)
    const sampled = reads.map(([request, person]): Read => {
      const [line, body] = requests[request % requests.length] ?? ['']
      return { request: line, body, person }
    })
    const compared = sampled.slice(DURING)
    const signedIn = compared.filter(({ person }) => person !== 'visitor')
    const visits = compared.filter(({ person }) => person === 'visitor')
    const all = requests.map(([line, body]): Read => ({ request: line, body, person: visitorsFirst ? 'visitor' : 'owner' })) // prettier-ignore
    const [here, other] = [servers[server], servers[1 - server]] as [TestSite['http'], TestSite['http']]

    await leaveOpen(open, `Held ${world.count}`)
    if (dry && 'request' in write) {
      const { request, body } = write
      await here(request, { body, token: tokens.get(by), headers: { ...typeOf(write), 'feedbackctl-dry-run': '1' } })
      await compare(signedIn.slice(0, DURING), servers, `dry run of ${kind}`)
    }
    const during = Promise.all(sampled.slice(0, DURING).map((read) => get(world, open % 2 === 0 ? here : other, read)))
    const written = await execute(write, { server: here, by })
    const acknowledged = performance.now()
    const visitorsSee = async () => {
      if ('request' in write) await compare(visits, [here], `${kind}, on its server`)
      await sleep(Math.max(0, Math.ceil(acknowledged + STALENESS - performance.now())))
      if (visitorsFirst) await compare(all, [other], kind)
      await compare(visits, servers, kind)
    }
    if (visitorsFirst)
      await visitorsSee() // as a request of somebody who is signed in brings a server up to date
    else await compare(all, [other], kind)
    await compare(signedIn, servers, kind)
    if (!visitorsFirst) await visitorsSee()
    await during
    const { body } = await fresh('GET /users/profile', { token: tokens.get('guest') })
    if (body.code === 'INVALID_TOKEN') tokens.set('guest', await world.tokenOf(world.people.guest))
    return written
  }

  const kinds = Object.keys(WRITES)
  const steps = kinds.length + SPARE_STEPS
  const missing = () => kinds.filter((kind) => !done.has(kind))
  const play = (count: number) =>
    fc.assert(
      fc.asyncProperty(fc.array(roundOf(kinds, steps), { minLength: count, maxLength: count }), async (rounds) => {
        for (const round of rounds) {
          const order = [...round.order]
          for (const step of round.steps) {
            const kind = order.shift()
            if (kind === undefined) break
            if (await run(kind, step)) done.add(kind)
            else order.push(kind) // which may be possible after another
          }
        }
      }),
      { numRuns: 1, endOnFailure: true, includeErrorInReport: true, ...(SEED !== undefined && { seed: Number(SEED) }) },
    )
  await play(ROUNDS)
  // In a rare order a write was not possible in any round, such as one of a role that nobody has any more
  for (let more = 0; more < 5 && missing().length > 0; more++) await play(1)
  expect(missing()).toEqual([])
}, 600_000)

it('every operation that writes is among the kinds of writes', () => {
  const kinds = Object.keys(WRITES).map((kind) => kind.split(' ')[0])
  const missing = operations.filter(({ id, http, cache }) => !http.startsWith('GET') && !cache && !kinds.includes(id))
  expect(missing.map(({ id }) => id)).toEqual(UNSHOWN)
})

interface Step {
  by: Person
  /** Which server. */
  server: number
  dry: boolean
  visitorsFirst: boolean
  open: number
  draws: number[]
  reads: [number, Person][]
}

/** All kinds of writes in random order, with random choices for each step. */
function roundOf(kinds: readonly string[], steps: number) {
  const number = fc.noBias(fc.nat(MAX))
  const person = fc.constantFrom(...ACTORS)
  const exactly = (length: number) => ({ minLength: length, maxLength: length })
  const step: fc.Arbitrary<Step> = fc.record({
    by: fc.oneof(fc.constant('owner' as const), person),
    server: fc.nat(1),
    dry: fc.constantFrom(true, false, false, false),
    visitorsFirst: fc.boolean(),
    open: number,
    draws: fc.array(number, exactly(45)),
    reads: fc.array(fc.tuple(number, person), exactly(COMPARED + DURING)),
  })
  return fc.record({
    order: fc.shuffledSubarray([...kinds], exactly(kinds.length)),
    steps: fc.array(step, exactly(steps)),
  })
}

function drawing(draws: readonly number[]): Given['draw'] {
  let drawn = 0
  return (from) => {
    if (from.length === 0) throw NOTHING
    return from[(draws[drawn++] ?? 0) % from.length] as (typeof from)[number]
  }
}

/** Undefined where there is no row that it could be about. */
function writeOf(kind: string, given: Given): Write | undefined {
  try {
    return WRITES[kind]?.(given)
  } catch (error) {
    if (error === NOTHING) return undefined
    throw error
  }
}
