import type { Trigger } from '../dialect.js'

/** Keeps the latest time. */
const usedBy = (user: string) =>
  `insert into user_uses ("userId", "usedAt") ${user} on conflict ("userId") do update set "usedAt" = excluded."usedAt" where user_uses."usedAt" < excluded."usedAt"`

/** None where the session or the key has ended meanwhile: the error then is that of the reference. */
const ofSession = `select "userId", new."usedAt" from sessions where "sessionId" = new."sessionId"`
const ofKey = `select "userId", new."usedAt" from api_keys where "keyId" = new."keyId"`

/** When each person was last seen: a sign-in, or the hour of the last use of a session or a key. */
export const usingTriggers: readonly Trigger[] = [
  { name: 'users_unused', on: 'users', after: 'insert', run: usedBy(`values (new."userId", '1970-01-01T00:00:00.000Z')`) }, // prettier-ignore
  { name: 'sessions_begun', on: 'sessions', after: 'insert', run: usedBy('values (new."userId", new."createdAt")') },
  ...(['insert', 'update'] as const).flatMap((event): Trigger[] => [
    { name: `session_uses_${event}_seen`, on: 'session_uses', after: event, run: usedBy(ofSession) },
    { name: `api_key_uses_${event}_seen`, on: 'api_key_uses', after: event, run: usedBy(ofKey) },
  ]),
]
