import { generate } from 'otplib'
import { describe, expect, it } from 'vitest'
import { makeMachine, serve, type Machine } from '../support/cli.js'
import { damaged } from '../support/doctor.js'
import { engines, OWNER } from '../support/site.js'

const LISTENING = /listening on (http:\S+?)"/
const ONLY_LINK = /^http:\/\/\S+\/login\/link\/\?token=([\w-]{43})\n$/

const linkToken = async (machine: Machine): Promise<string> => {
  const { code, stdout } = await machine.run('owner link --quiet')
  expect(code).toBe(0)
  return ONLY_LINK.exec(stdout)?.[1] ?? `no link: ${stdout}`
}

const actions = async (machine: Machine): Promise<string[]> => {
  const { stdout } = await machine.run('events list --json')
  return (JSON.parse(stdout) as { events: { action: string }[] }).events.map(({ action }) => action)
}

describe.each(engines)('an owner who is locked out on %s', (engine) => {
  it('signs in with a link, once, in the browser, without a password', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const token = await linkToken(machine) // no server runs
    const [, url = ''] = await machine.start('serve').says(LISTENING)
    const page = await fetch(`${url}/login/link/?token=${token}`, { redirect: 'manual' })
    expect([page.status, page.headers.get('cache-control'), page.headers.get('set-cookie')]).toEqual([
      200,
      'no-store',
      null,
    ])
    const html = await page.text()
    expect(html).toMatch(/<form[^>]*action="[^"]*\/login\/link"/)
    const open = (given: string) =>
      fetch(`${url}/login/link`, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin: url, 'sec-fetch-site': 'same-origin' },
        body: new URLSearchParams({ token: given }),
      })
    const signedIn = await open(token)
    expect(signedIn.status).toBe(303)
    const cookie = signedIn.headers.getSetCookie().map((each) => each.split(';')[0]).join('; ') // prettier-ignore
    expect(await (await fetch(`${url}/settings`, { headers: { cookie } })).text()).toContain(OWNER.email)
    const again = await open(token)
    expect([again.status, again.headers.getSetCookie()]).toEqual([404, []])
    expect(await again.text()).toContain('feedbackctl owner link')
    expect(await actions(machine)).toEqual(expect.arrayContaining(['user.link_created', 'user.link_used']))
  })

  it('has one link, which a newer one, a new password and ended sessions make useless', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const http = await serve(machine)
    const use = async (token: string) => (await http('POST /auth/link', { body: { token } })).status
    const first = await linkToken(machine)
    const second = await linkToken(machine)
    expect([await use(first), await use(second), await use(second)]).toEqual([404, 200, 404])
    for (const command of ['owner reset --generate-password', `users sign-out ${OWNER.email} --yes`]) {
      const token = await linkToken(machine)
      expect((await machine.run(command)).code).toBe(0)
      expect([command, await use(token)]).toEqual([command, 404])
    }
    expect(await http('POST /auth/password/set', { body: { token: await linkToken(machine), password: 'a new one' } })).toMatchObject({ status: 400, body: { code: 'INVALID_TOKEN' } }) // prettier-ignore
  })

  it('that has expired, or whose owner is blocked, signs nobody in; a lost second factor is no obstacle', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const http = await serve(machine)
    const use = async (token: string) => {
      const { status, body } = await http('POST /auth/link', { body: { token } })
      return [status, body.code]
    }
    const old = await linkToken(machine)
    await damaged(machine, (db) => db.updateTable('one_time_tokens').set({ expiresAt: '2020-01-01T00:00:00.000Z' }).execute()) // prettier-ignore
    expect(await use(old)).toEqual([401, 'INVALID_TOKEN'])
    const { secret } = JSON.parse((await machine.run(`totp begin --as ${OWNER.email} --json`)).stdout) as { secret: string } // prettier-ignore
    expect((await machine.run(`totp enable ${await generate({ secret })} --as ${OWNER.email}`)).code).toBe(0)
    const [status] = await use(await linkToken(machine))
    expect(status).toBe(200)
    expect(await machine.run(`users block ${OWNER.email}`)).toMatchObject({ code: 5, stderr: expect.stringContaining('CANNOT_CHANGE_OWNER') }) // prettier-ignore
    const token = await linkToken(machine)
    await damaged(machine, (db) => db.updateTable('users').set({ isBlocked: 1 }).execute())
    expect((await use(token))[1]).toBe('USER_BLOCKED')
  })

  it('is missed before somebody writes a post in an editor', async () => {
    const machine = await makeMachine(engine)
    expect(await machine.run('migrate')).toMatchObject({ code: 0 })
    const { code, text } = await machine.terminal('posts create One', { env: { EDITOR: 'echo opened; false' } }).ended
    expect(text).toMatch(/no owner yet/)
    expect([code, text.includes('opened')]).toEqual([3, false])
  })

  it('makes no link in a dry run, and prints one object as JSON', async () => {
    const machine = await makeMachine(engine)
    expect(await machine.run('migrate')).toMatchObject({ code: 0 })
    expect(await machine.run('owner link')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/no owner yet[^]*feedbackctl setup[^]*USER_NOT_FOUND/),
    })
    await machine.setup()
    const http = await serve(machine)
    const token = await linkToken(machine)
    const dry = await machine.run('owner link --dry-run --json')
    expect(JSON.parse(dry.stdout)).toMatchObject({ url: null, email: OWNER.email })
    expect((await http('POST /auth/link', { body: { token } })).status).toBe(200)
    const { stdout } = await machine.run('owner link --json')
    const { url, expiresAt } = JSON.parse(stdout) as { url: string; expiresAt: string }
    expect(`${url}\n`).toMatch(ONLY_LINK)
    expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(3_600_000)
    expect(await machine.run('owner link --server http://127.0.0.1:9')).toMatchObject({ code: 2 })
  })

  it('sets a new password, which ends all sessions', async () => {
    const machine = await makeMachine(engine)
    const token = await machine.setup()
    expect(await machine.run('owner reset --no-input')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--generate-password'),
    })
    expect((await machine.run('owner reset --password-stdin --dry-run', { stdin: 'another password 1' })).code).toBe(0)
    const dry = await machine.run('owner reset --generate-password --dry-run')
    expect(dry.stderr).toBe('Would change the password of Ada <ada@example.org>.\n')
    const reset = await machine.run('owner reset --password-stdin', { stdin: 'another password 2' })
    expect(reset).toMatchObject({ code: 0, stderr: expect.stringContaining('reset-totp') })
    expect(reset.stdout + reset.stderr).not.toContain('another password')
    const http = await serve(machine)
    const login = async (password: string) =>
      (await http('POST /auth/login', { body: { email: OWNER.email, password } })).status
    expect((await http('GET /users/permissions', { token })).status).toBe(401)
    expect([await login(OWNER.password), await login('another password 1'), await login('another password 2')]).toEqual([403, 403, 200]) // prettier-ignore
    expect(await actions(machine)).toContain('user.password_set')
  })

  it('hands the site over, after a question, while the server runs', async () => {
    const machine = await makeMachine(engine)
    const token = await machine.setup()
    const http = await serve(machine)
    await machine.run('users create eve@example.org --password-stdin', { stdin: 'a long password' })
    const mayList = async (given: string) => (await http('GET /users', { token: given })).status
    const eve = (await http('POST /auth/login', { body: { email: 'eve@example.org', password: 'a long password' } })).body.user.authToken as string // prettier-ignore
    const link = await linkToken(machine)
    expect([await mayList(token), await mayList(eve)]).toEqual([200, 403])
    expect(await machine.run('owner promote eve@example.org')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('CONFIRMATION_NEEDED'),
    })
    expect(await machine.run('owner promote eve@example.org --dry-run')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Would make'),
    })
    expect([await mayList(token), await mayList(eve)]).toEqual([200, 403])
    const { code, stdout } = await machine.run('owner promote eve@example.org --yes --json')
    expect([code, (JSON.parse(stdout) as { user: object }).user]).toMatchObject([0, { isOwner: true }])
    expect([await mayList(token), await mayList(eve)]).toEqual([403, 200])
    expect((await http('POST /auth/link', { body: { token: link } })).status).toBe(404)
    expect(await actions(machine)).toContain('user.promoted')
    await machine.run(`users block ${OWNER.email} --yes`)
    expect(await machine.run(`owner promote ${OWNER.email} --yes`)).toMatchObject({ code: 4 })
    expect(await machine.run('owner promote nobody@example.org --yes')).toMatchObject({ code: 3 })
    expect([await mayList(eve)]).toEqual([200])
  })
})
