import { spawn } from 'node:child_process'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { insertEvents } from '../../src/db/events.js'
import type { Db } from '../../src/db/tables.js'
import { consumer, type ConsumedEvent } from '../../src/jobs/consumer.js'
import type { Run } from '../../src/jobs/runner.js'
import * as boards from '../../src/service/boards.js'
import { makeGate } from '../support/gate.js'
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
