import { Migrator } from 'kysely'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { insertIdentity, putIdentityUse, useIdentity } from '../../src/db/identities.js'
import { damageOf } from '../../src/db/integrity.js'
import { migrate } from '../../src/db/migrate.js'
import { migrations } from '../../src/db/migrations/index.js'
import type { Db, UserRow } from '../../src/db/tables.js'
import { newUser } from '../../src/service/lib/people.js'
import { cleanup, engines, makeDatabase, temporaryFolder, type Engine } from '../support/site.js'

/** The schema before the table `identities`, where each account has a password. */
const BEFORE = '0032_browser_sessions'
const HASH = '$argon2id$v=19$m=19456,t=2,p=1$tFRo//LbpznJEl7YHMbHsg$4FhE/1hqjlz0xyFMyYgdwpilAhxSCEU+BA77Ou5tW7E'

async function open(engine: Engine, { bare = false } = {}): Promise<Db> {
  const db = await connect(await makeDatabase(engine, temporaryFolder(), { bare }))
  cleanup(() => db.destroy())
  return db
}

const person = (name: string, password: string | null) =>
  newUser(new Date('2026-11-24T12:00:00.000Z'), { email: `${name}@example.org`, name, password })

describe.each(engines)('the table identities on %s', (engine) => {
  it('comes with accounts that may have no password, and changes nothing else of an account', async () => {
    const db = await open(engine, { bare: true })
    const before = new Migrator({ db, provider: { getMigrations: async () => migrations } })
    expect((await before.migrateTo(BEFORE)).error).toBeUndefined()
    const [ada, eve] = [person('ada', HASH), person('eve', '!')]
    await db.insertInto('users').values([ada, eve]).execute()
    await expect(db.insertInto('users').values(person('bob', null)).execute()).rejects.toThrow(/null/i)
    const session = { sessionId: 's', userId: eve.userId, userAgent: '', address: null, createdAt: '', expiresAt: '' }
    await db.insertInto('sessions').values(session).execute()
    const rows = () => db.selectFrom('users').selectAll().orderBy('email').execute()
    const [adaBefore, eveBefore] = (await rows()) as [UserRow, UserRow]
    expect(await migrate(db)).toEqual(Object.keys(migrations).slice(Object.keys(migrations).indexOf(BEFORE) + 1))
    expect(await rows()).toMatchObject([adaBefore, { ...eveBefore, password: null }]) // later schemas add columns
    await db.insertInto('users').values(person('bob', null)).execute()
    expect(await damageOf(db)).toEqual([])
    // Constraints, indexes and references of the table are those from before
    await expect(db.insertInto('users').values({ ...person('x', null), email: ada.email }).execute()).rejects.toThrow(/unique/i) // prettier-ignore
    await expect(
      db
        .updateTable('users')
        .set({ email: null as never })
        .execute(),
    ).rejects.toThrow(/null/i)
    await db.deleteFrom('users').where('userId', '=', eve.userId).execute()
    expect(await db.selectFrom('sessions').selectAll().execute()).toEqual([])
    expect(await db.selectFrom('counters').select('value').where('name', '=', 'users').execute()).toEqual([{ value: 2 }]) // prettier-ignore
  })

  it('has what a provider says once, whoever links it, and goes with the account', async () => {
    const db = await open(engine)
    const [ada, bob] = [person('ada', null), person('bob', null)]
    await db.insertInto('users').values([ada, bob]).execute()
    const identity = (identityId: string, userId: string, subject: string) => ({ identityId, userId, provider: 'acme', subject, email: null, createdAt: '', usedAt: null }) // prettier-ignore
    expect(await insertIdentity(db, identity('i1', ada.userId, 'a'))).toBe(true)
    expect(await insertIdentity(db, identity('i2', bob.userId, 'a'))).toBe(false)
    expect(await insertIdentity(db, identity('i3', ada.userId, 'b'))).toBe(true)
    expect(await useIdentity(db, { identityId: 'i1', userId: bob.userId }, 'now')).toBeUndefined()
    expect(await useIdentity(db, { identityId: 'i1', userId: ada.userId }, 'now')).toEqual({ provider: 'acme' })
    const use = { ...identity('i4', ada.userId, ada.userId), provider: 'password' }
    await putIdentityUse(db, { ...use, usedAt: 'then' })
    await putIdentityUse(db, { ...use, identityId: 'i5', usedAt: 'now' })
    const stored = () => db.selectFrom('identities').select(['identityId', 'usedAt']).orderBy('identityId').execute()
    expect(await stored()).toEqual([
      { identityId: 'i1', usedAt: 'now' },
      { identityId: 'i3', usedAt: null },
      { identityId: 'i4', usedAt: 'now' },
    ])
    await db.deleteFrom('users').where('userId', '=', ada.userId).execute()
    expect(await stored()).toEqual([])
  })
})
