import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { inject as injectRequest, type InjectOptions } from 'light-my-request'
import { expect } from 'vitest'
import { AppError } from '../../src/core/errors.js'
import { newId, randomWord } from '../../src/core/ids.js'
import type { Permission } from '../../src/core/permissions.js'
import type { Rates } from '../../src/core/limits.js'
import { settings } from '../../src/core/settings.js'
import { ratesOf } from '../../src/config.js'
import { openDatabase } from '../../src/db/connect.js'
import type { Db } from '../../src/db/tables.js'
import { assignEveryone, insertUser } from '../../src/db/users.js'
import { codesOf } from '../../src/http/api/openapi.js'
import { buildServer, type ServerOptions } from '../../src/http/server.js'
import type { MailSettings } from '../../src/mail/transport.js'
import { operator, type Actor } from '../../src/service/lib/access.js'
import type { Context } from '../../src/service/lib/context.js'
import { operations } from '../../src/service/index.js'
import { Limits } from '../../src/service/lib/limits.js'
import { RequestLimit } from '../../src/service/lib/requests.js'
import { execute, type AnyOperation, type Call } from '../../src/service/lib/operation.js'
import { hashPassword } from '../../src/service/lib/passwords.js'
import type { LongBody } from '../../src/service/lib/download.js'
import * as setup from '../../src/service/site.js'
import { beginSession } from '../../src/service/lib/sessions.js'
import { sessionToken } from '../../src/service/lib/tokens.js'
import { newUser } from '../../src/service/lib/people.js'
import { pageGate, web } from '../../src/web/index.js'
import { cleanup } from './cleanup.js'
import { verifyHit } from './hits.js'
import { shareServer } from './servers.js'
import { engines, makeDatabase, type Engine } from './databases.js'

export { cleanup, engines, makeDatabase, type Engine }

export const OWNER = { email: 'ada@example.org', password: 'correct horse battery', name: 'Ada', siteTitle: 'Moonbase' }

/** A site on a real database, removed after the test. */
export interface TestSite {
  databaseUrl: string
  folder: string
  db: Db
  clock: { now: Date }
  mail: MailSettings | null
  /** The context of operations, without the caller. */
  base: Omit<Context, 'actor' | 'origin' | 'dryRun'>
  /** A server of its own. It is built when a test first asks for it: requests alone go to one that sites share. */
  server(): Promise<FastifyInstance>
  logs: string[]
  /** The statements that ran on this site's database, in the order in which they ended. */
  statements: string[]
  call: Call
  callAs(actor: Actor): Call
  http(
    request: string,
    options?: { body?: unknown; token?: string | undefined; headers?: Record<string, string> },
  ): Promise<Response>
  /** The token of the newest mail to an address. */
  mailedToken(recipient: string): Promise<string>
  /** All events, oldest first: the action, and the id of its subject. */
  events(): Promise<[action: string, subject: string][]>
  /** Sets the site up and returns the owner's token. */
  owner(): Promise<string>
  /** Creates a member with these permissions, and with those of @everyone unless `everyone` is false. */
  member(
    permissions?: Permission[],
    options?: { blocked?: boolean; everyone?: boolean; email?: string; password?: string },
  ): Promise<{ userId: string; token: string }>
  /** Begins a session of a person, and returns its token. */
  signIn(userId: string): Promise<string>
}

interface Response {
  status: number
  body: any // oxlint-disable-line typescript/no-explicit-any -- any JSON
  text: string
  headers: Record<string, string | string[] | number | undefined>
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-test-'))
  cleanup(async () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

interface SiteOptions extends ServerOptions {
  mail?: boolean
  /** Whether responses and query results are cached. */
  cached?: boolean
  /** Whether the handler of a cached response runs again, to compare the two. Default: true. */
  rerun?: boolean
  /** Additional operations. */
  extra?: readonly AnyOperation[]
  /** Default: those of `serve`. */
  rates?: Rates
  siteUrl?: string
  setupToken?: string
  commonPasswords?: 'refuse'
  unverified?: 'read'
  unknownAccounts?: 'hide'
  /** For how many seconds accounts are new; without it no account is. */
  newFor?: number
  siteLanguage?: string
  browserSessions?: Context['browserSessions']
  backups?: Context['backups']
  exports?: Context['exports']
  imports?: Context['imports']
}

const RATES = ratesOf({ get: (key) => settings[key].default })

export async function makeSite(
  engine: Engine,
  {
    mail = true,
    cached = true,
    rerun = true,
    extra = [],
    rates = RATES,
    siteUrl,
    setupToken,
    commonPasswords,
    unverified,
    unknownAccounts,
    newFor,
    siteLanguage,
    browserSessions,
    backups,
    exports,
    imports,
    ...options
  }: SiteOptions = {},
): Promise<TestSite> {
  const folder = temporaryFolder()
  const databaseUrl = await makeDatabase(engine, folder)
  const statements: string[] = []
  const trace = (statement: string) => void statements.push(statement)
  const { db, cache, ping, close } = await openDatabase(databaseUrl, { staleness: 0, verify: true, trace })
  cleanup(close)
  const clock = { now: new Date('2026-03-02T10:00:00.000Z') }
  const settings = mail ? { url: `folder:${path.join(folder, 'mail')}`, from: 'noreply@example.org' } : null
  const base = {
    db,
    now: () => clock.now,
    secret: () => 'a secret of the tests, long enough',
    mail: settings,
    siteUrl: siteUrl ?? 'https://feedback.example.org/board',
    ...(setupToken !== undefined && { setupToken }),
    ...(commonPasswords !== undefined && { commonPasswords }),
    ...(unverified !== undefined && { unverified }),
    ...(unknownAccounts !== undefined && { unknownAccounts }),
    ...(newFor !== undefined && { newFor }),
    ...(siteLanguage !== undefined && { siteLanguage }),
    ...(browserSessions !== undefined && { browserSessions }),
    ...(backups !== undefined && { backups }),
    ...(exports !== undefined && { exports }),
    ...(imports !== undefined && { imports }),
    rates,
    limits: new Limits(rates),
  }
  const logs: string[] = []
  const served = () => ({ ...base, ping, ...(cached && { cache }) })
  const newLimit = () => rates.requests && new RequestLimit(rates.requests, { db, now: () => new Date() })
  const build = async () => {
    const server = await buildServer(
      [...operations, ...extra],
      served(),
      { level: 'info', stream: { write: (line) => void logs.push(line) } },
      {
        requests: newLimit(),
        gates: [pageGate(base)],
        surfaces: [web],
        ...(rerun && {
          verifyHit: async (hit) => verifyHit(server, { ...hit, logs, revision: () => cache.revision(true) }),
        }),
        ...options,
      },
    )
    cleanup(() => server.close())
    return server
  }
  let built: Promise<FastifyInstance> | undefined
  const server = () => (built ??= build())
  const isUsual = extra.length === 0 && siteLanguage === undefined && Object.keys(options).length === 0
  let shared: Promise<FastifyInstance> | undefined
  /** Its own server where a test has asked for that, or where a shared one would be another. */
  const answering = () => {
    if (built || !isUsual) return server()
    if (!shared) cleanup(() => (shared = undefined)) // a site may live on, for other tests of its file
    return (shared ??= shareServer({ site: served(), logs, requests: newLimit(), rerun }))
  }
  const callAs =
    (actor: Actor): Call =>
    async (op, input, body) => {
      const ctx = { ...base, actor, origin: 'cli:tester', dryRun: false, body }
      const result = await execute(op, ctx, input).catch((error: unknown) => {
        if (error instanceof AppError)
          expect(codesOf(op as unknown as AnyOperation), `${op.id} does not declare ${error.code}`).toContain(
            error.code,
          )
        throw error
      })
      const answer = (op.download ? await contentOf(result as LongBody) : result) as typeof result
      assertExact(op.output, answer)
      return answer
    }
  const site: TestSite = {
    databaseUrl,
    folder,
    db,
    clock,
    mail: settings,
    server,
    logs,
    statements,
    callAs,
    call: callAs(operator),
    base,
    http: async (...request) => httpOf(await answering())(...request),
    async mailedToken(recipient) {
      const mail = await db
        .selectFrom('deliveries')
        .select('text')
        .where('recipient', '=', recipient)
        .orderBy('deliveryId', 'desc')
        .executeTakeFirstOrThrow()
      return /token=([\w-]{43})\n/.exec(mail.text)?.[1] ?? expect.fail('the mail has no token')
    },
    async events() {
      const rows = await db.selectFrom('events').select(['action', 'subject_id']).orderBy('id').execute()
      return rows.map(({ action, subject_id }) => [action, subject_id])
    },
    async owner() {
      const { user } = await callAs(operator)(setup.setup, OWNER)
      return user.authToken
    },
    async member(
      permissions = [],
      { blocked = false, everyone = true, email = `m${randomWord(6)}@example.org`, password } = {},
    ) {
      const user = {
        ...newUser(clock.now, {
          email,
          name: 'Member',
          password: password === undefined ? 'no hash' : await hashPassword(password),
        }),
        isBlocked: blocked ? 1 : 0,
      }
      await insertUser(db, user)
      if (everyone) await assignEveryone(db, user.userId)
      if (permissions.length > 0) {
        const [id, now] = [newId(), clock.now.toISOString()]
        await db
          .insertInto('roles')
          .values({ id, name: 'tested', description: null, isSystem: 0, created_at: now, updated_at: now })
          .execute()
        await db
          .insertInto('role_permissions')
          .values(permissions.map((permission) => ({ role_id: id, permission })))
          .execute()
        await db.insertInto('roles_users').values({ role_id: id, user_id: user.userId }).execute()
      }
      return { userId: user.userId, token: await site.signIn(user.userId) }
    },
    async signIn(userId) {
      return sessionToken(base, await beginSession(base, userId))
    },
  }
  return site
}

/** A long body, whole: a document where it is one. */
async function contentOf({ type, pieces }: LongBody): Promise<unknown> {
  const texts: string[] = []
  for await (const { text } of pieces) texts.push(text)
  const text = texts.join('')
  return type === 'application/json' ? JSON.parse(text) : text
}

/** Sends requests to a server without a socket. */
export const httpOf =
  (server: FastifyInstance): TestSite['http'] =>
  async (request, { body, token, headers = {} } = {}) => {
    const [method, url] = request.split(' ') as ['GET', string]
    const options: InjectOptions = {
      method,
      url: url.startsWith('//') ? url.slice(1) : `/api/v1${url}`,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && {
        payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      }),
    }
    await server.ready()
    const {
      statusCode,
      payload,
      headers: responseHeaders,
    } = await injectRequest((req, res) => void server.server.emit('request', req, res), options)
    return {
      status: statusCode,
      text: payload,
      headers: responseHeaders,
      body:
        /\bjson\b/.test(String(responseHeaders['content-type'])) && payload !== '' ? JSON.parse(payload) : undefined,
    }
  }

/** The parts of a response that are the same each time. */
export function stable({ status, text, headers }: Response) {
  const volatile = ['x-request-id', 'date', 'connection', 'keep-alive']
  return {
    status,
    text,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !volatile.includes(name))),
  }
}

const validators = new WeakMap<TSchema, ReturnType<typeof Compile>>()

/** Asserts that a result has exactly the fields of its schema. HTTP removes others; a call in this process does not. */
function assertExact(schema: TSchema, result: unknown): void {
  if (result === undefined && (schema as { type?: string }).type === 'undefined') return
  let validator = validators.get(schema)
  if (!validator) validators.set(schema, (validator = Compile(strict(schema) as TSchema)))
  const errors = validator.Errors(result)
  expect(errors, `the result does not match its schema: ${JSON.stringify(result)}`).toEqual([])
  expect(JSON.stringify(result), 'the keys of the result have the order in which HTTP sends them').toBe(
    JSON.stringify(asSent(schema, result)),
  )
}

interface Shape {
  properties?: Record<string, Shape>
  required?: string[]
  items?: Shape
  anyOf?: Shape[]
}

/** HTTP sends required keys first, then optional ones, each in the order of the schema. */
function asSent({ properties, required = [], items, anyOf = [] }: Shape, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => asSent(items ?? {}, item))
  if (typeof value !== 'object' || value === null) return value
  const shape = properties ?? anyOf.find((each) => each.properties)?.properties
  if (!shape) return value
  const names = Object.keys(shape).toSorted(
    (one, other) => Number(required.includes(other)) - Number(required.includes(one)),
  )
  const given = value as Record<string, unknown>
  return Object.fromEntries(
    names.filter((name) => given[name] !== undefined).map((name) => [name, asSent(shape[name] ?? {}, given[name])]),
  )
}

function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict)
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, strict(value)]))
  return copy.type === 'object' && copy.properties ? { ...copy, additionalProperties: false } : copy
}

/** The AppError that a promise rejects with. */
export const failure = async (promise: Promise<unknown>): Promise<AppError> => {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(AppError)
  return error as AppError
}
