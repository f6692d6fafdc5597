import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { isId } from '../core/ids.js'
import { deleteSession, listSessions } from '../db/sessions.js'
import { endSessions } from '../db/users.js'
import { change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { operation } from './lib/operation.js'
import { userNotFound } from './lib/people.js'
import { fields, inPath, nullable } from './lib/schemas.js'
import { personOf } from './lib/sessions.js'

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

export const list = operation({
  id: 'sessions.list',
  summary: 'List your sessions, newest first',
  http: 'GET /sessions 200',
  access: 'session',
  sensitive: true,
  errors: ['USER_NOT_FOUND'],
  input: fields({}),
  output: Type.Object({ sessions: Type.Array(Session) }),
  async run(ctx) {
    return { sessions: await sessionsOf(ctx, await personOf(ctx)) }
  },
})

/** The sessions of a person that have not expired, newest first. */
export async function sessionsOf(ctx: Context, userId: string): Promise<Session[]> {
  const rows = await listSessions(ctx.db, userId, ctx.now().toISOString())
  return rows.map(({ sessionId, userAgent, address, createdAt, expiresAt, lastUsedAt }) => ({
    sessionId,
    isCurrent: sessionId === ctx.actor.sessionId,
    userAgent,
    address,
    createdAt,
    expiresAt,
    lastUsedAt,
  }))
}

export const revoke = operation({
  id: 'sessions.revoke',
  summary: 'End one of your sessions: requests with its token are refused immediately',
  http: 'DELETE /sessions/:sessionId 204',
  access: 'session',
  errors: ['SESSION_NOT_FOUND', 'USER_NOT_FOUND'],
  input: fields({ sessionId: inPath(`Id of the session, or "${CURRENT}" for that of the request`, 'session') }),
  output: Type.Undefined(),
  async run(ctx, input) {
    const sessionId = input.sessionId === CURRENT ? ctx.actor.sessionId : input.sessionId.toLowerCase()
    const userId = await personOf(ctx)
    if (sessionId === undefined || !isId(sessionId)) throw sessionNotFound()
    return change(ctx, async ({ db, record }) => {
      if (!(await deleteSession(db, { sessionId, userId }))) throw sessionNotFound()
      record('session.ended', sessionId)
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

const sessionNotFound = () => new AppError('SESSION_NOT_FOUND', 'Session not found. It may have ended already.')
