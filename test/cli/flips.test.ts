import { createWriteStream, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { constants, gunzipSync } from 'node:zlib'
import { expect, it, vi } from 'vitest'
import { readHeader, readLines, writeContainer } from '../../src/backup/container.js'
import { rehearse } from '../../src/backup/rehearse.js'
import { filled, json, rowsOf, secretOf } from '../support/backups.js'
import { cleanup, temporaryFolder } from '../support/site.js'

const PASSPHRASE = 'open sesame please'
const config = { get: () => PASSPHRASE, origin: () => '' } as never

interface Section {
  name: string
  first: number
  last: number
}

/** Where the parts of a backup that is not encrypted are in its file: those of its lines as far as gzip has packed them. */
function sectionsOf(file: Buffer): Section[] {
  const headerSize = file.indexOf('\n') + 1
  const body = file.subarray(headerSize, -32)
  /** The byte of the file with which a byte of the lines can be unpacked. */
  const packed = (at: number): number => {
    let [low, high] = [1, body.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (gunzipSync(body.subarray(0, middle), { finishFlush: constants.Z_SYNC_FLUSH }).length > at) high = middle
      else low = middle + 1
    }
    return headerSize + low - 1
  }
  const lines = gunzipSync(body).toString('latin1')
  const between = (name: string, start: number, end: number) => ({ name, first: packed(start), last: packed(end - 1) })
  const tables = [...lines.matchAll(/^\{"table":"(\w+)".*\n((?:\[.*\n)+)/gm)].map(
    ([all, name = '', rows = ''], index) =>
      between(`${index} ${name}`, lines.indexOf(all) + all.length - rows.length, lines.indexOf(all) + all.length),
  )
  const [secret, settings, manifest] = ['"secret"', '"config"', '{"manifest"'].map((word) => lines.indexOf(word))
  if (secret === undefined || settings === undefined || manifest === undefined) throw new Error('unreachable')
  return [
    { name: 'header', first: 0, last: headerSize - 1 },
    { name: 'head of gzip', first: headerSize, last: headerSize + 9 },
    between('secret', secret, settings),
    between('configuration', settings, lines.indexOf('\n')),
    ...tables,
    between('manifest', manifest, lines.length),
    { name: 'tail of gzip', first: file.length - 40, last: file.length - 33 },
    { name: 'hash', first: file.length - 32, last: file.length - 1 },
  ]
}

/** Writes the lines of a backup that is not encrypted again, with a passphrase or another schema. */
async function written(from: string, to: string, passphrase: string | undefined, schema?: string): Promise<void> {
  const opened = await readHeader(from)
  const lines = async function* () {
    for await (const line of readLines(from, opened, undefined)) yield `${line}\n`
  }
  const stream = createWriteStream(to)
  await writeContainer(stream, { ...opened.header, ...(schema && { schema }) }, { lines: lines(), passphrase })
  await new Promise<void>((resolve) => stream.end(resolve))
}

it('a rehearsal finds a flipped bit in any part of a backup, and leaves nothing', async () => {
  const machine = await filled('sqlite')
  writeFileSync(path.join(machine.folder, 'feedbackctl.toml'), 'site.language = "de"\n', { mode: 0o600 })
  const { file: plain } = await json(machine, 'backup create plain.backup')
  const encrypted = path.join(machine.folder, 'sealed.backup')
  await written(plain, encrypted, PASSPHRASE)
  const [TMPDIR, other] = [temporaryFolder(), temporaryFolder()]
  vi.stubEnv('TMPDIR', TMPDIR)
  cleanup(async () => void vi.unstubAllEnvs())
  const before = [await rowsOf(machine), readFileSync(secretOf(machine), 'utf8')]
  const bad = path.join(other, 'bad.backup')
  const verdict = () => rehearse(config, bad).then(() => 'whole', (error) => String(error.code)) // prettier-ignore

  const sections = sectionsOf(readFileSync(plain))
  const names = sections.map(({ name }) => name)
  expect(names.filter((name) => /^\d+ (settings|users|boards|posts|comments|votes)$/.test(name))).toHaveLength(6)
  const longer = readFileSync(encrypted).indexOf('\n') - readFileSync(plain).indexOf('\n')
  for (const file of [plain, encrypted]) {
    const whole = readFileSync(file)
    writeFileSync(bad, whole)
    expect(await verdict()).toBe('whole')
    const isSealed = file === encrypted
    const end = isSealed ? longer + 16 : 0 // the tag of the cipher is before the hash
    const shift = ({ name }: Section) => (name === 'header' ? 0 : name === 'hash' ? end : isSealed ? longer : 0)
    const places = sections.flatMap((each) => [
      [each.name, each.first + shift(each)] as const,
      [each.name, each.name === 'header' ? whole.indexOf('\n') : each.last + shift(each)] as const,
    ])
    if (isSealed) places.push(['tag', whole.length - 48], ['tag', whole.length - 33])
    for (const word of ['schema', 'createdAt', 'redacted', 'encryption'])
      places.push([`header, ${word}`, whole.indexOf(`"${word}":`) + word.length + 4])
    places.push(['header, format', whole.indexOf('/1"') + 1])
    expect(places.length).toBeGreaterThan(24)
    for (const [name, at] of places) {
      const changed = Buffer.from(whole)
      changed[at] = (whole[at] ?? 0) ^ 1
      writeFileSync(bad, changed)
      expect(await verdict(), `${name}, byte ${at} of ${whole.length}`).toBe('BACKUP_DAMAGED')
    }
    expect(readdirSync(TMPDIR)).toEqual([])
  }

  const env = { TMPDIR, FEEDBACKCTL_BACKUP_PASSPHRASE: PASSPHRASE }
  const whole = readFileSync(encrypted)
  for (const at of [0, Math.floor(whole.length / 2), whole.length - 1]) {
    const changed = Buffer.from(whole)
    changed[at] = (whole[at] ?? 0) ^ 1
    writeFileSync(bad, changed)
    expect(await machine.run(`backup rehearse ${bad}`, { env })).toMatchObject({
      code: 9,
      stderr: expect.stringContaining('BACKUP_DAMAGED'),
    })
  }
  await written(plain, bad, undefined, '9999_later')
  for (const args of [`backup rehearse ${bad}`, `restore ${bad} --yes`])
    expect(await machine.run(args, { env })).toMatchObject({ code: 5, stderr: expect.stringContaining('newer feedbackctl (schema 9999_later)') }) // prettier-ignore
  const misread = Buffer.from(whole) // its schema looks like that of a newer program
  const schema = whole.indexOf('"schema":') + 10
  misread[schema] = (whole[schema] ?? 0) ^ 1
  writeFileSync(bad, misread)
  expect(await machine.run(`restore ${bad} --yes`, { env })).toMatchObject({
    code: 9,
    stderr: expect.stringContaining('BACKUP_DAMAGED'),
  })
  expect(readdirSync(TMPDIR)).toEqual([])
  expect([await rowsOf(machine), readFileSync(secretOf(machine), 'utf8')]).toEqual(before)
})
