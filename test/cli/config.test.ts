import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeMachine, type Machine } from '../support/cli.js'

function configured(machine: Machine, text: string): string {
  const file = path.join(machine.folder, 'config/feedbackctl/config.toml')
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text, { mode: 0o600 })
  return file
}

describe('a configuration file that is wrong', () => {
  it.each([
    [
      'listen = "8000"\n\n[site]\n# the address\nlissten = "x"\n',
      5,
      'unknown key "site.lissten" in line 5. Did you mean "listen"?',
    ],
    ['"mail.urll" = "folder:mail"\n', 1, 'unknown key "mail.urll" in line 1. Did you mean "mail.url"?'],
    ['listen = "8000"\nsite = { lissten = "x" }\n', 2, 'unknown key "site.lissten" in line 2.'],
    [
      '[contexts.staging]\nserver = "https://x.example.org"\n\n[contexts.live]\nservr = "https://x.example.org"\n',
      5,
      'unknown key "servr" in line 5.',
    ],
    ['# comment\nlog.level = "loud"\n', 2, 'line 2.'],
    ['listen = "8000"\nlisten = \n', 2, 'not valid TOML in line 2'],
  ])('is reported with the line (%#)', async (text, line, said) => {
    const machine = await makeMachine('sqlite')
    const file = configured(machine, text)
    const { code, stderr } = await machine.run('boards list')
    const flat = stderr.replaceAll(/\s+/g, ' ')
    expect(code).toBe(2)
    expect(flat).toContain(said)
    expect(flat).toContain(
      `fix Correct line ${line} of ${file}. feedbackctl doctor config feedbackctl help environment code CONFIG_INVALID`,
    )
    const doctor = JSON.parse((await machine.run('doctor config --json')).stdout)
    expect(doctor.checks).toMatchObject([{ id: 'config', severity: 'error', fix: `Correct line ${line} of ${file}.` }])
    const list = await machine.run('config list --show-origin')
    expect(list.stdout).toContain('data.dir') // what it can read
    expect(list.stderr).not.toMatch(/fix +feedbackctl config list/)
  })
})

describe('a duration in the configuration', () => {
  it.each([
    'shutdown.timeout = "1m"',
    'shutdown.timeout = "30"',
    'shutdown.timeout = 30',
    'database.timeout = "2m"',
    'database.timeout = 7',
    'database.timeout = "300s"',
    'limits.mail = "3/1d"',
    'backup.every = "2w"',
  ])('%s is right', async (line) => {
    const machine = await makeMachine('sqlite')
    configured(machine, `${line}\n`)
    expect(await machine.run('config list')).toMatchObject({ code: 0 })
  })

  it.each([
    'shutdown.timeout = "1 minute"',
    'shutdown.timeout = "4h"',
    'database.timeout = "0s"',
    'database.timeout = "6m"',
    'limits.mail = "3/2d"',
    'backup.every = "90"',
  ])('%s is refused', async (line) => {
    const machine = await makeMachine('sqlite')
    configured(machine, `${line}\n`)
    expect(await machine.run('boards list')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('CONFIG_INVALID'),
    })
  })
})
