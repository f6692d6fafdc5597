import { expect, it } from 'vitest'
import { makeMachine, serve } from '../support/cli.js'

it('commands refuse the most common passwords, and "account password" changes one', async () => {
  const machine = await makeMachine('sqlite')
  const common = { code: 2, stdout: '', stderr: expect.stringContaining('PASSWORD_COMMON') }
  const setup = 'setup --email ada@example.org --mail-url folder:mail --password-stdin'
  expect(await machine.run(setup, { stdin: 'Password1\n' })).toMatchObject(common)
  await machine.setup()
  expect(await machine.run('users create eve@example.org --password-stdin', { stdin: 'iloveyou\n' })).toMatchObject(
    common,
  )
  const [, server = ''] = await machine.start('serve').says(/listening on (http:\S+?)"/)
  const env = { FEEDBACKCTL_SERVER: server }
  expect(
    await machine.run('account signup eve@example.org --password-stdin', { stdin: '12345678\n', env }),
  ).toMatchObject(common)
  await machine.run('login --email ada@example.org --password-stdin', { stdin: 'correct horse battery\n', env })
  const screen = machine.terminal('account password', { env })
  await screen.sees(/Current password/)
  screen.type('correct horse battery\r')
  await screen.sees(/Password \(8/)
  screen.type('12345678\r')
  await screen.sees(/most common/)
  screen.type('\u0015another secret\r')
  await screen.sees(/Confirm/)
  screen.type('another secret\r')
  const { code, text } = await screen.ended
  expect([code, text.includes('other sessions have ended')]).toEqual([0, true])
  for (const secret of ['correct horse', '12345678', 'another secret']) expect(text).not.toContain(secret)
  const login = (stdin: string) => machine.run('login --email ada@example.org --password-stdin', { stdin, env })
  expect((await login('correct horse battery\n')).stderr).toContain('INCORRECT_PASSWORD')
  expect((await login('another secret\n')).code).toBe(0)
})

it('"serve" refuses the most common passwords where passwords.common says so', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const body = { email: 'eve@example.org', password: 'Password1' }
  const mail = { FEEDBACKCTL_MAIL_URL: 'folder:mail' }
  const request = await serve(machine, { ...mail, FEEDBACKCTL_PASSWORDS_COMMON: 'refuse' })
  expect((await request('POST /auth/signup', { body })).body.code).toBe('PASSWORD_COMMON')
  expect((await (await serve(machine, mail))('POST /auth/signup', { body })).status).toBe(201)
})
