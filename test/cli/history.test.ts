import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'

it('"posts history" lists the roadmaps and boards that a post went through, newest first', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  await machine.run('boards create Ideas')
  await machine.run('roadmaps create Planned')
  await machine.run('posts create Dark')
  expect(await machine.run('posts history 1')).toMatchObject({ code: 0, stdout: '' })
  await machine.run('posts update 1 --roadmap planned')
  await machine.run('posts update 1 --board ideas')
  expect((await machine.run('posts history 1')).stdout).toMatch(
    /^\S+Z\tboard\t\tIdeas\t\t\n\S+Z\troadmap\t\tPlanned\t\t\n$/,
  )
  const { stdout } = await machine.run('posts history 1 --json')
  expect(JSON.parse(stdout)).toMatchObject({ history: [{ kind: 'board', from: null, to: { url: 'ideas' } }, {}] })
  expect((await machine.run('posts history 99')).code).toBe(3)
})

it('"posts history" names who moved a post, for the team', async () => {
  const machine = await makeMachine('sqlite')
  const token = await machine.setup()
  const [, server = ''] = await machine.start('serve').says(/listening on (http:\S+?)"/)
  const env = { FEEDBACKCTL_SERVER: server, FEEDBACKCTL_TOKEN: token }
  await machine.run('roadmaps create Planned')
  await machine.run('posts create Dark')
  expect((await machine.run('posts update 1 --roadmap planned', { env })).code).toBe(0)
  expect((await machine.run('posts history 1')).stdout).toMatch(/^\S+Z\troadmap\t\tPlanned\t\t\S.*\n$/)
})
