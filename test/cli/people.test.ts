import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'

it('posts people lists whom to mention', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  await machine.run('posts create Dark')
  expect(await machine.run('posts people 1')).toMatchObject({ code: 0, stderr: '' })
  const { code, stdout } = await machine.run('posts people 1 -o json')
  expect([code, JSON.parse(stdout)]).toEqual([0, { people: expect.any(Array) }])
})
