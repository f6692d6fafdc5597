import * as Type from 'typebox'
import { listSessions } from '../db/sessions.js'
import { operation } from './lib/operation.js'
import { fields, inPath, nullable } from './lib/schemas.js'
import { MAX_SESSIONS } from './lib/sessions.js'
import { holderOf, userPolicy } from './lib/userpolicy.js'
import { userOf } from './users.js'

export const userSessions = operation({
  id: 'users.sessions',
  summary: 'List the sessions of a user whom you may sign out: when and with which browser they began',
  http: 'GET /users/:user/sessions 200',
  access: 'user:block',
  errors: ['USER_NOT_FOUND', 'CANNOT_CHANGE_OWNER', 'NOT_ENOUGH_PERMISSION'],
  input: fields({ user: inPath('Id, e-mail address or user name of the user', 'user') }),
  output: Type.Object({
    sessions: Type.Array(
      Type.Object({
        userAgent: Type.String({ description: 'The header User-Agent of the sign-in' }),
        createdAt: Type.String({ format: 'date-time' }),
        lastUsedAt: nullable('string', { description: 'The hour of the last request; null before the first' }),
      }),
      { description: `The newest first, at most ${MAX_SESSIONS}; without ids and addresses` },
    ),
  }),
  subject: userOf('user:block'),
  async run({ db, actor, now }, _input, { userId, isOwner }) {
    userPolicy.assert('signOut', actor, await holderOf(db, { userId, isOwner }))
    const filter = { userId, now: now().toISOString(), created: 'desc' } as const
    const rows = await listSessions(db, filter, { limit: MAX_SESSIONS })
    return { sessions: rows.map(({ userAgent, createdAt, lastUsedAt }) => ({ userAgent, createdAt, lastUsedAt })) }
  },
})
