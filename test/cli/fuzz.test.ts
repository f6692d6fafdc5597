import { createWriteStream, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { readHeader, readLines, writeContainer } from '../../src/backup/container.js'
import { createHash } from 'node:crypto'
import { rehearse, verifyRestorable } from '../../src/backup/rehearse.js'
import { restoreBackup } from '../../src/backup/restore.js'
import { linesOf } from '../../src/backup/records.js'
import { fileSnapshot } from '../../src/db/sqlite/snapshot.js'
import { AppError } from '../../src/core/errors.js'
import { amount, figures } from '../faults/amount.js'
import { filled, json } from '../support/backups.js'
import { random } from '../support/random.js'
import { temporaryFolder } from '../support/site.js'

/** Structural changes of one backup. */
const CHANGES = amount(60, 10_000)

/** Values of the type of their column that no site stores there. */
const SENSELESS: readonly [table: string, column: string, value: unknown, is: string][] = [
  ['settings', 'labs', 'x', 'true or false by name, in JSON'],
  ['settings', 'labs', '[]', 'true or false by name, in JSON'],
  ['settings', 'labs', '{"a":1}', 'true or false by name, in JSON'],
  ['settings', 'blockedDomains', '{}', 'a list of texts in JSON'],
  ['settings', 'blockedDomains', '[1]', 'a list of texts in JSON'],
  ['settings', 'allowSignup', 2, '0 or 1'],
  ['users', 'isOwner', 5, '0 or 1'],
  ['users', 'isBlocked', -1, '0 or 1'],
  ['users', 'createdAt', 'x', 'a time'],
  ['users', 'updatedAt', '2026-13-40T99:00:00.000Z', 'a time'],
  ['posts', 'createdAt', '', 'a time'],
  ['events', 'created_at', 'yesterday', 'a time'],
  ['events', 'id', null, 'a whole number'],
  ['post_moves', 'id', null, 'a whole number'],
]

type Row = unknown[]
interface Table {
  table: unknown
  columns: unknown
  rows: unknown[]
}
interface Parts {
  header: Record<string, unknown>
  site: unknown
  tables: Table[]
  sequences: Record<string, unknown>
  /** What is done to the text of the lines at the end. */
  text: (lines: string[]) => string[]
}

const HOSTILE: readonly unknown[] = [
  null, true, false, 0, -0, -1, 1.5, 1e300, 2 ** 53, '', 'x', '\0', '\ud800', ']e[0;x', [], {}, [1], { a: 1 }, 'a"b', "a'b", '__proto__', 'posts', 'x'.repeat(70_000),
  'otherapp"."accounts', 'settings" (id,title) values (1,\'P\') on conflict(id) do update set "title"=\'x\' where \'a\'<>?--',
] // prettier-ignore

/** A backup of a site with something of each kind: its parts, anew each time, and how changed ones are written. */
async function backupToChange() {
  const machine = await filled('sqlite')
  const { file } = await json(machine, 'backup create plain.backup')
  const opened = await readHeader(file)
  const lines: string[] = []
  for await (const line of readLines(file, opened, undefined)) lines.push(line)

  const parts = (): Parts => {
    const tables: Table[] = []
    let site: unknown
    let sequences = {}
    for (const line of lines) {
      const value = JSON.parse(line)
      if (Array.isArray(value)) tables.at(-1)?.rows.push(value)
      else if (value.table !== undefined) tables.push({ ...value, rows: [] })
      else if (value.site !== undefined) site = value.site
      else sequences = value.manifest.sequences
    }
    return { header: { ...opened.header }, site, tables, sequences, text: (all) => all }
  }
  async function write(to: string, { header, site, tables, sequences, text }: Parts): Promise<void> {
    const all = [JSON.stringify({ site })]
    const sums: [string, object][] = []
    for (const { table, columns, rows } of tables) {
      all.push(JSON.stringify({ table, columns }))
      const written = rows.map((row) => `${JSON.stringify(row)}\n`)
      all.push(...written.map((line) => line.slice(0, -1)))
      sums.push([
        String(table),
        { rows: rows.length, sha256: createHash('sha256').update(written.join('')).digest('hex') },
      ])
    }
    all.push(JSON.stringify({ manifest: { tables: Object.fromEntries(sums), sequences } }))
    const stream = createWriteStream(to)
    const given = { ...header } as unknown as Parameters<typeof writeContainer>[1]
    const content = async function* () {
      yield text(all)
        .map((line) => `${line}\n`)
        .join('')
    }
    await writeContainer(stream, given, { lines: content(), passphrase: undefined })
    await new Promise<void>((resolve) => stream.end(resolve))
  }

  return { parts, write }
}

const configIn = (folder: string) =>
  ({ get: (key: string) => (key === 'data.dir' ? folder : undefined), origin: () => 'default', file: path.join(folder, 'none.toml') }) as never // prettier-ignore

const verdict = (work: Promise<unknown>) =>
  work.then(
    () => 'whole',
    (error: unknown) => (error instanceof AppError ? `${error.code}: ${error.message}` : `internal: ${String(error)}`),
  )

/** Puts a value into a column of the first row of a table. */
function setIn({ tables }: Parts, { table: name, column, value }: { table: string; column: string; value: unknown }) {
  const table = tables.find((each) => each.table === name)
  const index = Array.isArray(table?.columns) ? table.columns.indexOf(column) : -1
  const [row] = table?.rows ?? []
  if (index >= 0 && Array.isArray(row)) row[index] = value
}

it(
  'a backup whose structure was changed is refused, or restores to what it says; verify and restore agree',
  { timeout: amount(240_000, 4 * 60 * 60_000) },
  async (test) => {
    const share = random()
    const below = (count: number) => Math.floor(share() * count)
    const any = <T>(list: readonly T[]): T => list[below(list.length)] as T
    const { parts, write } = await backupToChange()
    // A change can follow another one, which may have put a string or null where a list was.
    const isRow = (row: unknown): row is Row => Array.isArray(row)
    const filledTable = ({ tables }: Parts) => any(tables.filter(({ rows }) => rows.some(isRow)))
    const rowOf = (table: Table) => any(table.rows.filter(isRow))
    const columnsIn = ({ tables }: Parts) => any(tables.map(({ columns }) => columns).filter((columns) => Array.isArray(columns))) as unknown[] // prettier-ignore

    /** Each changes one thing. */
    const changes: ((changed: Parts) => void)[] = [
    ({ header }) => void (header[any(Object.keys(header))] = any(HOSTILE)),
    ({ header }) => void delete header[any(Object.keys(header))],
    ({ header }) => void (header.encryption = any([{}, { cipher: 'aes-256-gcm' }, { cipher: 'aes-256-gcm', kdf: 'scrypt', salt: 'x', iv: 'y' }])),
    (changed) => void (changed.site = any(HOSTILE)),
    (changed) => void (changed.site = { secret: any(HOSTILE), config: any(HOSTILE) }),
    ({ tables }) => void (any(tables).table = any(HOSTILE)),
    ({ tables }) => void (any(tables).table = any(['kysely_migration', 'sqlite_master', 'job_runs', any(tables).table])),
    ({ tables }) => void (any(tables).columns = any(HOSTILE)),
    (changed) => { const columns = columnsIn(changed); columns[below(columns.length)] = any(HOSTILE) },
    (changed) => { const columns = columnsIn(changed); columns[below(columns.length)] = any(columns) },
    (changed) => { const columns = columnsIn(changed); columns.splice(below(columns.length), 1) },
    (changed) => { const row = rowOf(filledTable(changed)); row[below(row.length)] = any(HOSTILE) },
    (changed) => { const row = rowOf(filledTable(changed)); row[below(row.length)] = any(row) },
    (changed) => rowOf(filledTable(changed)).push(any(HOSTILE)),
    (changed) => { const [table, column, value] = any(SENSELESS); setIn(changed, { table, column, value }) },
    (changed) => void (changed.site = { secret: any(['', 'short', 'a'.repeat(40)]), config: null }),
    (changed) => void rowOf(filledTable(changed)).pop(),
    (changed) => { const { rows } = filledTable(changed); rows.push(structuredClone(any(rows))) },
    (changed) => { const { rows } = filledTable(changed); rows.splice(below(rows.length), 1) },
    (changed) => { const { rows } = filledTable(changed); rows[below(rows.length)] = any(HOSTILE) },
    ({ tables }) => void tables.splice(below(tables.length), 1),
    ({ tables }) => void tables.push(structuredClone(any(tables))),
    (changed) => void (changed.tables = changed.tables.toReversed()),
    ({ sequences }) => void (sequences[any(['events', 'post_moves', 'posts', '__proto__', 'x'])] = any(HOSTILE)),
    (changed) => void (changed.text = (all) => all.toSpliced(below(all.length), 0, any(['null', '5', '"x"', '[]', '{}', 'true', '{"site":{"secret":null}}', '[1,]', ' ', '']))),
    (changed) => void (changed.text = (all) => all.toSpliced(below(all.length), 1)),
    (changed) => void (changed.text = (all) => [...all, any(all)]),
    (changed) => void (changed.text = (all) => all.map((line) => line.replace('[', '[ '))),
    (changed) => void (changed.text = (all) => ['x'.repeat(5 * 2 ** 20), ...all]),
  ] // prettier-ignore

    const grouped = async (all: AsyncIterable<string>) => {
      const found = new Map<string, string[]>()
      let rows: string[] = []
      for await (const text of all)
        for (const line of text.split('\n').filter((each) => each !== '')) {
          if (line.startsWith('{"table"')) found.set(line, (rows = []))
          else if (line.startsWith('[')) rows.push(line)
        }
      return [...found]
        .filter(([, some]) => some.length > 0)
        .map(([name, some]) => [name, ...some.toSorted()].join('\n'))
        .toSorted()
    }
    const heldBy = async (backup: string) => grouped(readLines(backup, await readHeader(backup), undefined))
    const restoredIn = async (into: string) => {
      const snapshot = fileSnapshot(path.join(into, 'feedback.db'))
      try {
        return await grouped(linesOf(snapshot, { secret: null }, { redact: false }))
      } finally {
        await snapshot.close()
      }
    }

    const folder = temporaryFolder()
    const bad = path.join(folder, 'bad.backup')
    const config = configIn(folder)
    const seen = new Map<string, number>()
    for (let count = 0; count < CHANGES; count++) {
      const changed = parts()
      any(changes)(changed)
      if (below(4) === 0) any(changes)(changed)
      await write(bad, changed)
      const verified = await verdict(verifyRestorable(config, bad))
      const into = path.join(folder, `into${count}`)
      const restored = await verdict(restoreBackup(config, bad, { into, version: '1', now: new Date() }))
      expect({ count, verified }).toEqual({ count, verified: restored })
      // It also compares the order of the rows
      const rehearsed = await verdict(rehearse(config, bad))
      expect({ count, rehearsed: rehearsed.includes('Restored, it differs') ? verified : rehearsed }).toEqual({ count, rehearsed: restored }) // prettier-ignore
      const held = verified === 'whole' ? [await heldBy(bad), await restoredIn(into)] : [[], []]
      expect(held[0]).toEqual(held[1])
      expect(verified).toMatch(/^(whole$|BACKUP_DAMAGED|DATABASE_NEWER|PASSPHRASE_WRONG)/)
      const [kind = ''] = verified.split(/: .*?(?=damaged|rows)/)
      seen.set(kind, (seen.get(kind) ?? 0) + 1)
      expect(readdirSync(folder).filter((name) => /rehearsal/.test(name))).toEqual([])
    }
    figures(test, `${CHANGES} changes, ${seen.get('whole') ?? 0} of them whole, ${seen.size - 1} kinds of refusals`)
    expect([...seen.keys()]).toEqual(expect.arrayContaining(['whole', 'BACKUP_DAMAGED']))
  },
)

it('a backup with what no site stores is refused, by verify and restore with the same words', async () => {
  const { parts, write } = await backupToChange()
  const folder = temporaryFolder()
  const bad = path.join(folder, 'bad.backup')
  const config = configIn(folder)
  const verdicts = async (changed: Parts) => {
    await write(bad, changed)
    const verified = await verdict(verifyRestorable(config, bad))
    const options = { into: path.join(folder, 'into'), version: '1', now: new Date() }
    return [verified, await verdict(restoreBackup(config, bad, options))]
  }
  const refusal = (what: string) => {
    const words = `BACKUP_DAMAGED: ${bad} is damaged or incomplete. ${what}. Use another backup.`
    return [words, words]
  }
  for (const [table, column, value, is] of SENSELESS) {
    const changed = parts()
    setIn(changed, { table, column, value })
    expect(await verdicts(changed)).toEqual(
      refusal(`A value in the column ${column} of its table ${table} is not ${is}`),
    )
  }
  for (const secret of ['', 'short', 'a'.repeat(40)])
    expect(await verdicts({ ...parts(), site: { secret, config: null } })).toEqual(
      refusal('The secret in it is one that can be guessed'),
    )
  const long = parts() // as a program beside this one may have written it
  setIn(long, { table: 'posts', column: 'title', value: '🎉'.repeat(1000) })
  setIn(long, { table: 'comments', column: 'body', value: '&lt;'.repeat(10_000) })
  setIn(long, { table: 'posts', column: 'updatedAt', value: '2026-03-02' })
  expect(await verdicts(long)).toEqual(['whole', 'whole'])
})
