import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { freePort } from '../support/ports.js'

/** Starts a server without a terminal that reads a file, which `write` replaces. */
async function serving(args: string, settings: string) {
  const machine = await makeMachine('sqlite')
  const file = path.join(machine.folder, 'own.toml')
  const write = (text: string) => writeFileSync(file, text, { mode: 0o600 })
  write(settings)
  const token = await machine.setup()
  const at = `127.0.0.1:${await freePort()}`
  const server = machine.start(`serve --config ${file} --listen ${at} ${args}`)
  await server.says(/listening on|mail is not configured/)
  const signIn = async () => {
    const body = JSON.stringify({ email: 'ada@example.org', password: 'a wrong password' })
    const headers = { 'content-type': 'application/json', connection: 'close' }
    return (await fetch(`http://${at}/api/v1/auth/login`, { method: 'POST', headers, body })).status
  }
  return { machine, server, write, file, signIn, token, url: `http://${at}` }
}

const RELOADED = (changed: string, needRestart = '') =>
  new RegExp(`"changed":\\[${changed}\\],"needRestart":\\[${needRestart}\\],"msg":"reloaded the settings"`)

it('SIGHUP changes the level of the log and the limits, and names what needs a restart', async () => {
  const { server, write, signIn, url } = await serving('', 'log.level = "warn"\nlimits.sign-in = "off"\n')
  expect(await signIn()).toBe(403)
  expect(await signIn()).toBe(403)
  write(
    'log.level = "info"\nlimits.sign-in = "1/15m"\nsite.language = "de"\nsecret = "a secret of 32 letters that is new"\n',
  )
  server.child.kill('SIGHUP')
  await server.says(RELOADED('"limits.sign-in","log.level"', '"site.language","secret"'))
  expect(server.output().stderr).not.toContain('32 letters')
  await expect.poll(signIn).toBe(429)
  await server.says(/"msg":"request"/)
  await fetch(`${url}/healthz`)
  expect((await server.stop()).code).toBe(0)
})

it('SIGHUP with settings that are not valid changes nothing and says why', async () => {
  const { server, write, signIn, file } = await serving('', 'limits.sign-in = "off"\n')
  write('limits.sign-in = "1/15m"\nlog.level = "loud"\n')
  server.child.kill('SIGHUP')
  await server.says(/"level":50.*log\.level must be one of.*"msg":"cannot reload the settings/)
  write('limits.sign-in = \n')
  server.child.kill('SIGHUP')
  await server.says(/"level":50.*is not valid TOML in line 1.*cannot reload the settings/)
  for (let attempt = 0; attempt < 3; attempt++) expect(await signIn()).toBe(403)
  expect(readFileSync(file, 'utf8')).toBe('limits.sign-in = \n')
  write('limits.sign-in = "off"\n')
  server.child.kill('SIGHUP')
  await server.says(RELOADED(''))
  expect((await server.stop()).code).toBe(0)
})

it('SIGHUP reaches the workers, and those that start later', async () => {
  const { server, write, signIn } = await serving('--workers 2', 'limits.sign-in = "off"\n')
  await server.says(/listening on[^]*listening on/)
  write('limits.sign-in = "1/15m"\n')
  server.child.kill('SIGHUP')
  await server.says(RELOADED('"limits.sign-in"'))
  await expect.poll(signIn).toBe(429) // when both have heard it
  for (let attempt = 0; attempt < 4; attempt++) expect(await signIn()).toBe(429)
  for (const [, pid] of server.output().stderr.matchAll(/"pid":(\d+)[^\n]*"listening on/g)) process.kill(Number(pid), 'SIGKILL') // prettier-ignore
  await server.says(/(listening on[^]*){4}/)
  for (let attempt = 0; attempt < 4; attempt++) expect(await signIn()).toBe(429)
  expect((await server.stop()).code).toBe(0)
})

it('"config set" says whether SIGHUP is enough', async () => {
  const machine = await makeMachine('sqlite')
  expect((await machine.run('config set log.level debug')).stderr).toContain('Restart "feedbackctl serve" to use it, or send it SIGHUP.') // prettier-ignore
  expect((await machine.run('config set limits.requests 9/1s')).stderr).toMatch(
    /Restart "feedbackctl serve" to use it\.\n$/,
  )
})
