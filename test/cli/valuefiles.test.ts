import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { isSecret, keys, variableOf } from '../../src/core/settings.js'
import { makeMachine, type Machine } from '../support/cli.js'

/** A random text that is valid for each secret setting, and easy to find in an output. */
const CANARY = 'c4n4ry-Zq8Lw2Xv7Kp'
const VALUES: Partial<Record<(typeof keys)[number], string>> = {
  'database.url': `postgres://ada:${CANARY}@localhost/feedback`,
  'mail.url': `smtp://ada:${CANARY}@mail.example.org:587`,
}
const SECRETS = keys.filter(isSecret)

function filed(machine: Machine, text: string | Uint8Array, name = 'value'): string {
  const file = path.join(machine.folder, name)
  writeFileSync(file, text, { mode: 0o600 })
  return file
}

/** What the error says, on one line. */
const said = (stderr: string): string => stderr.replaceAll(/\s+/g, ' ')

describe.each(SECRETS)('the secret setting %s', (key) => {
  const variable = variableOf(key)
  const value = VALUES[key] ?? CANARY

  it('is read from the file that a variable or a systemd credential names', async () => {
    const machine = await makeMachine('sqlite')
    const file = filed(machine, `${value}\n`)
    const list = async (env: Record<string, string>) => {
      const { code, stdout, stderr } = await machine.run('config list --json --show-origin', { env })
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).not.toContain(CANARY)
      return (JSON.parse(stdout) as Record<string, unknown>)[key]
    }
    const given = await list({ [variable]: value, [`${variable}_FILE`]: '' })
    const shown = (origin: string) => ({ ...(given as object), origin })
    expect(await list({ [`${variable}_FILE`]: file, [variable]: '' })).toEqual(shown(`${variable}_FILE`))
    const folder = path.join(machine.folder, 'credentials')
    mkdirSync(folder)
    filed(machine, `${value}\r\n`, `credentials/${key}`)
    expect(await list({ CREDENTIALS_DIRECTORY: folder, [variable]: '' })).toEqual(shown(`systemd credential ${key}`))
  })

  it('is refused twice, and from a file that is unreadable, empty or too large, without its text', async () => {
    const machine = await makeMachine('sqlite')
    const refusal = async (file: string, more: Record<string, string> = {}) => {
      const env = { [variable]: '', [`${variable}_FILE`]: file, ...more }
      const { code, stdout, stderr } = await machine.run('boards list', { env })
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).not.toContain(CANARY)
      return said(stderr)
    }
    const named = `named by ${variable}_FILE`
    expect(await refusal('/x', { [variable]: value })).toContain(`Both ${variable} and ${variable}_FILE are set. Unset one of them.`) // prettier-ignore
    expect(await refusal('/nowhere/x')).toContain(`Cannot read /nowhere/x, ${named}: it does not exist.`)
    expect(await refusal(machine.folder)).toContain(`Cannot read ${machine.folder}, ${named}: it is a folder.`)
    for (const empty of ['', '\n', '\r\n']) {
      const file = filed(machine, empty)
      expect(await refusal(file)).toContain(`${file}, ${named}, is empty.`)
    }
    expect(await refusal('/dev/zero')).toContain(`/dev/zero, ${named}, has more than 64 kB.`)
    const large = filed(machine, value + 'x'.repeat(64_001 - value.length))
    expect(await refusal(large)).toContain(`${large}, ${named}, has more than 64 kB.`)
    const binary = filed(machine, Buffer.concat([Buffer.from(value), Buffer.from([0xff])]))
    expect(await refusal(binary)).toContain(`${binary}, ${named}, is not UTF-8 text.`)
    const zeros = filed(machine, `${value}\0`)
    expect(await refusal(zeros)).toContain(`${zeros}, ${named}, is not text.`)
  })
})

it('a value that is wrong names the variable of its file', async () => {
  const machine = await makeMachine('sqlite')
  const env = { FEEDBACKCTL_SECRET_FILE: filed(machine, 'short\n') }
  const { code, stderr } = await machine.run('boards list', { env })
  expect(code).toBe(2)
  expect(said(stderr)).toContain('secret must have at least 16 characters')
  expect(said(stderr)).toContain('It comes from FEEDBACKCTL_SECRET_FILE.')
})

it('only one line break at the end of a file is left out', async () => {
  const machine = await makeMachine('sqlite')
  const env = { FEEDBACKCTL_SITE_LANGUAGE_FILE: filed(machine, 'de\n\n') }
  const { stderr } = await machine.run('boards list', { env })
  expect(said(stderr)).toContain(String.raw`site.language must be one of en, de, es, fr, pt, ja, ar; "de\n" is not.`)
  expect(
    (await machine.run('config list', { env: { FEEDBACKCTL_SITE_LANGUAGE_FILE: filed(machine, 'de\n') } })).code,
  ).toBe(0)
})

it('a flag and its file together are refused', async () => {
  const machine = await makeMachine('sqlite')
  const { code, stderr } = await machine.run('boards list --mail-url folder:m --mail-url-file f')
  expect([code, said(stderr)]).toEqual([2, expect.stringContaining('--mail-url and --mail-url-file set the same value. Give only one.')]) // prettier-ignore
})
