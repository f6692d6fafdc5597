import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'

describe('a command that only reads', () => {
  it('creates nothing where there is no site, says where it looked, and exits with 3', async () => {
    const machine = await makeMachine('sqlite')
    const { run } = machine
    const before = readdirSync(machine.folder, { recursive: true })
    for (const args of [
      'users list',
      'posts list --json',
      'posts show 1',
      'posts search x',
      'boards delete ideas --yes',
      'boards create Ideas --dry-run',
      'users block eve@example.org',
      'events list',
      'audit verify',
      'settings show',
      'moderate list',
      'whoami',
      'secret rotate',
      'secret reset --yes',
      'status',
      'migrate --dry-run',
      'sessions list --as eve@example.org',
      'comments list 1',
      'votes list 1',
      'keys list',
      'roles list',
      'labs show',
    ])
      expect([args, await run(args)]).toEqual([
        args,
        { code: 3, stdout: '', stderr: expect.stringContaining('SITE_NOT_FOUND') },
      ])
    expect(readdirSync(machine.folder, { recursive: true })).toEqual(before)
    const { stderr } = await run('users list')
    expect(stderr).toContain(
      `✗ There is no site here: ${path.join(machine.folder, 'data/feedbackctl/feedback.db')} does not exist.\n`,
    )
    for (const word of ['data.dir is', 'feedbackctl setup', '--data-dir', '--database-url', '--server'])
      expect(stderr).toContain(word)
  })

  it('creates nothing in a dry run of setup, which says what it would do', async () => {
    const machine = await makeMachine('sqlite')
    const args = 'setup --dry-run --email ada@example.org --generate-password --mail-url folder:mail'
    const { code, stdout } = await machine.run(args)
    expect(code).toBe(0)
    expect(stdout).toContain('Would set up the site.\n')
    expect(stdout).toContain(`  config  ${machine.folder}/config/feedbackctl/config.toml (would be written)\n`)
    expect(readdirSync(machine.folder)).not.toContain('data')
    expect(readdirSync(machine.folder)).not.toContain('config')
    expect((await machine.run('setup --dry-run --email x --generate-password --mail-url folder:mail')).code).toBe(2)
    expect(readdirSync(machine.folder)).not.toContain('data')
  })

  it('creates nothing in a folder that was mistyped', async () => {
    const machine = await makeMachine('sqlite')
    await machine.setup()
    const typo = path.join(machine.folder, 'typo')
    expect(await machine.run(`users list --data-dir ${typo}`)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`data.dir is ${typo}, from --data-dir`),
    })
    expect(existsSync(typo)).toBe(false)
    mkdirSync(typo)
    await machine.run(`posts list --database-url sqlite:${typo}/a.db`)
    expect(readdirSync(typo)).toEqual([])
    expect((await machine.run('users list')).code).toBe(0)
  })
})
