import { expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { makeMachine } from '../support/cli.js'
import { cleanup } from '../support/site.js'

it('"audit verify" finds what was changed in the events that serve has sealed, and exits with 9', async () => {
  const machine = await makeMachine('sqlite')
  const token = await machine.setup()
  expect(await machine.run('audit verify')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: expect.stringMatching(/^No events to check yet\. Not sealed yet: 1 event at most\./),
  })
  const [, server = ''] = await machine.start('serve').says(/listening on (http:\S+?)"/)
  const verify = async (flags = '') => machine.run(`audit verify ${flags}`)
  await expect.poll(async () => JSON.parse((await verify('--json')).stdout).unsealed).toBe(0)
  const { head, ...sound } = JSON.parse((await verify('--json')).stdout)
  expect(sound).toEqual({ findings: [], checked: 1, unsealed: 0, next: null })
  expect((await verify(`--expect ${head}`)).code).toBe(0)
  expect(await verify('--expect x')).toMatchObject({ code: 2 })
  const db = await connect(machine.databaseUrl)
  cleanup(() => db.destroy())
  await db.updateTable('events').set({ origin: 'http' }).execute()
  for (const env of [{}, { FEEDBACKCTL_SERVER: server, FEEDBACKCTL_TOKEN: token }])
    expect(await machine.run('audit verify', { env })).toMatchObject({
      code: 9,
      stdout: expect.stringMatching(/^0\t1\tAn event of this block was changed/),
      stderr: expect.stringContaining('AUDIT_FINDINGS (exit 9)'),
    })
})
