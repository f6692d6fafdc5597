import { expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { claimRun, endRun, insertRun } from '../../src/db/importruns.js'
import { makeMachine } from '../support/cli.js'
import { cleanup, engines } from '../support/site.js'

it.each(engines)('imports in the background are listed, shown and cancelled on %s', async (engine) => {
  const machine = await makeMachine(engine)
  await machine.setup()
  const none = await machine.run('import runs list --json')
  expect([none.code, JSON.parse(none.stdout)]).toEqual([0, { runs: [] }])
  const db = await connect(machine.databaseUrl)
  cleanup(() => db.destroy())
  const { userId } = await db.selectFrom('users').select('userId').executeTakeFirstOrThrow()
  const ids = ['01a202e3-3cc8-735d-91d8-dbcd6073c7b1', '01a202e3-3cc8-735d-91d8-dbcd6073c7b2'] as const
  const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
  const asked = { userId, file: 'gone', options: '{}' }
  const counted = JSON.stringify({ done: [{ type: 'post', done: 7, found: null }], refused: 3, refusedLeftOut: 2 })
  const going = JSON.stringify({ done: [{ type: 'tag', done: 2, found: 2 }, { type: 'post', done: 3, found: 10 }] }) // prettier-ignore
  await insertRun(db, { ...asked, runId: ids[0], name: 'ideas.csv', isCheck: 1, askedAt: at(0), progress: null })
  await endRun(db, { runId: ids[0], endedAt: new Date().toISOString(), ending: 'done', progress: counted, result: '{"product":"csv"}' }) // prettier-ignore
  await insertRun(db, { ...asked, runId: ids[1], name: 'ideas.csv', isCheck: 0, askedAt: at(1), progress: going })
  await claimRun(db, ids[1], at(1))

  const { stdout } = await machine.run('import runs list -o table')
  expect(stdout).toMatch(/running +5 of 12 +0 /)
  expect(stdout).toMatch(/check +checked +7 +3 +2 /)
  const { runs } = JSON.parse((await machine.run('import runs list --json')).stdout)
  expect(runs).toMatchObject([
    { runId: ids[1], state: 'running', done: [{ type: 'tag' }, { type: 'post', done: 3, found: 10 }] },
    { runId: ids[0], state: 'checked', refused: 3, refusedLeftOut: 2 },
  ])
  const { run } = JSON.parse((await machine.run(`import runs show ${ids[0]} --json`)).stdout)
  expect(run).toMatchObject({ runId: ids[0], result: { product: 'csv' } })
  expect((await machine.run(`import runs show ${userId}`)).code).toBe(3)

  const cancelled = await machine.run(`import runs cancel ${ids[1]}`)
  expect([cancelled.code, cancelled.stderr]).toEqual([0, 'The server ends the import. What is imported stays.\n'])
  expect(JSON.parse((await machine.run(`import runs show ${ids[1]} --json`)).stdout).run.isCancelled).toBe(true)
  expect((await machine.run(`import runs cancel ${ids[0]}`)).stderr).toBe('The import has ended already.\n')
})
