import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { isId } from '../core/ids.js'
import { deleteSession, findListedSession, listSessions, type SessionFilter, type UsedSession } from '../db/sessions.js'
import { endSessions } from '../db/users.js'
import { change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { operation } from './lib/operation.js'
import { pageFields, uncountedKeys, uncountedPage, type Listing } from './lib/paging.js'
import { userNotFound } from './lib/people.js'
import { fields, inPath, nullable } from './lib/schemas.js'
import { MAX_SESSIONS, personOf } from './lib/sessions.js'
import { searched, textField, textMatcher } from './lib/textsearch.js'
import { orderFields, periodFields, periodFrom } from './lib/times.js'

/** Stands for the session of the request, where an id is expected. */
const CURRENT = 'current'

export const Session = Type.Object({
  sessionId: Type.String({ format: 'uuid' }),
  isCurrent: Type.Boolean({ description: 'Whether it is the session of this request' }),
  userAgent: Type.String({ description: 'The header User-Agent of the sign-in' }),
  address: nullable('string', { description: 'The address that the sign-in came from' }),
  createdAt: Type.String({ format: 'date-time' }),
  expiresAt: Type.String({ format: 'date-time' }),
  lastUsedAt: nullable('string', { description: 'The hour of the last request; null before the first' }),
})
export type Session = Type.Static<typeof Session>

const SESSIONS: Listing<UsedSession> = { row: 'session', rows: 'Sessions', id: 'sessionId', size: MAX_SESSIONS }
const sessionId = inPath(`Id of the session, or "${CURRENT}" for that of the request`, 'session')

export const list = operation({
  id: 'sessions.list',
  summary: 'List your sessions, newest first',
  http: 'GET /sessions 200',
  access: 'session',
  sensitive: true,
  errors: ['USER_NOT_FOUND'],
  input: fields({
    query: textField('sessions', { within: 'browser or address' }),
    ...orderFields('desc'),
    ...pageFields(SESSIONS),
    ...periodFields('sessions that began'),
  }),
  output: Type.Object({ sessions: Type.Array(Session), ...uncountedKeys }),
  async run(ctx, { query, created, since, until, ...page }) {
    const { db } = ctx
    const hasText = textMatcher(query)
    const filter = { ...(await openSessions(ctx)), created, ...periodFrom({ since, until }) }
    const { rows: sessions, keys } = await uncountedPage(SESSIONS, page, {
      ...searched(
        {
          find: (after) => findListedSession(db, filter, after),
          read: (slice) => listSessions(db, filter, slice),
        },
        hasText && (({ userAgent, address }) => hasText(userAgent, address)),
      ),
      show: (rows) => rows.map((row) => toSession(ctx, row)),
    })
    return { sessions, ...keys }
  },
})

export const show = operation({
  id: 'sessions.show',
  summary: 'Show one of your sessions',
  http: 'GET /sessions/:sessionId 200',
  access: 'session',
  sensitive: true,
  errors: ['SESSION_NOT_FOUND', 'USER_NOT_FOUND'],
  input: fields({ sessionId }),
  output: Type.Object({ session: Session }),
  async run(ctx, { sessionId: given }) {
    const row = await findListedSession(ctx.db, await openSessions(ctx), idFrom(ctx, given))
    if (!row) throw sessionNotFound()
    return { session: toSession(ctx, row) }
  },
})

/** Unexpired sessions of the account. */
const openSessions = async (ctx: Context): Promise<SessionFilter> => ({
  userId: await personOf(ctx),
  now: ctx.now().toISOString(),
})

/** All sessions of a person that have not expired, newest first. */
export async function sessionsOf(ctx: Context, userId: string): Promise<Session[]> {
  const filter = { userId, now: ctx.now().toISOString(), created: 'desc' } as const
  const rows = await listSessions(ctx.db, filter, { limit: MAX_SESSIONS })
  return rows.map((row) => toSession(ctx, row))
}

const toSession = (
  { actor }: Context,
  { sessionId: id, userAgent, address, createdAt, expiresAt, lastUsedAt }: UsedSession,
): Session => ({
  sessionId: id,
  isCurrent: id === actor.sessionId,
  userAgent,
  address,
  createdAt,
  expiresAt,
  lastUsedAt,
})

export const revoke = operation({
  id: 'sessions.revoke',
  summary: 'End one of your sessions: requests with its token are refused immediately',
  http: 'DELETE /sessions/:sessionId 204',
  access: 'session',
  errors: ['SESSION_NOT_FOUND', 'USER_NOT_FOUND'],
  input: fields({ sessionId }),
  output: Type.Undefined(),
  async run(ctx, input) {
    const userId = await personOf(ctx)
    const id = idFrom(ctx, input.sessionId)
    return change(ctx, async ({ db, record }) => {
      if (!(await deleteSession(db, { sessionId: id, userId }))) throw sessionNotFound()
      record('session.ended', id)
      return undefined
    })
  },
})

export const revokeAll = operation({
  id: 'sessions.revokeAll',
  summary: 'End all your other sessions, or all sessions',
  http: 'DELETE /sessions 204',
  access: 'session',
  errors: ['USER_NOT_FOUND'],
  input: fields({
    current: Type.Boolean({ default: false, description: 'Also end the session of this request' }),
  }),
  output: Type.Undefined(),
  async run(ctx, { current }) {
    const userId = await personOf(ctx)
    return change(ctx, async ({ db, record }) => {
      if (!(await endSessions(db, userId, current ? undefined : ctx.actor.sessionId))) throw userNotFound()
      record('user.signed_out', userId)
      return undefined
    })
  },
})

function idFrom({ actor }: Context, given: string): string {
  const id = given === CURRENT ? actor.sessionId : given.toLowerCase()
  if (id === undefined || !isId(id)) throw sessionNotFound()
  return id
}

const sessionNotFound = () => new AppError('SESSION_NOT_FOUND', 'Session not found. It may have ended already.')
