import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeMachine, type Machine } from '../support/cli.js'
import { freePort } from '../support/ports.js'
import { engines } from '../support/site.js'

const LISTENING = /listening on (http:\S+?)"/
const PASSWORD = 'correct horse battery'

/** Variables as a container gets them. */
function variables({ folder }: Machine): Record<string, string> {
  const file = path.join(folder, 'password')
  writeFileSync(file, `${PASSWORD}\n`)
  return {
    FEEDBACKCTL_SETUP_EMAIL: 'ada@example.org',
    FEEDBACKCTL_SETUP_PASSWORD_FILE: file,
    FEEDBACKCTL_SETUP_SITE_TITLE: 'Moonbase',
    FEEDBACKCTL_MAIL_URL: `folder:${folder}/mail`,
  }
}

const signIn = (url = '') =>
  fetch(`${url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@example.org', password: PASSWORD }),
  })

describe.each(engines)('the first owner of a server on %s', (engine) => {
  it('is made from the settings before the server listens, and only once', async () => {
    const machine = await makeMachine(engine)
    const env = variables(machine)
    const server = machine.start('serve', { env })
    const [, url] = await server.says(LISTENING)
    expect(server.output().stderr).toContain(
      'made the owner of this site from setup.email (from FEEDBACKCTL_SETUP_EMAIL)',
    )
    expect((await signIn(url)).status).toBe(200)
    expect(JSON.parse((await machine.run('settings show --json')).stdout)).toMatchObject({
      settings: { title: 'Moonbase' },
    })
    await server.says(/mail delivered/)
    await server.stop()

    rmSync(String(env.FEEDBACKCTL_SETUP_PASSWORD_FILE))
    const { FEEDBACKCTL_SETUP_PASSWORD_FILE: _, ...later } = env
    const again = machine.start('serve', { env: { ...later, FEEDBACKCTL_SETUP_EMAIL: 'eve@example.org' } })
    expect((await signIn((await again.says(LISTENING))[1])).status).toBe(200)
    expect(again.output().stderr).not.toContain('made the owner')
    expect((await machine.run('users list -o name')).stdout.trim().split('\n')).toHaveLength(1)
  })

  it('is made by one of two servers that start at once', async () => {
    const machine = await makeMachine(engine)
    if (engine === 'postgres') await machine.run('migrate --yes')
    const servers = [0, 1].map(() => machine.start('serve', { env: variables(machine) }))
    const urls = await Promise.all(servers.map((server) => server.says(LISTENING)))
    for (const [, url] of urls) expect((await signIn(url)).status).toBe(200)
    expect((await machine.run('users list -o name')).stdout.trim().split('\n')).toHaveLength(1)
  })

  it('is made by the primary of several workers', async () => {
    const machine = await makeMachine(engine)
    const server = machine.start(`serve --workers 2 --listen 127.0.0.1:${await freePort()}`, {
      env: variables(machine),
    })
    const [, url] = await server.says(LISTENING)
    expect((await signIn(url)).status).toBe(200)
  })
})

describe('a server that cannot make its first owner', () => {
  it.each<[string, Record<string, string>, RegExp]>([
    [
      'names all that is missing',
      { FEEDBACKCTL_SETUP_PASSWORD_FILE: '', FEEDBACKCTL_MAIL_URL: '' },
      /serve needs FEEDBACKCTL_SETUP_PASSWORD_FILE \(or setup\.password\) and FEEDBACKCTL_MAIL_URL \(or mail\.url\) too/,
    ],
    [
      'refuses an address',
      { FEEDBACKCTL_SETUP_EMAIL: `${'💡'.repeat(300)}@b` },
      /from FEEDBACKCTL_SETUP_EMAIL.*is not an e-mail address/,
    ],
    [
      'refuses a common password',
      { FEEDBACKCTL_SETUP_PASSWORD_FILE: '', FEEDBACKCTL_SETUP_PASSWORD: 'password' },
      /most common passwords/,
    ],
  ])('%s, and ends so that a service manager does not try again', async (_, env, says) => {
    const machine = await makeMachine('sqlite')
    const { code, stderr } = await machine.process('serve', { env: { ...variables(machine), ...env } })
    expect([code, stderr]).toEqual([78, expect.stringMatching(says)])
    expect(await machine.run('users list -o name')).toMatchObject({ stdout: '' })
  })

  it('says how to set up the site in a container', async () => {
    const machine = await makeMachine('sqlite')
    const server = machine.start('serve', { env: { container: 'podman' } })
    const [, log = ''] = await server.says(/"this site has no owner yet(.*)/)
    expect(log).toMatch(
      /or run \\"podman exec -it \S+ feedbackctl setup\\" on this machine, or start it with FEEDBACKCTL_SETUP_EMAIL,/,
    )
  })
})
