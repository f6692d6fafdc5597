import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { sql } from 'kysely'
import { connect, rolledBack, transaction } from '../../src/db/connect.js'
import { insertEvents } from '../../src/db/events.js'
import { eventsOfBlock, hashOfBlock } from '../../src/db/seals.js'
import type { Db } from '../../src/db/tables.js'
import { seals } from '../../src/jobs/seals.js'
import * as audit from '../../src/service/audit.js'
import * as boards from '../../src/service/boards.js'
import * as posts from '../../src/service/posts.js'
import * as users from '../../src/service/users.js'
import { operator } from '../../src/service/lib/access.js'
import { cleanup, engines, makeSite, type TestSite } from '../support/site.js'

const log = { info() {}, warn() {}, error() {} }
const sealWith = (db: Db, { clock }: TestSite) =>
  seals.run({ db, now: () => clock.now, log, signal: new AbortController().signal })
const seal = (site: TestSite) => sealWith(site.db, site)
const verify = (site: TestSite, input: object = {}) => site.call(audit.verify, input)

/** A site with three blocks of four events. */
async function sealed(engine: (typeof engines)[number]) {
  const site = await makeSite(engine)
  for (let block = 0; block < 3; block++) {
    for (let number = 0; number < 4; number++) await site.call(boards.create, { name: `Board ${block} ${number}` })
    await seal(site)
  }
  const rows = await site.db.selectFrom('events').selectAll().orderBy('id').execute()
  return { site, ids: rows.map(({ id }) => id) }
}

describe.each(engines)('the chain of events on %s', (engine) => {
  it('matches where nothing was changed, and tells what is not sealed', async () => {
    const { site, ids } = await sealed(engine)
    const answer = await verify(site)
    expect(answer).toMatchObject({ findings: [], checked: 12, unsealed: 0, next: null })
    expect(answer.head).toMatch(new RegExp(`^${ids.at(-1)}:[0-9a-f]{64}$`))
    await site.call(boards.create, { name: 'Newest' })
    expect(await verify(site)).toMatchObject({ findings: [], checked: 12, unsealed: 1, head: answer.head })
    expect(await seals.isDue?.({ db: site.db, now: () => site.clock.now, log })).toBe(true)
    await seal(site)
    expect(await seals.isDue?.({ db: site.db, now: () => site.clock.now, log })).toBe(false)
    expect(await verify(site, { expect: answer.head })).toMatchObject({ findings: [], checked: 13, unsealed: 0 })
  })

  it.each([
    ['action', 'board.updated'],
    ['subject_id', 'x'],
    ['subject', 'Other'],
    ['subject', null],
    ['person_id', 'x'],
    ['actor_id', 'x'],
    ['origin', 'http'],
    ['address', '203.0.113.1'],
    ['key_id', 'x'],
    ['created_at', '2026-03-02T10:00:00.001Z'],
  ] as const)('finds a changed %s (%s)', async (column, value) => {
    const { site, ids } = await sealed(engine)
    await site.db
      .updateTable('events')
      .set({ [column]: value })
      .where('id', '=', ids[5]!)
      .execute()
    expect((await verify(site)).findings).toMatchObject([{ after: ids[3], until: ids[7], problem: /changed/ }].map(({ problem, ...rest }) => ({ ...rest, problem: expect.stringMatching(problem) }))) // prettier-ignore
  })

  it('finds missing events, added ones, and ones whose place is changed', async () => {
    const { site, ids } = await sealed(engine)
    const row = await site.db.selectFrom('events').selectAll().where('id', '=', ids[5]!).executeTakeFirstOrThrow()
    await site.db.deleteFrom('events').where('id', '=', ids[5]!).execute()
    expect((await verify(site)).findings).toMatchObject([{ until: ids[7], problem: '1 of 4 events are missing.' }])
    // The id is generated: the row comes back as the newest, which does not repair the block
    const { id: _, ...again } = row
    await site.db.insertInto('events').values(again).execute()
    expect((await verify(site)).findings).toMatchObject([{ until: ids[7], problem: '1 of 4 events are missing.' }])
    await site.db.deleteFrom('events').where('id', '>', ids[7]!).execute()
    expect((await verify(site)).findings).toContainEqual(
      expect.objectContaining({ until: ids[11], problem: '4 of 4 events are missing.' }),
    )
  })

  it('finds a changed hash, a missing one, and a chain that was made anew', async () => {
    const { site, ids } = await sealed(engine)
    const { head } = await verify(site)
    await site.db
      .updateTable('event_seals')
      .set({ hash: 'f'.repeat(64) })
      .where('last_id', '=', ids[7]!)
      .execute()
    expect((await verify(site)).findings.map(({ until }) => until)).toEqual([ids[7], ids[11]])
    await site.db.deleteFrom('event_seals').where('last_id', '=', ids[7]!).execute()
    expect((await verify(site)).findings).toMatchObject([
      { until: ids[11], problem: expect.stringContaining('missing') },
    ])
    await site.db.deleteFrom('event_seals').execute()
    await site.db.updateTable('events').set({ actor_id: 'x' }).where('id', '=', ids[2]!).execute()
    await seal(site)
    expect((await verify(site)).findings).toEqual([])
    expect((await verify(site, { expect: head })).findings).toMatchObject([{ until: ids[11] }])
    await site.db.deleteFrom('events').where('id', '>', ids[7]!).execute()
    await site.db.deleteFrom('event_seals').execute()
    await seal(site)
    expect((await verify(site, { expect: head })).findings[0]).toMatchObject({
      until: ids[11],
      problem: 'There is no block that ends with this event.',
    })
  })

  it('finds events of requests that were not sealed while others followed for five minutes, and waits for those of commands', async () => {
    const { site, ids } = await sealed(engine)
    await site.db.deleteFrom('event_seals').execute()
    expect((await verify(site)).findings).toEqual([])
    await site.db.updateTable('events').set({ origin: 'http' }).where('id', '>', ids[3]!).execute()
    expect((await verify(site)).findings).toEqual([]) // serve may have stopped before it sealed them
    site.clock.now = new Date(site.clock.now.getTime() + 6 * 60_000)
    await site.call(boards.create, { name: 'Later' })
    expect((await verify(site)).findings).toEqual([])
    await site.db.updateTable('events').set({ origin: 'http' }).where('id', '>', ids[11]!).execute()
    expect((await verify(site)).findings).toMatchObject([
      { after: ids[3], until: ids[11], problem: expect.stringContaining('in no block') },
    ])
  })

  it('finds events with an id of 0 or less', async () => {
    const { site, ids } = await sealed(engine)
    const row = await site.db.selectFrom('events').selectAll().where('id', '=', ids[5]!).executeTakeFirstOrThrow()
    const override = engine === 'sqlite' ? sql`` : sql`overriding system value`
    for (const id of [0, -3])
      await sql`insert into events (id, action, subject_id, origin, created_at) ${override} values (${id}, ${row.action}, ${row.subject_id}, ${row.origin}, ${row.created_at})`.execute(
        site.db,
      )
    expect((await verify(site)).findings).toMatchObject([
      { after: -4, until: 0, problem: expect.stringContaining('0 or less') },
    ])
  })

  it.each([-1, 1])('finds a first block that begins at %i', async (begin) => {
    const { site, ids } = await sealed(engine)
    await site.db.updateTable('event_seals').set({ after_id: begin }).where('after_id', '=', 0).execute()
    expect((await verify(site)).findings[0]).toMatchObject({
      after: 0,
      until: ids[3],
      problem: expect.stringContaining('does not begin'),
    })
  })

  it('finds on SQLite that the newest events are gone with their block', async () => {
    const { site, ids } = await sealed(engine)
    await site.db.deleteFrom('events').where('id', '>', ids[7]!).execute()
    await site.db.deleteFrom('event_seals').where('last_id', '>', ids[7]!).execute()
    const finding = { after: ids[7], until: ids[11], problem: 'The newest events are missing.' }
    expect((await verify(site)).findings).toEqual(engine === 'sqlite' ? [finding] : [])
  })

  it('finds nothing where a transaction was rolled back', async () => {
    const { site } = await sealed(engine)
    await rolledBack(site.db, async (outer) =>
      transaction(outer, async (inner) =>
        insertEvents(inner, [{ action: 'board.created', subject_id: 'x', origin: 'http', created_at: '2026' }]),
      ),
    )
    expect((await verify(site)).findings).toEqual([])
  })

  it('still matches after the names of a deleted person are erased, before and after they are sealed', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const [eve, bob] = [await site.member(), await site.member()]
    for (const { userId } of [eve, bob]) {
      await site.callAs({ ...operator, userId })(posts.create, { title: 'What I wrote' })
      await seal(site)
      await site.callAs({ ...operator, userId })(posts.create, { title: 'What I wrote too' })
      await site.call(users.remove, { user: userId, posts: 'delete' })
    }
    await seal(site)
    expect(JSON.stringify(await site.db.selectFrom('events').selectAll().execute())).not.toContain('What I wrote')
    expect(await verify(site)).toMatchObject({ findings: [], unsealed: 0 })
    const [erasure] = await site.db.selectFrom('event_erasures').selectAll().execute()
    await site.db.updateTable('events').set({ actor_id: 'x' }).where('id', '=', erasure!.event_id).execute()
    expect((await verify(site)).findings).toHaveLength(1)
  })

  it('covers what changed, also once that is erased, and seals of earlier versions still match', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    const { board } = await site.call(boards.create, { name: 'Ideas' })
    // As a server of an earlier version seals what a newer one has written
    const rename = (name: string) => site.call(boards.update, { boardId: board.boardId, name, partial: true })
    await rename('Earlier')
    const first = await eventsOfBlock(site.db, { after: 0, limit: 100 })
    const seal1 = { after_id: 0, last_id: first.at(-1)?.id ?? 0, events: first.length, hash: hashOfBlock('', first, 1), sealed_at: '2026' } // prettier-ignore
    await site.db.insertInto('event_seals').values(seal1).execute()
    await rename('Later')
    const { userId, token: eve } = await site.member()
    const { post } = await site.callAs({ ...operator, userId })(posts.create, { title: 'What I wrote' })
    const { body } = await site.http(`POST /posts/${post.postId}/comments`, { token: eve, body: { body: 'mine' } })
    const comment = `/posts/${post.postId}/comments/${body.activity.comment.id}`
    await site.http(`PUT ${comment}`, { token, body: { is_spam: true, partial: true } })
    await seal(site)
    expect((await verify(site)).findings).toEqual([])
    const detailed = () => site.db.selectFrom('events').select('action').where('details', 'is not', null).orderBy('id').execute() // prettier-ignore
    expect((await detailed()).map(({ action }) => action)).toEqual([
      'board.updated',
      'board.updated',
      'comment.updated',
    ])
    await site.call(users.remove, { user: userId, posts: 'delete' })
    expect((await detailed()).map(({ action }) => action)).toEqual(['board.updated', 'board.updated'])
    await seal(site)
    expect((await verify(site)).findings).toEqual([])
    await site.db.updateTable('events').set({ details: '[]' }).where('subject', '=', 'Later').execute()
    expect((await verify(site)).findings).toHaveLength(1)
  })

  it('is checked twenty blocks at a time', async () => {
    const site = await makeSite(engine)
    for (let block = 0; block < 45; block++) {
      await site.call(boards.create, { name: `Board ${block}` })
      await seal(site)
    }
    await site.db.updateTable('events').set({ actor_id: 'x' }).where('subject', '=', 'Board 30').execute()
    let [pages, checked, findings] = [0, 0, 0]
    for (let after: number | null = 0; after !== null; pages++) {
      const answer: Awaited<ReturnType<typeof verify>> = await verify(site, { after })
      checked += answer.checked
      findings += answer.findings.length
      after = answer.next
    }
    expect([pages, checked, findings]).toEqual([3, 45, 1])
  })

  it('has no fork and misses no event of concurrent writers, with two processes that seal', async () => {
    const site = await makeSite(engine)
    const other = await connect(site.databaseUrl)
    cleanup(() => other.destroy())
    const state = { writing: true }
    const writers = Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        for (let turn = 0; turn < 10; turn++) await site.call(boards.create, { name: `Board ${writer} ${turn}` })
      }),
    ).finally(() => (state.writing = false))
    while (state.writing) {
      await Promise.all([sealWith(site.db, site), sealWith(other, site)])
      await setTimeout(1)
    }
    await writers
    await seal(site)
    const all: number[] = []
    for (let after: number | null = 0; after !== null;) {
      const answer: Awaited<ReturnType<typeof verify>> = await verify(site, { after })
      expect(answer.findings).toEqual([])
      all.push(answer.checked)
      after = answer.next
    }
    expect(all.reduce((sum, count) => sum + count, 0)).toBe(80)
  })
})
