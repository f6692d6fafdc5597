import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'

it.each([
  ['posts list --waiting', 'total_count'],
  ['moderate list --days', 'total_count'],
])('%s takes a number of days, with a unit or without', async (command, field) => {
  const machine = await makeMachine('sqlite')
  const [words = '', flag = ''] = command.split(' --')
  const { stdout: help } = await machine.run(`${words} --help`)
  expect(help.replaceAll(/\s+/g, ' ')).toMatch(new RegExp(`--${flag} <days> .*?\\(such as 7, 7d or 4w\\)`))
  await machine.setup()
  for (const days of ['7', '7d', '1w']) {
    const { code, stdout } = await machine.run(`${command} ${days} --json`)
    expect([days, code, JSON.parse(stdout)]).toEqual([days, 0, expect.objectContaining({ [field]: 0 })])
  }
  for (const wrong of ['7x', '0d', '12h'])
    expect([wrong, (await machine.run(`${command} ${wrong}`)).code]).toEqual([wrong, 2])
})
