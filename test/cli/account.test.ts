import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { engines } from '../support/site.js'
import { makeMachine } from '../support/cli.js'

/** The token of the newest mail. */
function tokenIn(folder: string): string {
  const newest = readdirSync(folder).toSorted().at(-1) ?? ''
  const text = readFileSync(path.join(folder, newest), 'utf8').replaceAll('=\r\n', '').replaceAll('=3D', '=')
  return /token=([\w-]{43})/.exec(text)?.[1] ?? ''
}

describe.each(engines)('account on %s', (engine) => {
  it('export writes one JSON document that nobody else can read, and delete ends the account', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    await machine.run('users create eve@example.org --password-stdin', { stdin: 'my own password' })
    await machine.run('posts create Mine --as eve@example.org')
    await machine.run('boards create Ideas')
    await machine.run('boards follow ideas --as eve@example.org')
    const exported = await machine.run('account export me.json --as eve@example.org')
    expect([exported.code, exported.stdout, exported.stderr]).toEqual([0, '', 'Wrote the account to me.json.\n'])
    const file = path.join(machine.folder, 'me.json')
    const data = JSON.parse(readFileSync(file, 'utf8'))
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(Object.keys(data)).toEqual([
      'profile',
      'identities',
      'sessions',
      'keys',
      'views',
      'notificationSettings',
      'posts',
      'comments',
      'votes',
      'follows',
      'boardFollows',
      'mentions',
      'notifications',
      'images',
      'next',
    ])
    expect(data).toMatchObject({ profile: { email: 'eve@example.org' }, posts: [{ title: 'Mine' }], comments: [] })
    expect([data.votes, data.boardFollows]).toMatchObject([{ length: 1 }, { length: 1 }])
    writeFileSync(file, 'kept')
    expect(await machine.run('account export me.json --as eve@example.org')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('it exists already'),
    })
    expect(readFileSync(file, 'utf8')).toBe('kept')
    expect(await machine.run('account export no/me.json --as eve@example.org')).toMatchObject({ code: 2 })
    const printed = await machine.run('account export --as eve@example.org')
    expect(JSON.parse(printed.stdout)).toEqual(data)

    const remove = 'account delete --as eve@example.org --password-stdin'
    expect(await machine.run(remove, { stdin: 'my own password' })).toMatchObject({
      code: expect.any(Number),
      stderr: expect.stringContaining('--yes'),
    })
    expect((await machine.run(`${remove} --yes`, { stdin: 'another password' })).stderr).toContain('INCORRECT_PASSWORD')
    const dry = await machine.run(`${remove} --yes --dry-run`, { stdin: 'my own password' })
    expect(dry.stderr).toContain('Would delete the account')
    expect((await machine.run(`${remove} --yes`, { stdin: 'my own password' })).stderr).toBe('Deleted the account.\n')
    expect((await machine.run('users show eve@example.org')).code).toBe(3)
    expect((await machine.run('posts list')).stdout).toContain('Mine')
  })

  it('delete takes a link by mail from who has no password, and "identities" lists how else they sign in', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const created = await machine.run('users create eve@example.org --no-invite')
    expect(created.stderr).toMatch(/^Created user_\w+ <eve@example.org>.\n$/)
    expect((await machine.run('users show eve@example.org --fields identities --json')).stdout).toContain('[]')
    expect((await machine.run('identities list --as eve@example.org')).stdout).toBe('')
    expect((await machine.run('identities list')).stdout).toBe('password\t\t\t\t\tpassword\n')
    expect(await machine.run('identities unlink password --yes')).toMatchObject({ code: 5, stderr: expect.stringContaining('LAST_IDENTITY') }) // prettier-ignore
    const remove = 'account delete --as eve@example.org --yes'
    expect((await machine.run(`${remove} --password-stdin`, { stdin: 'any password' })).stderr).toContain('feedbackctl account request-deletion') // prettier-ignore
    const asked = await machine.run('account request-deletion --as eve@example.org --json')
    expect([asked.code, asked.stdout]).toEqual([0, ''])
    const { stdout } = await machine.run('mail queue list --sent -q')
    const newest = stdout.split('\n')[0] ?? ''
    expect((await machine.run(`mail queue show ${newest} --json`)).stdout).toContain('delete your account')
    expect((await machine.run(`${remove} --deletion-token-stdin`, { stdin: 'x' })).stderr).toContain('INVALID_TOKEN')
    const token = tokenIn(path.join(machine.folder, 'mail'))
    const done = await machine.run(`${remove} --deletion-token-stdin`, { stdin: token })
    expect(done).toMatchObject({ code: 0, stderr: 'Deleted the account.\n' })
    expect((await machine.run('users show eve@example.org')).code).toBe(3)
  })

  it('export and delete work on a server', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    await machine.run('users create eve@example.org --password-stdin', { stdin: 'my own password' })
    const [, server = ''] = await machine.start('serve').says(/listening on (http:\S+?)"/)
    const login = await machine.run(`login --email eve@example.org --server ${server} --password-stdin`, {
      stdin: 'my own password',
    })
    expect([login.code, login.stderr]).toEqual([0, expect.any(String)])
    const env = { FEEDBACKCTL_SERVER: server }
    const { stdout } = await machine.run('account export', { env })
    expect(JSON.parse(stdout)).toMatchObject({ profile: { email: 'eve@example.org' }, sessions: [{ isCurrent: true }] })
    expect((await machine.run('account delete --password-stdin --yes', { env, stdin: 'my own password' })).code).toBe(0)
    expect((await machine.run('account permissions', { env })).code).not.toBe(0)
  })
})
