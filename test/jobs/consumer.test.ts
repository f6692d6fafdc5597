import { spawn } from 'node:child_process'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { connect, transaction } from '../../src/db/connect.js'
import { insertEvents } from '../../src/db/events.js'
import type { Db } from '../../src/db/tables.js'
import { consumer, type ConsumedEvent } from '../../src/jobs/consumer.js'
import { startJobs, type Run } from '../../src/jobs/runner.js'
import * as boards from '../../src/service/boards.js'
import { makeGate } from '../support/gate.js'
import { untilLocked } from '../support/locks.js'
import { cleanup, engines, makeDatabase, makeSite, temporaryFolder } from '../support/site.js'

const silent = { info: () => {}, warn: () => {}, error: () => {} }
const runOf = (db: Db, signal = new AbortController().signal): Run => ({ db, now: () => new Date(), log: silent, signal }) // prettier-ignore

/** Writes an event of a board. */
const created = (db: Db, subject: string) => insertEvents(db, [{ action: 'board.created', subject_id: subject, subject, origin: 'http', created_at: '2026' }]) // prettier-ignore

describe.each(engines)('a consumer of events on %s', (engine) => {
  const open = async () => {
    const url = await makeDatabase(engine, temporaryFolder())
    const connection = async () => {
      const db = await connect(url)
      cleanup(() => db.destroy())
      return db
    }
    return { url, db: await connection(), connection }
  }

  it('handles the events of its actions in their order, from its first start on, with what changed', async () => {
    const site = await makeSite(engine)
    await site.owner()
    const { board } = await site.call(boards.create, { name: 'Before' })
    const handled: ConsumedEvent[] = []
    const job = consumer({ name: 'test', actions: ['board.created', 'board.updated'], handle: async (event) => void handled.push(event) }) // prettier-ignore
    await job.run(runOf(site.db))
    expect(handled).toEqual([])
    await site.call(boards.update, { boardId: board.boardId, name: 'After', display: false, partial: true })
    await site.call(boards.create, { name: 'Second' })
    await site.call(boards.remove, { boardId: board.boardId })
    expect(await job.isDue?.(runOf(site.db))).toBe(true)
    await job.run(runOf(site.db))
    expect(handled.map(({ action, subject, details }) => ({ action, subject, details }))).toEqual([
      {
        action: 'board.updated',
        subject: 'After',
        details: [
          { field: 'name', before: 'Before', after: 'After' },
          { field: 'display', before: true, after: false },
        ],
      },
      { action: 'board.created', subject: 'Second', details: [] },
    ])
    // Nothing is left, not even the event that it passed over
    expect(await job.isDue?.(runOf(site.db))).toBe(false)
  })

  it('repeats the event that failed, and none before it', async () => {
    const { db } = await open()
    const tried: string[] = []
    let fails = true
    const handle = async ({ subject }: ConsumedEvent) => {
      tried.push(subject ?? '')
      if (subject === 'second' && fails) throw new Error('receiver away')
    }
    const job = consumer({ name: 'test', actions: ['board.created'], handle })
    await job.run(runOf(db))
    for (const subject of ['first', 'second', 'third']) await created(db, subject)
    await expect(job.run(runOf(db))).rejects.toThrow(/^event \d+ \(board\.created\): receiver away$/)
    fails = false
    await job.run(runOf(db))
    expect(tried).toEqual(['first', 'second', 'second', 'third'])
  })

  it('only reads while no event is of its actions, and moves its cursor after a thousand', async () => {
    const { db } = await open()
    const handled: string[] = []
    const make = () => consumer({ name: 'test', actions: ['board.updated'], handle: async ({ subject }) => void handled.push(subject ?? '') }) // prettier-ignore
    const job = make()
    await job.run(runOf(db))
    const cursor = () => db.selectFrom('event_cursors').select('last_id').executeTakeFirstOrThrow()
    const begin = (await cursor()).last_id
    const pass = (count: number) =>
      insertEvents(db, Array.from({ length: count }, () => ({ action: 'board.created', subject_id: 'x', subject: 'x', origin: 'http', created_at: '2026' }))) // prettier-ignore
    const isDue = () => job.isDue?.(runOf(db))
    await pass(999)
    expect(await isDue()).toBe(false)
    await pass(1)
    expect(await make().isDue?.(runOf(db))).toBe(true)
    expect(await isDue()).toBe(true)
    await job.run(runOf(db))
    expect(await cursor()).toEqual({ last_id: begin + 1000 })
    await pass(1)
    expect(await isDue()).toBe(false)
    await insertEvents(db, [{ action: 'board.updated', subject_id: 'x', subject: 'wanted', origin: 'http', created_at: '2026' }]) // prettier-ignore
    await pass(1)
    expect(await isDue()).toBe(true)
    await job.run(runOf(db))
    expect(await isDue()).toBe(false)
    expect([handled, await cursor()]).toEqual([['wanted'], { last_id: begin + 1002 }])
  })

  it('is logged with its event when it throws at once, and tried again later, while others go on', async () => {
    const { db } = await open()
    const tried: string[] = []
    const handled: string[] = []
    const lines: { err?: Error }[] = []
    const broken = consumer({
      name: 'broken',
      actions: ['board.created'],
      handle({ subject }) {
        tried.push(subject ?? '')
        throw new Error('no such receiver')
      },
    })
    const sound = consumer({ name: 'sound', actions: ['board.created'], handle: async ({ subject }) => void handled.push(subject ?? '') }) // prettier-ignore
    for (const job of [broken, sound]) await job.run(runOf(db))
    await created(db, 'first')
    const site = { db, now: () => new Date(), log: { ...silent, error: (fields: object) => void lines.push(fields) } }
    const waiting = startJobs([broken, sound], site, { backOff: 3_600_000 })
    cleanup(() => waiting.stop(10))
    await expect.poll(() => tried).toEqual(['first'])
    await created(db, 'second')
    await expect.poll(() => handled).toEqual(['first', 'second'])
    expect(tried).toEqual(['first'])
    await waiting.stop(10)
    const again = startJobs([broken], site, { backOff: 1 })
    await expect.poll(() => tried.length).toBeGreaterThan(3)
    await again.stop(10)
    expect(new Set(tried)).toEqual(new Set(['first']))
    expect(JSON.stringify(lines, (_key, value) => (value instanceof Error ? value.message : value))).toMatch(/event \d+ \(board\.created\): no such receiver/) // prettier-ignore
    expect(await db.selectFrom('job_leases').select('name').execute()).toEqual([])
  })

  it('goes on in later batches, and ends soon when the server stops', async () => {
    const { db } = await open()
    let count = 0
    const job = consumer({ name: 'test', actions: ['board.created'], handle: async () => void count++ })
    await job.run(runOf(db))
    for (let number = 0; number < 150; number++) await created(db, `board ${number}`)
    expect([await job.run(runOf(db, AbortSignal.abort())), count]).toEqual([undefined, 0])
    expect([await job.run(runOf(db)), count]).toEqual(['more', 100])
    expect([await job.run(runOf(db)), count]).toEqual([undefined, 150])
  })

  it('does not take the cursor back after it was suspended for longer than its lease', async () => {
    const { db, connection } = await open()
    const other = await connection()
    const gate = makeGate()
    const suspended = consumer({ name: 'test', actions: ['board.created'], handle: () => gate.opened })
    const handled: string[] = []
    const next = consumer({ name: 'test', actions: ['board.created'], handle: async ({ subject }) => void handled.push(subject ?? '') }) // prettier-ignore
    await next.run(runOf(other))
    for (const subject of ['first', 'second']) await created(other, subject)
    const running = suspended.run(runOf(db))
    await next.run(runOf(other))
    gate.open()
    await running
    await created(other, 'third')
    await next.run(runOf(other))
    expect(handled).toEqual(['first', 'second', 'third'])
  })

  it('runs in one of two processes, and in the other once that one is killed in the middle of an event', async () => {
    const { url, db } = await open()
    const start = async (stuck: string) => {
      const child = spawn(process.execPath, ['--import', 'tsx', path.join(import.meta.dirname, '../support/consuming.ts'), url, stuck], { stdio: ['ignore', 'pipe', 'inherit'] }) // prettier-ignore
      cleanup(async () => void child.kill('SIGKILL'))
      const lines: string[] = []
      child.stdout.setEncoding('utf8').on('data', (text: string) => lines.push(...text.trim().split('\n')))
      await expect.poll(() => lines).toContain('started')
      return { child, lines }
    }
    const one = await start('stuck')
    await expect.poll(() => db.selectFrom('event_cursors').selectAll().execute()).toHaveLength(1)
    for (let number = 0; number < 20; number++) await created(db, `board ${number}`)
    const idsOf = async () => (await db.selectFrom('events').select('id').orderBy('id').execute()).map(({ id }) => id)
    const before = await idsOf()
    await expect.poll(() => one.lines).toContain(`handled ${before.at(-1)}`)
    await created(db, 'stuck')
    const stuck = (await idsOf()).at(-1)
    await expect.poll(() => one.lines).toContain(`begun ${stuck}`)
    const other = await start('')
    await created(db, 'last')
    one.child.kill('SIGKILL')
    const last = (await idsOf()).at(-1)
    await expect.poll(() => other.lines).toContain(`handled ${last}`)
    const handled = (lines: readonly string[]) => lines.flatMap((line) => (line.startsWith('handled ') ? [Number(line.slice(8))] : [])) // prettier-ignore
    expect(handled(one.lines)).toEqual(before)
    expect(handled(other.lines)).toEqual([stuck, last])
  })
})

it('a consumer on PostgreSQL misses no event of a transaction that began first and commits last', async () => {
  const url = await makeDatabase('postgres', temporaryFolder())
  const [db, other, watching] = await Promise.all([connect(url), connect(url), connect(url)])
  cleanup(async () => void (await Promise.all([db, other, watching].map((each) => each.destroy()))))
  const handled: string[] = []
  const job = consumer({ name: 'test', actions: ['board.created'], handle: async ({ subject }) => void handled.push(subject ?? '') }) // prettier-ignore
  await job.run(runOf(watching))
  let second: Promise<unknown> = Promise.resolve()
  await transaction(db, async (first) => {
    await created(first, 'first')
    // Its id would be higher, and it would commit earlier
    await untilLocked('postgres', watching, () => (second = transaction(other, (inside) => created(inside, 'second'))))
    expect(await job.isDue?.(runOf(watching))).toBe(false)
    await job.run(runOf(watching))
  })
  await second
  await job.run(runOf(watching))
  expect(handled).toEqual(['first', 'second'])
})
