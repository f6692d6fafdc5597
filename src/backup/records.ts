import { createHash } from 'node:crypto'
import type { Snapshot, TableShape, Value } from '../db/carried.js'
import { damaged, readLines, type Opened } from './container.js'

/** What a site has beside its database. */
export interface SiteFiles {
  secret: string | null
  /** The text of the configuration file. Absent in backups of the first weeks. */
  config?: string | null
}

/** How many rows a table has, and the hash of their lines. */
interface TableSum {
  rows: number
  sha256: string
}

/** The last line: what the lines before must add up to. */
export interface Manifest {
  tables: Record<string, TableSum>
  sequences: Record<string, number>
}

/** Told of each table while it is read, with the rows so far. */
export type Told = (table: string, rows: number) => void

/** Tables that are secrets, or that hold links with secrets. */
const SECRET_TABLES: readonly string[] = [
  'api_key_uses',
  'api_keys',
  'limits',
  'one_time_tokens',
  'outbox',
  'recovery_codes',
  'session_uses',
  'sessions',
  'totp',
]
/** What stands in place of columns that are secrets. */
const SECRET_COLUMNS: Readonly<Record<string, Readonly<Record<string, Value>>>> = {
  users: { password: 'redacted' },
  settings: { secretFingerprint: null },
}

class Sums {
  readonly tables: Record<string, TableSum> = {}
  #hash = createHash('sha256')
  #name = ''
  rows = 0

  begin(name: string): void {
    this.#hash = createHash('sha256')
    this.#name = name
    this.rows = 0
  }

  add(lines: string, rows: number): void {
    this.#hash.update(lines)
    this.rows += rows
  }

  end(): void {
    this.tables[this.#name] = { rows: this.rows, sha256: this.#hash.digest('hex') }
  }
}

/** The lines of a backup. `done` gets the manifest, which is the last of them. */
export async function* linesOf(
  snapshot: Snapshot,
  site: SiteFiles,
  { redact, told, done }: { redact: boolean; told?: Told | undefined; done?(this: void, manifest: Manifest): void },
): AsyncGenerator<string> {
  yield `${JSON.stringify({ site: redact ? { secret: null } : site })}\n`
  const sums = new Sums()
  for (const table of snapshot.tables) {
    yield `${JSON.stringify({ table: table.name, columns: table.columns })}\n`
    sums.begin(table.name)
    const hidden = redact ? SECRET_COLUMNS[table.name] : undefined
    if (!redact || !SECRET_TABLES.includes(table.name))
      for await (const rows of snapshot.rows(table)) {
        const shown = hidden ? rows.map((row) => redacted(row, table, hidden)) : rows
        const text = shown.map((row) => `${JSON.stringify(row)}\n`).join('')
        sums.add(text, rows.length)
        told?.(table.name, sums.rows)
        yield text
      }
    sums.end()
  }
  const manifest = { tables: sums.tables, sequences: { ...snapshot.sequences } }
  done?.(manifest)
  yield `${JSON.stringify({ manifest })}\n`
}

/** The rows of a snapshot. `done` gets what they add up to after the last. */
export async function* summed(
  snapshot: Snapshot,
  { told, done }: { told?: Told | undefined; done(this: void, manifest: Manifest): void },
): AsyncGenerator<{ table: TableShape; rows: Value[][] }> {
  const sums = new Sums()
  for (const table of snapshot.tables) {
    sums.begin(table.name)
    for await (const rows of snapshot.rows(table)) {
      sums.add(rows.map((row) => `${JSON.stringify(row)}\n`).join(''), rows.length)
      told?.(table.name, sums.rows)
      yield { table, rows }
    }
    sums.end()
  }
  done({ tables: sums.tables, sequences: { ...snapshot.sequences } })
}

const redacted = (row: readonly Value[], { columns }: TableShape, hidden: Readonly<Record<string, Value>>): Value[] =>
  row.map((value, index) => {
    const stand = hidden[columns[index] ?? '']
    return stand === undefined ? value : stand
  })

/** What `readRecords` finds beside the rows. */
export interface Found {
  site: SiteFiles
  manifest: Manifest
}

/** Rows that are yielded together. */
const BATCH = 500

type Line = Value[] | { site: SiteFiles } | { table: string; columns: string[] } | { manifest: Manifest }

/**
 * The rows of a backup whose hash was checked, some at a time. `found` is filled before the end. Throws BACKUP_DAMAGED
 * where the rows are not those of the manifest.
 */
export async function* readRecords(
  file: string,
  opened: Opened,
  { passphrase, found, told }: { passphrase: string | undefined; found: Partial<Found>; told?: Told | undefined },
): AsyncGenerator<{ table: TableShape; rows: Value[][] }> {
  const sums = new Sums()
  let table: TableShape | undefined
  let rows: Value[][] = []
  let text = ''
  const flush = () => {
    sums.add(text, rows.length)
    if (table && rows.length > 0) told?.(table.name, sums.rows)
    const some = rows
    rows = []
    text = ''
    return some
  }
  for await (const line of readLines(file, opened, passphrase)) {
    const each = lineOf(file, line)
    if (found.manifest) throw damaged(file, 'There is more after its end')
    if (Array.isArray(each)) {
      text += `${line}\n`
      if (table && rows.push(each) === BATCH) yield { table, rows: flush() }
      continue
    }
    if (table && rows.length > 0) yield { table, rows: flush() }
    if ('site' in each) found.site = each.site
    else {
      if (table) sums.end()
      if ('table' in each) {
        table = { name: each.table, columns: each.columns }
        sums.begin(each.table)
      } else found.manifest = each.manifest
    }
  }
  if (!found.manifest || !found.site) throw damaged(file, 'Its end is missing')
  const wrong = differences(found.manifest, { tables: sums.tables, sequences: found.manifest.sequences })
  if (wrong.length > 0) throw damaged(file, `The rows of ${wrong.join(', ')} do not match its manifest`)
}

function lineOf(file: string, line: string): Line {
  try {
    return JSON.parse(line) as Line
  } catch (error) {
    throw damaged(file, 'A line of it is not JSON', error)
  }
}

/** The tables that differ in their rows, and the counting keys that differ. */
export function differences(one: Manifest, other: Manifest): string[] {
  const names = new Set([...Object.keys(one.tables), ...Object.keys(other.tables)])
  const tables = [...names].filter((name) => {
    const [first, second] = [one.tables[name], other.tables[name]]
    return first?.rows !== second?.rows || first?.sha256 !== second?.sha256
  })
  const keys = Object.keys(one.sequences).filter((name) => one.sequences[name] !== other.sequences[name])
  return [...tables, ...keys.map((name) => `${name} (last id)`)]
}
