import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'

it('a command that makes a site says so on a terminal, once', async () => {
  const machine = await makeMachine('sqlite')
  const said = 'There was no site here: '
  const first = await machine.terminal('boards create Ideas', { columns: 300 }).ended
  expect([first.code, first.text]).toEqual([0, expect.stringContaining(said)])
  expect((await machine.terminal('boards create Bugs', { columns: 300 }).ended).text).not.toContain(said)

  const other = await makeMachine('sqlite')
  expect((await other.run('boards create Ideas')).stderr).not.toContain(said)
})
