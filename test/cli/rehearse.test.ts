import { createHash } from 'node:crypto'
import { createWriteStream, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { readHeader, writeContainer } from '../../src/backup/container.js'
import { backupsOf, filled, json } from '../support/backups.js'
import { makeMachine } from '../support/cli.js'
import { engines, temporaryFolder } from '../support/site.js'

const flipped = (file: string, at: number): void => {
  const bytes = readFileSync(file)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(file, bytes)
}
const names = (files: readonly { file: string }[]): string[] => files.map(({ file }) => path.basename(file, '.backup'))

// Each test starts some thirty processes
describe.each(engines)('a rehearsal on %s', (engine) => {
  it('restores the newest backup, says what it compared, and leaves nothing', async () => {
    const machine = await filled(engine)
    const TMPDIR = temporaryFolder()
    expect(await machine.run('backup rehearse')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('BACKUP_NOT_FOUND'),
    })
    const folder = `${backupsOf(machine)}/`
    await machine.run(`backup create ${folder}old.backup`)
    await machine.run("posts create 'One more' --board ideas")
    const { file, tables } = await json(machine, `backup create ${folder}new.backup`)
    await machine.run(`backup create --redact ${folder}redacted.backup`)
    const done = await machine.run('backup rehearse --json', { env: { TMPDIR } })
    expect(done).toMatchObject({ code: 0, stderr: expect.stringMatching(/hashes of \d+ tables with \d+ rows/) })
    const rehearsed = JSON.parse(done.stdout)
    expect(rehearsed).toMatchObject({ file, tables })
    expect(rehearsed.tables.posts.rows).toBe(3)
    expect(readdirSync(TMPDIR)).toEqual([])
    expect((await machine.run(`backup rehearse ${folder}redacted.backup`)).code).toBe(0)
    flipped(file, 700)
    expect(await machine.run('backup rehearse', { env: { TMPDIR } })).toMatchObject({
      code: 9,
      stderr: expect.stringContaining('BACKUP_DAMAGED'),
    })
  })

  it('removes the older backups of this site, and nothing else', async () => {
    const machine = await filled(engine)
    const folder = backupsOf(machine)
    mkdirSync(folder, { recursive: true })
    const make = (name: string, from = machine) => from.run(`backup create ${folder}/${name}.backup`)
    const other = await makeMachine('sqlite')
    await other.setup(other.run) // a site of its own
    await make('stranger', other)
    await make('before-restore-1')
    await machine.run(`backup create --redact ${folder}/redacted.backup`)
    writeFileSync(path.join(folder, 'mine.backup'), 'not a backup')
    for (const name of ['one', 'two', 'three', 'four']) await make(name)
    const all = readdirSync(folder).toSorted()

    const dry = await json(machine, 'backup prune --keep 3 --dry-run')
    expect(names(dry.removed)).toEqual(['one'])
    expect(names(dry.left).toSorted()).toEqual(['before-restore-1', 'mine', 'redacted', 'stranger'])
    expect(await machine.run('backup prune --keep 3')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('CONFIRMATION_NEEDED'),
    })
    expect(await machine.run('backup prune --keep 0 --yes')).toMatchObject({ code: 2 })
    expect(readdirSync(folder).toSorted()).toEqual(all)
    expect(names((await json(machine, 'backup prune --yes')).removed)).toEqual([]) // seven stay without a setting
    await json(machine, 'backup prune --yes', { FEEDBACKCTL_BACKUP_KEEP: '3' })
    expect(readdirSync(folder).toSorted()).toEqual(all.filter((name) => name !== 'one.backup'))

    // The newest that is whole stays, even if newer ones are there
    flipped(`${folder}/four.backup`, 700)
    flipped(`${folder}/three.backup`, 700)
    const pruned = await json(machine, 'backup prune --keep 1 --yes')
    expect(names(pruned.removed)).toEqual(['three'])
    expect(path.basename(pruned.verified)).toBe('two.backup')
    flipped(`${folder}/two.backup`, 700)
    expect(await machine.run('backup prune --keep 1 --yes')).toMatchObject({
      code: 9,
      stderr: expect.stringContaining('Nothing was removed'),
    })
    expect(existsSync(`${folder}/two.backup`)).toBe(true)
  })
})

it('finds rows in another order, although the backup can be restored', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const { file } = await json(machine, 'backup create')
  const { header, headerSize } = await readHeader(file)
  const lines = gunzipSync(readFileSync(file).subarray(headerSize, -32)).toString().trimEnd().split('\n')
  const at = lines.findIndex((line) => line.includes('"table":"role_permissions"')) + 1
  lines.splice(at, 2, ...lines.slice(at, at + 2).toReversed())
  const end = lines.findIndex((line, index) => index > at && line.startsWith('{'))
  const rows = lines.slice(at, end).map((line) => `${line}\n`)
  const { manifest } = JSON.parse(lines.pop() ?? '')
  manifest.tables.role_permissions.sha256 = createHash('sha256').update(rows.join('')).digest('hex')
  const changed = [...lines, JSON.stringify({ manifest })]
  const odd = path.join(machine.folder, 'odd.backup')
  const stream = createWriteStream(odd)
  const all = async function* () {
    for (const line of changed) yield `${line}\n`
  }
  await writeContainer(stream, header, { lines: all(), passphrase: undefined })
  await new Promise<void>((resolve) => stream.end(resolve))
  expect(await machine.run('backup verify odd.backup')).toMatchObject({ code: 0 })
  expect(await machine.run('backup rehearse odd.backup')).toMatchObject({
    code: 9,
    stderr: expect.stringMatching(/differs in role_permissions/),
  })
})
