import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'

it('"sessions" lists and ends what "login" began, and "logout" ends it on the server too', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const [, server = ''] = await machine.start('serve').says(/listening on (http:\S+?)"/)
  const env = { FEEDBACKCTL_SERVER: server }
  const login = async (home: string) => {
    const at = { ...env, XDG_CONFIG_HOME: `${machine.folder}/${home}` }
    const { code, stderr } = await machine.run('login --email ada@example.org --password-stdin', { env: at, stdin: 'correct horse battery\n' }) // prettier-ignore
    expect([code, stderr]).toEqual([0, ''])
    return at
  }
  const [one, other] = [await login('one'), await login('other')]
  const listed = await machine.run('sessions list', { env: one })
  const rows = listed.stdout.trim().split('\n').map((line) => line.split('\t')) // prettier-ignore
  expect(rows.map(([program, address, current]) => [program, address, current])).toEqual([
    ['feedbackctl', '127.0.0.1', ''],
    ['feedbackctl', '127.0.0.1', 'current'],
    ['', '', ''],
  ])
  // Last use is stored by the hour, so minutes would be made up
  expect((await machine.terminal('sessions list', { env: one }).ended).text).toMatch(/current +(this hour|1 hour ago) /)
  expect(await machine.run(`sessions end ${rows[0]?.at(-1)}`, { env: one })).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^Ended session [\w-]+\.\n$/),
  })
  const refused = { code: 4, stderr: expect.stringContaining('INVALID_TOKEN') }
  expect(await machine.run('whoami', { env: other })).toMatchObject(refused)
  expect(await machine.run(`sessions end ${rows[0]?.at(-1)}`, { env: one })).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('feedbackctl sessions list'),
  })
  const token = (await machine.run('login --email ada@example.org --password-stdin --json', { env: other, stdin: 'correct horse battery\n' })).stdout // prettier-ignore
  expect(await machine.run('sessions end-all --yes', { env: one })).toMatchObject({ code: 0, stdout: '' })
  expect(await machine.run('whoami', { env: other })).toMatchObject(refused)
  expect(await machine.run('logout', { env: other })).toMatchObject({ code: 0 })
  const kept = JSON.parse(token).user.authToken as string
  expect(await machine.run('logout', { env: { ...one, FEEDBACKCTL_TOKEN: kept } })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('FEEDBACKCTL_TOKEN'),
  })
  expect((await machine.run('sessions list -q')).stdout.trim().split('\n')).toHaveLength(1)
  expect(await machine.run('logout', { env: one })).toMatchObject({ code: 0, stderr: expect.stringContaining('ended') })
  expect((await machine.run('sessions list -q')).stdout).toBe('')
  expect(await machine.run('logout', { env: one })).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('Not signed in'),
  })
  expect(await machine.run('logout')).toMatchObject({ code: 2, stderr: expect.stringContaining('--server') })
})
