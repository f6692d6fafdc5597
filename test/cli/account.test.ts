import { readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { engines } from '../support/site.js'
import { makeMachine } from '../support/cli.js'

describe.each(engines)('account on %s', (engine) => {
  it('export writes one JSON document that nobody else can read, and delete ends the account', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    await machine.run('users create eve@example.org --password-stdin', { stdin: 'my own password' })
    await machine.run('posts create Mine --as eve@example.org')
    const exported = await machine.run('account export me.json --as eve@example.org')
    expect([exported.code, exported.stdout, exported.stderr]).toEqual([0, '', 'Wrote the account to me.json.\n'])
    const file = path.join(machine.folder, 'me.json')
    const data = JSON.parse(readFileSync(file, 'utf8'))
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(Object.keys(data)).toEqual(['profile', 'sessions', 'keys', 'posts', 'comments', 'votes', 'next'])
    expect(data).toMatchObject({ profile: { email: 'eve@example.org' }, posts: [{ title: 'Mine' }], comments: [] })
    expect(data.votes).toHaveLength(1)
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
