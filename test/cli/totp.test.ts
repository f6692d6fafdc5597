import path from 'node:path'
import { generate } from 'otplib'
import { expect, it } from 'vitest'
import { makeMachine, signedAnew } from '../support/cli.js'

it('"totp" adds a second factor, "login" asks for its code, and "secret rotate" and "users reset-totp" work', async () => {
  const machine = await makeMachine('sqlite')
  const token = await machine.setup()
  const [, server = ''] = await machine.start('serve --limits-sign-in off').says(/listening on (http:\S+?)"/)
  const env = { FEEDBACKCTL_SERVER: server }
  const password = 'correct horse battery\n'
  const login = 'login --email ada@example.org --password-stdin'
  expect(await machine.run(login, { env, stdin: password })).toMatchObject({ code: 0 })
  const begun = machine.terminal('totp begin', { env })
  await begun.sees(/▀[^]*totp enable CODE/)
  expect((await begun.ended).code).toBe(0)
  const secret = (await machine.run('totp begin -q', { env })).stdout.trim()
  const codeIn = (seconds: number) => generate({ secret, epoch: Math.floor(Date.now() / 1000) + seconds })
  const enabled = await machine.run(`totp enable ${await codeIn(-30)}`, { env })
  expect(enabled).toMatchObject({ code: 0, stderr: expect.stringContaining('Keep the recovery codes') })
  const [recovery = ''] = enabled.stdout.split('\n')
  expect(recovery).toMatch(/^(\w{4}-){3}\w{4}$/)
  expect(await machine.run(login, { env, stdin: password })).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('--code'),
  })
  expect(await machine.run(`${login} --code 000000`, { env, stdin: password })).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('TOTP_WRONG'),
  })
  expect(await machine.run('secret rotate')).toMatchObject({ code: 0 })
  const screen = machine.terminal('login --email ada@example.org', { env })
  await screen.sees(/Password/)
  screen.type('correct horse battery\r')
  await screen.sees(/Code of the authenticator app/)
  const isRead = async () => {
    const authorization = `Bearer ${signedAnew(token, path.join(machine.folder, 'data/feedbackctl/secret'))}`
    return (await fetch(`${server}/api/v1/users/permissions`, { headers: { authorization } })).status
  }
  await expect.poll(isRead).toBe(200) // the server has read the new secret
  screen.type(`${await codeIn(0)}\r`)
  const { code, text } = await screen.ended
  expect([code, text.includes('Signed in to')]).toEqual([0, true])
  expect(await machine.run(`${login} --code ${recovery}`, { env, stdin: password })).toMatchObject({ code: 0 })
  const body = JSON.stringify({ email: 'ada@example.org', password: password.trim(), code: '000000' })
  const wrong = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  for (let turn = 0; turn < 20; turn++) await fetch(`${server}/api/v1/auth/login`, wrong)
  const slowed = await machine.run(`${login} --code 000000`, { env, stdin: password })
  expect([slowed.code, slowed.stderr]).toEqual([6, expect.stringContaining('TOTP_LIMITED')])
  expect(slowed.stderr).toContain('--code RECOVERY-CODE')
  expect(await machine.run('users reset-totp ada@example.org')).toMatchObject({ code: 0 })
  expect(await machine.run(login, { env, stdin: password })).toMatchObject({ code: 0 })
})
