import { Readable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/core/errors.js'
import { PERMISSIONS, type Permission } from '../../src/core/permissions.js'
import { operations } from '../../src/service/index.js'
import type { AnyOperation } from '../../src/service/lib/operation.js'
import { isLinked } from '../../src/service/lib/identities.js'
import { actorOf } from '../../src/service/lib/sessions.js'
import { untilEndOfFile } from '../support/cleanup.js'
import { engines } from '../support/site.js'
import { roles, rules, table, type Input, type Needs, type Outcome, type Role, type Row } from './scenarios.table.js'
import { makeWorld, SECRETS, type World } from './scenarios.world.js'

interface Caller {
  token: string | undefined
  userId: string | null
}

/** A response. `text` is all of it, to be searched for secrets. */
interface Answer {
  outcome: Outcome
  status: number
  body: unknown
  text: string
}

const named = (needs: Needs): readonly Permission[] =>
  needs === 'public' || needs === 'account' || needs === 'owner' ? PERMISSIONS : [needs].flat()

/** The outcome of every operation for a role. */
function expected(needs: Needs, role: Role): Outcome {
  if (needs === 'public' || role === 'owner') return 'ok'
  if (role === 'visitor') return '400 INVALID_AUTH_HEADER'
  if (role === 'blocked') return '403 USER_BLOCK'
  if (role === 'powerless') return '403 ACCESS_DENIED'
  if (needs === 'account') return 'ok'
  return role === 'permitted' && needs !== 'owner' ? 'ok' : '403 NOT_ENOUGH_PERMISSION'
}

async function makeCallers({ site, ownerToken }: World, needs: Needs): Promise<Record<Role, Caller>> {
  const needed = named(needs)
  const some: Permission = needed.includes('dashboard:read') ? 'post:read' : 'dashboard:read'
  const make = async (permissions: readonly Permission[], blocked = false) =>
    site.member([...permissions], { everyone: false, blocked })
  return {
    visitor: { token: undefined, userId: null },
    powerless: await make([]),
    member: await make([some]),
    almost: await make(PERMISSIONS.filter((permission) => !needed.includes(permission))),
    permitted: await make(needed),
    blocked: await make(needed, true),
    owner: await ownerOf(site, ownerToken),
  }
}

async function ownerOf({ db }: World['site'], token: string): Promise<Caller> {
  const { userId } = await db.selectFrom('users').select('userId').where('isOwner', '=', 1).executeTakeFirstOrThrow()
  return { token, userId }
}

/** Operations that change rights, and after which the session of a browser keeps its id. */
const KEPT = {
  'auth.validate': 'a mailed link proves it, whoever is signed in; who clicks twice sends the same session twice',
  'auth.setPassword': 'it ends all sessions of the account',
  'invitations.accept': 'nobody could sign in to the account before',
  'users.block': 'nobody blocks their own account',
  'users.blockMany': 'as users.block',
  'users.unblock': 'who is blocked has no session',
  'users.update': 'a new password ends all sessions of the account',
}

/** What the lines of the table do not change. */
const MORE: Record<string, Input> = {
  'roles.update': async (w) => ({ id: await w.role(['board:create']), permissions: [] }),
  'users.update': async (w) => ({ user: (await w.person()).userId, password: 'another password' }),
}

/** What each person may do and is recognised by, and what each role gives. A role that is gone gives nothing. */
async function rightsOf({ site: { db } }: World): Promise<Map<string, string>> {
  const people = await db
    .selectFrom('users')
    .leftJoin('totp', 'totp.userId', 'users.userId')
    .select(['users.userId', 'password', 'isOwner', 'isVerified', 'isBlocked', 'enabledAt'])
    .execute()
  const given = await db.selectFrom('roles_users').selectAll().orderBy('role_id').execute()
  const permissions = await db.selectFrom('role_permissions').selectAll().orderBy('permission').execute()
  const roles = await db.selectFrom('roles').select(['id', 'require_totp']).execute()
  const linked = (await db.selectFrom('identities').selectAll().execute()).filter(isLinked)
  return new Map([
    ...people.map(({ userId, ...person }): [string, string] => [
      userId,
      JSON.stringify([
        person,
        given.filter(({ user_id }) => user_id === userId),
        linked.filter((each) => each.userId === userId).map(({ identityId }) => identityId),
      ]),
    ]),
    ...roles.map(({ id, ...role }): [string, string] => [
      id,
      JSON.stringify([role, permissions.filter(({ role_id }) => role_id === id)]),
    ]),
  ])
}

/** Whether these were the rights of a person who is gone, and not those of a role. */
const isOfDeleted = (after: ReadonlyMap<string, string>, of: string, rights: string): boolean =>
  !after.has(of) && rights.includes('"isOwner"')

const operationOf = (id: string): AnyOperation =>
  operations.find((op) => op.id === id) ?? expect.fail(`there is no operation ${id}`)

const rowsOf = ({ id }: AnyOperation): string | Buffer | undefined => {
  const rows = table[id]?.rows
  return typeof rows === 'function' ? rows() : rows
}

/** Lines of JSON, as an upload gets them. */
const typeOf = ({ id }: AnyOperation): string => table[id]?.type ?? 'application/x-ndjson'

async function overCall({ site }: World, op: AnyOperation, { token }: Caller, input: object): Promise<Answer> {
  const rows = rowsOf(op)
  const sent = rows === undefined ? undefined : { type: typeOf(op), bytes: Readable.from([Buffer.from(rows)]) }
  const actor = await actorOf(token && `Bearer ${token}`, {
    db: site.db,
    now: () => site.clock.now,
    secret: () => 'a secret of the tests, long enough',
  })
  const success = Number(op.http.split(' ')[2])
  try {
    const text = JSON.stringify(await site.callAs(actor)(op, input, sent)) ?? ''
    return { outcome: 'ok', status: success, body: text === '' ? undefined : JSON.parse(text), text }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return {
      outcome: `${error.status} ${error.code}`,
      status: error.status,
      body: error.body,
      text: JSON.stringify(error.body),
    }
  }
}

async function overHttp({ site }: World, op: AnyOperation, { token }: Caller, input: object): Promise<Answer> {
  const [method, path = ''] = op.http.split(' ')
  const rest = new Map(Object.entries(input))
  const url = path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = String(rest.get(name))
    rest.delete(name)
    return encodeURIComponent(value)
  })
  const query = new URLSearchParams(
    [...rest].map(([name, value]): [string, string] => [name, [value].flat().join(',')]),
  )
  const inQuery = method === 'GET' || op.upload !== undefined
  const answer = await site.http(inQuery ? `${method} ${url}?${query.toString()}` : `${method} ${url}`, {
    token,
    ...(!inQuery && { body: Object.fromEntries(rest) }),
    ...(op.upload && { body: rowsOf(op), headers: { 'content-type': typeOf(op) } }),
  })
  const { status, text, body } = answer
  const outcome: Outcome = status < 300 ? 'ok' : `${status} ${body?.code}`
  return { outcome, status, body: op.download && outcome === 'ok' ? (body ?? text) : body, text }
}

const surfaces = { call: overCall, http: overHttp }
type Surface = keyof typeof surfaces

const reading = (op: AnyOperation): boolean => op.http.startsWith('GET ') || table[op.id]?.silent === true

/** Whole words: the random part of another address may end in "ada". */
const secretsIn = ({ text }: Pick<Answer, 'text'>): string[] =>
  SECRETS.filter((secret) => new RegExp(`(?<!\\w)${secret.replaceAll('.', '\\.')}`, 'i').test(text))

/** How many events there are, without those of refusals. */
const changes = async ({ site }: World): Promise<number> =>
  (await site.events()).filter(([action]) => action !== 'user.sign_in_failed').length

/** Calls once. `faults` are what is wrong with the response for any caller. */
async function check(
  world: World,
  surface: Surface,
  op: AnyOperation,
  caller: Caller,
  input: object,
  outcome: Outcome,
): Promise<Answer & { faults: string[] }> {
  const before = await changes(world)
  const answer = await surfaces[surface](world, op, caller, input)
  const written = (await changes(world)) - before
  const success = Number(op.http.split(' ')[2])
  const faults = [
    answer.outcome !== outcome && `is ${answer.outcome} instead of ${outcome}: ${answer.text}`,
    answer.outcome === 'ok' && answer.status !== success && `is ${answer.status} instead of ${success}`,
    written > 0 !== (outcome === 'ok' && !reading(op)) && `wrote ${written} events`,
    /\$argon2|tokenHash/.test(answer.text) && `tells what is stored of a secret: ${answer.text}`,
    // An error may repeat an address of the input.
    answer.outcome !== 'ok' &&
      secretsIn(answer).some((secret) => !secret.includes('@')) &&
      `is refused with a secret: ${answer.text}`,
  ]
  return { ...answer, faults: faults.filter((fault) => fault !== false) }
}

const OUTSIDERS: readonly Role[] = ['visitor', 'powerless', 'member', 'blocked']
const nothing: Input = () => ({})

/**
 * Every role calls an operation over both surfaces. Returns what is wrong. Reads have one input, so that their
 * responses can be compared.
 */
async function tryAll(
  world: World,
  op: AnyOperation,
  { needs, input = nothing, but = {}, differs, own }: Row,
): Promise<string[]> {
  const callers = await makeCallers(world, needs)
  const shared = reading(op) && !own ? await input(world, null) : undefined
  const faults: string[] = []
  const read: Partial<Record<Role, unknown>> = {}
  for (const role of roles) {
    if (role === 'almost' && named(needs) === PERMISSIONS) continue
    const outcome = typeof but === 'string' ? but : (but[role] ?? expected(needs, role))
    const bodies = []
    for (const surface of ['call', 'http'] as const) {
      const answer = await check(
        world,
        surface,
        op,
        callers[role],
        shared ?? (await input(world, callers[role].userId)),
        outcome,
      )
      const told = OUTSIDERS.includes(role) ? secretsIn(answer).map((secret) => `tells ${secret}`) : []
      faults.push(...[...answer.faults, ...told].map((fault) => `${role} over ${surface} ${fault}`))
      bodies.push(answer.body)
    }
    if (reading(op) && !differs && !isDeepStrictEqual(bodies[0], bodies[1]))
      faults.push(`${role} reads over HTTP what it does not read in this process`)
    read[role] = bodies[1]
  }
  for (const role of ['blocked', 'powerless'] as const)
    if (needs === 'public' && reading(op) && !differs && !isDeepStrictEqual(read[role], read.visitor))
      faults.push(`${role} reads what a visitor does not`)
  return faults
}

it('has a line for every operation, and for no other', () => {
  expect(operations.map(({ id }) => id).toSorted()).toEqual(Object.keys(table).toSorted())
})

describe.each(engines)('on %s', (engine) => {
  let read: World | undefined
  /** Operations that change nothing share a world. */
  const worldFor = async (op: AnyOperation): Promise<World> =>
    reading(op) ? (read ??= await untilEndOfFile(() => makeWorld(engine))) : makeWorld(engine)

  it.each(Object.entries(table))('%s is allowed to the roles of the contract', async (id, row) => {
    const op = operationOf(id)
    expect(await tryAll(await worldFor(op), op, row)).toEqual([])
  })

  it('an operation that changes what somebody may do, or is recognised by, declares it', async () => {
    const world = await makeWorld(engine)
    const undeclared: string[] = []
    const changed = new Set<string>()
    // Whoever hands the site over is not the owner afterwards
    const last = (id: string) => Number(id === 'users.promote')
    const lines = Object.entries(table).toSorted(([one], [other]) => last(one) - last(other))
    const refused: string[] = []
    for (const [id, { needs, input = nothing, but }] of lines) {
      const op = operationOf(id)
      if (reading(op) || typeof but === 'string') continue
      const isOwners = needs === 'owner' || Object.hasOwn(MORE, id) || (but !== undefined && 'permitted' in but)
      const caller = await callerFor(world, needs === 'public' ? 'visitor' : isOwners ? 'owner' : named(needs))
      const given = await (MORE[id] ?? input)(world, caller.userId)
      const before = await rightsOf(world)
      if ((await overCall(world, op, caller, given)).outcome !== 'ok') refused.push(id)
      const after = await rightsOf(world)
      if ([...before].every(([of, rights]) => after.get(of) === rights || isOfDeleted(after, of, rights))) continue
      changed.add(id)
      if (!op.changesOwnRights && !Object.hasOwn(KEPT, id)) undeclared.push(id)
    }
    expect(undeclared).toEqual([])
    expect(refused).toEqual(['account.delete']) // its line has a wrong password
    expect([...changed]).toEqual(expect.arrayContaining(Object.keys(KEPT)))
    for (const id of ['identities.unlink', 'roles.assign', 'roles.delete', 'roles.update', 'totp.enable', 'users.changePassword', 'users.promote']) expect([...changed]).toContain(id) // prettier-ignore
  })

  it.each(rules)('%s %s', async (id, _sentence, who, input, outcome) => {
    const world = await makeWorld(engine)
    for (const surface of ['call', 'http'] as const) {
      const caller = await callerFor(world, who)
      const { faults } = await check(
        world,
        surface,
        operationOf(id),
        caller,
        await input(world, caller.userId),
        outcome,
      )
      expect(faults.map((fault) => `over ${surface} ${fault}`)).toEqual([])
    }
  })

  it('shows the owner every secret that the other tests search for', async () => {
    const world = await makeWorld(engine)
    const { token } = await callerFor(world, 'owner')
    const { site, openPost, secretPost } = world
    const told = await Promise.all([
      site.http('GET /boards?visibility=private', { token }),
      site.http('GET /roadmaps?visibility=private', { token }),
      site.http('POST /posts/get', { token, body: {} }),
      site.http(`GET /posts/${openPost}/activity`, { token }),
      site.http(`GET /posts/${secretPost}/activity`, { token }),
      site.http('GET /users', { token }),
    ])
    const text = told.map((answer) => answer.text).join(' ')
    expect(SECRETS.filter((secret) => !text.includes(secret))).toEqual([])
  })

  it('a role counts from the next request after it is given, until it is taken', async () => {
    const { site, ownerToken: token, role } = await makeWorld(engine)
    const member = await site.member()
    const path = `/roles/${await role(['board:create', 'board:read'])}/users/${member.userId}`
    const tries = async () => (await site.http('POST /boards', { token: member.token, body: {} })).status
    const sees = async () => secretsIn(await site.http('GET /boards?visibility=private', { token: member.token }))
    expect([await tries(), await sees()]).toEqual([403, []])
    await site.http(`PUT ${path}`, { token })
    expect([await tries(), await sees()]).toEqual([201, ['SECRET-BOARD']])
    await site.http(`DELETE ${path}`, { token })
    expect([await tries(), await sees()]).toEqual([403, []])
  })

  it('a changed or deleted role counts from the next request on', async () => {
    const { site, ownerToken: token, role } = await makeWorld(engine)
    const member = await site.member([], { everyone: false })
    const id = await role(['role:read'])
    await site.http(`PUT /roles/${id}/users/${member.userId}`, { token })
    const tries = async () => {
      const answers = [
        await site.http('GET /roles', { token: member.token }),
        await site.http('GET /users/dashboard', { token: member.token }),
      ]
      return answers.map(({ status, body }) => body.code ?? status)
    }
    expect(await tries()).toEqual([200, 'NOT_ENOUGH_PERMISSION'])
    await site.http('PATCH /roles', { token, body: { id, permissions: ['dashboard:read'] } })
    expect(await tries()).toEqual(['NOT_ENOUGH_PERMISSION', 200])
    await site.http('DELETE /roles', { token, body: { id } })
    expect(await tries()).toEqual(['ACCESS_DENIED', 'ACCESS_DENIED'])
  })

  it('the token of a blocked person is refused from the next request on, and after unblocking they sign in again', async () => {
    const world = await makeWorld(engine)
    const { userId, token } = await world.site.member([...PERMISSIONS])
    const { site, ownerToken } = world
    const tries = async (by = token) => (await site.http('POST /posts', { token: by, body: {} })).body.code
    const sees = async () => secretsIn(await site.http('POST /posts/get', { token, body: {} }))
    expect([await tries(), await sees()]).toEqual([undefined, ['SECRET-BOARD', 'SECRET-POST', 'SECRET-ROADMAP']])
    await site.http(`POST /users/${userId}/block`, { token: ownerToken })
    expect([await tries(), await sees()]).toEqual(['USER_BLOCK', []])
    await site.http(`POST /users/${userId}/unblock`, { token: ownerToken })
    expect([await tries(), await tries(await site.signIn(userId))]).toEqual(['INVALID_TOKEN', undefined])
  })

  it('the token of a deleted person is refused from the next request on', async () => {
    const { site, ownerToken } = await makeWorld(engine)
    const { userId, token } = await site.member([...PERMISSIONS])
    await site.http(`DELETE /users/${userId}`, { token: ownerToken, body: {} })
    for (const request of ['POST /posts', 'GET /users/profile', 'GET /users', 'PATCH /settings/site']) {
      const { status, body } = await site.http(request, { token, ...(!request.startsWith('GET') && { body: {} }) })
      expect([status, body.code]).toEqual([404, 'USER_NOT_FOUND'])
    }
    const seen = await site.http('POST /posts/get', { token, body: {} })
    expect([seen.status, secretsIn(seen)]).toEqual([200, []])
  })
})

async function callerFor(
  { site, ownerToken }: World,
  who: 'visitor' | 'owner' | readonly Permission[],
): Promise<Caller> {
  if (who === 'visitor') return { token: undefined, userId: null }
  return who === 'owner' ? ownerOf(site, ownerToken) : site.member([...who], { everyone: false })
}
