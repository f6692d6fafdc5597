import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'

it('a dry run of "secret rotate" changes nothing', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const secret = () => readFileSync(path.join(machine.folder, 'data/feedbackctl/secret'), 'utf8')
  const before = secret()
  expect(await machine.run('secret rotate --dry-run')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('Would replace the secret.'),
  })
  expect(secret()).toBe(before)
  expect(await machine.run('secret rotate')).toMatchObject({ code: 0 })
  expect(secret()).not.toBe(before)
})

it('"secret rotate" says for how long tokens of the old secret still work', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  for (const [flag, time] of [
    ['--hours 0', '0 hours'],
    ['--hours 1', '1 hour'],
    ['', '48 hours'],
  ] as const) {
    const { code, stderr } = await machine.run(`secret rotate ${flag}`)
    expect([code, stderr]).toEqual([0, `Tokens of the old secret work for ${time} more.\n`])
  }
})
