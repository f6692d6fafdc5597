import type { Insertable } from 'kysely'
import { asStored } from '../core/ids.js'
import { compiled } from './cache/compiled.js'
import { pageOf, within, type Page, type Period, type Sorting } from './paging.js'
import { referringTo } from './references.js'
import type { Db, SessionRow, Tables } from './tables.js'

/** A session with the hour of its last use. */
export type UsedSession = SessionRow & { lastUsedAt: string | null }

type DecidingSession = Pick<SessionRow, 'sessionId' | 'userId' | 'kind' | 'createdAt' | 'expiresAt'>

/** What decides about a request with a session. Read on every request, so that a session ends at once. */
export async function findSession(db: Db, sessionId: string): Promise<DecidingSession | undefined> {
  const [session] = await compiled(
    db,
    'findSession',
    { sessionId },
    (given) =>
      db
        .selectFrom('sessions')
        .select(['sessionId', 'userId', 'kind', 'createdAt', 'expiresAt'])
        .where('sessionId', '=', given.sessionId),
    { sessions: [sessionId] },
  )
  return session
}

/** Moves the end of a session. Returns false where another request has moved or ended it. */
export async function moveSessionEnd(
  db: Db,
  { sessionId, expiresAt }: Pick<SessionRow, 'sessionId' | 'expiresAt'>,
  until: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('sessions')
    .set({ expiresAt: until })
    .where('sessionId', '=', sessionId)
    .where('expiresAt', '=', expiresAt)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Stores the time of the last use, unless a later one is stored. Throws ForeignKeyError for a session that has ended. */
export const putSessionUse = (db: Db, use: Insertable<Tables['session_uses']>) =>
  referringTo({}, () =>
    db
      .insertInto('session_uses')
      .values(use)
      .onConflict((conflict) =>
        conflict.column('sessionId').doUpdateSet({ usedAt: use.usedAt }).where('session_uses.usedAt', '<', use.usedAt),
      )
      .execute(),
  )

/** Adds a session, and ends the oldest ones of the person where there are more than `most`. */
export async function insertSession(db: Db, session: Insertable<Tables['sessions']>, most: number): Promise<void> {
  await referringTo({ users: session.userId }, () => db.insertInto('sessions').values(session).execute())
  const [oldest] = await newestOf(db, session.userId).select('sessionId').offset(most).limit(1).execute()
  if (!oldest) return
  await db
    .deleteFrom('sessions')
    .where('sessionId', 'in', newestOf(db, session.userId).select('sessionId').offset(most).limit(most))
    .execute()
}

const newestOf = (db: Db, userId: string) =>
  db.selectFrom('sessions').where('userId', '=', userId).orderBy('createdAt', 'desc').orderBy('sessionId', 'desc')

/** Which sessions of a person; those that have expired by `now` are left out. */
export interface SessionFilter extends Period {
  userId: string
  now: string
}

const orderOf = ({ created: direction }: Sorting) =>
  ({ by: ['createdAt', 'sessionId'], direction, table: 'sessions' }) as const

const filtered = (db: Db, { userId, now, ...period }: SessionFilter) =>
  within(db.selectFrom('sessions'), 'sessions.createdAt', period)
    .leftJoin('session_uses', 'session_uses.sessionId', 'sessions.sessionId')
    .selectAll('sessions')
    .select('session_uses.usedAt as lastUsedAt')
    .where('sessions.userId', '=', userId)
    .where('sessions.expiresAt', '>', now)

export const listSessions = (db: Db, filter: SessionFilter & Sorting, page: Page<SessionRow>): Promise<UsedSession[]> =>
  pageOf(filtered(db, filter), orderOf(filter), page).execute()

/** A session, if it is in this list. */
export const findListedSession = (db: Db, filter: SessionFilter, sessionId: string): Promise<UsedSession | undefined> =>
  filtered(db, filter).where('sessions.sessionId', '=', asStored(sessionId)).executeTakeFirst()

/** Returns false if the person has no such session. */
export async function deleteSession(
  db: Db,
  { sessionId, userId }: Pick<SessionRow, 'sessionId' | 'userId'>,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('sessionId', '=', sessionId)
    .where('userId', '=', userId)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Deletes all sessions of a person, or all but one. */
export const deleteSessionsOf = (db: Db, userId: string, except?: string) =>
  db
    .deleteFrom('sessions')
    .where('userId', '=', userId)
    .$if(except !== undefined, (query) => query.where('sessionId', '<>', except ?? ''))
    .execute()

export const isSessionExpired = async (db: Db, now: string): Promise<boolean> =>
  (await db.selectFrom('sessions').select('sessionId').where('expiresAt', '<=', now).limit(1).executeTakeFirst()) !==
  undefined

export const deleteExpiredSessions = (db: Db, now: string) =>
  db.deleteFrom('sessions').where('expiresAt', '<=', now).execute()

/** How many sessions are open. */
export async function countSessions(db: Db, now: string): Promise<number> {
  const { count } = await db
    .selectFrom('sessions')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('expiresAt', '>', now)
    .executeTakeFirstOrThrow()
  return count
}

export const deleteAllSessions = (db: Db) => db.deleteFrom('sessions').execute()
