import { createHash } from 'node:crypto'
import { secretProblem } from '../core/settings.js'
import { COUNTING, isCarried, presentName, type Snapshot, type TableShape, type Value } from '../db/carried.js'
import { kindsOf } from '../db/columnkinds.js'
import { damaged, readLines, type Opened } from './container.js'

/** The files of a site beside its database. */
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

/** Reports the rows of a table that were read so far. */
export type OnProgress = (table: string, rows: number) => void

/** Tables that are secrets, that hold links with secrets, or that let people sign in. */
const SECRET_TABLES: readonly string[] = [
  'api_key_uses',
  'api_keys',
  'deliveries',
  'identities',
  'limits',
  'one_time_tokens',
  'recovery_codes',
  'session_uses',
  'sessions',
  'totp',
]
/** Placeholders for columns that are secrets. */
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
  {
    redact,
    onProgress,
    done,
  }: { redact: boolean; onProgress?: OnProgress | undefined; done?(this: void, manifest: Manifest): void },
): AsyncGenerator<string> {
  yield `${JSON.stringify({ site: redact ? { secret: null } : site })}\n`
  const sums = new Sums()
  for (const table of snapshot.tables) {
    yield `${JSON.stringify({ table: table.name, columns: table.columns })}\n`
    sums.begin(table.name)
    const hidden = redact ? SECRET_COLUMNS[table.name] : undefined
    if (!redact || !SECRET_TABLES.includes(presentName(table.name)))
      for await (const rows of snapshot.rows(table)) {
        const shown = hidden ? rows.map((row) => redacted(row, table, hidden)) : rows
        const text = shown.map((row) => `${JSON.stringify(row)}\n`).join('')
        sums.add(text, rows.length)
        onProgress?.(table.name, sums.rows)
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
  { onProgress, done }: { onProgress?: OnProgress | undefined; done(this: void, manifest: Manifest): void },
): AsyncGenerator<{ table: TableShape; rows: Value[][] }> {
  const sums = new Sums()
  for (const table of snapshot.tables) {
    sums.begin(table.name)
    for await (const rows of snapshot.rows(table)) {
      sums.add(rows.map((row) => `${JSON.stringify(row)}\n`).join(''), rows.length)
      onProgress?.(table.name, sums.rows)
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

/** The first and the last record of a backup, around the rows. */
export interface Envelope {
  site: SiteFiles
  manifest: Manifest
}

/** Limits of a batch: rows, and characters of their lines. A batch that reaches one is yielded. */
const BATCH = 500
const BATCH_LENGTH = 4 * 2 ** 20

type Line = Value[] | { site: SiteFiles } | { table: string; columns: string[] } | { manifest: Manifest }

/**
 * The rows of a backup whose hash was checked, some at a time. `envelope` is complete at the end. Throws BACKUP_DAMAGED
 * where the rows are not those of the manifest.
 */
export async function* readRecords(
  file: string,
  opened: Opened,
  {
    passphrase,
    envelope,
    onProgress,
  }: { passphrase: string | undefined; envelope: Partial<Envelope>; onProgress?: OnProgress | undefined },
): AsyncGenerator<{ table: TableShape; rows: Value[][] }> {
  const sums = new Sums()
  let table: TableShape | undefined
  let kinds: ReturnType<typeof kindsOf> = []
  let rows: Value[][] = []
  let text = ''
  const flush = () => {
    sums.add(text, rows.length)
    if (table && rows.length > 0) onProgress?.(table.name, sums.rows)
    const some = rows
    rows = []
    text = ''
    return some
  }
  for await (const line of readLines(file, opened, passphrase)) {
    const each = lineOf(file, line)
    if (envelope.manifest) throw damaged(file, 'There is more after its end')
    if (Array.isArray(each)) {
      if (each.length !== table?.columns.length) throw damaged(file, 'A row of it has not the columns of its table')
      const wrong = each.findIndex((value, index) =>
        value === null ? kinds[index]?.isRequired : kinds[index]?.fits(value) === false,
      )
      if (wrong >= 0)
        throw damaged(
          file,
          `A value in the column ${table.columns[wrong]} of its table ${table.name} is not ${kinds[wrong]?.is}`,
        )
      text += `${line}\n`
      rows.push(each)
      if (table && (rows.length === BATCH || text.length >= BATCH_LENGTH)) yield { table, rows: flush() }
      continue
    }
    if (table && rows.length > 0) yield { table, rows: flush() }
    if ('site' in each) {
      if (envelope.site) throw damaged(file, 'It has two sites')
      if (each.site.secret !== null && secretProblem(each.site.secret) !== undefined)
        throw damaged(file, 'The secret in it is one that can be guessed')
      envelope.site = each.site
      continue
    }
    if (!envelope.site) throw damaged(file, 'Its begin is missing')
    if (table) sums.end()
    if ('table' in each) {
      if (sums.tables[each.table]) throw damaged(file, `It has the table ${each.table} twice`)
      table = { name: each.table, columns: each.columns }
      kinds = kindsOf(table)
      sums.begin(each.table)
    } else envelope.manifest = each.manifest
  }
  if (!envelope.manifest || !envelope.site) throw damaged(file, 'Its end is missing')
  const wrong = differences(envelope.manifest, { tables: sums.tables, sequences: envelope.manifest.sequences })
  if (wrong.length > 0) throw damaged(file, `The rows of ${wrong.join(', ')} do not match its manifest`)
}

function lineOf(file: string, line: string): Line {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    throw damaged(file, 'A line of it is not JSON', error)
  }
  if (isRow(value) && JSON.stringify(value) === line) return value // else it would restore to another text
  if (isSite(value) || isTable(value) || isManifest(value)) return value
  throw damaged(file, 'A line of it is none of a backup')
}

const isRow = (value: unknown): value is Value[] => Array.isArray(value) && value.every((each) => isValue(each))

/** PostgreSQL stores no NUL, and no half of a surrogate pair. */
const isValue = (value: unknown): value is Value =>
  value === null || (typeof value === 'string' ? value.isWellFormed() && !value.includes('\0') : Number.isFinite(value))

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether it is an object with this one property. */
const hasOnly = <Name extends string>(value: unknown, name: Name): value is Record<Name, unknown> =>
  isRecord(value) && Object.keys(value).join(' ') === name

const textOrNull = (value: unknown): boolean => value === null || (typeof value === 'string' && isValue(value))

const isSite = (value: unknown): value is { site: SiteFiles } =>
  hasOnly(value, 'site') &&
  isRecord(value.site) &&
  textOrNull(value.site.secret) &&
  (value.site.config === undefined || textOrNull(value.site.config))

/** Names become part of statements, so they are those of a fixed list, and columns are looked up in the schema. */
function isTable(value: unknown): value is { table: string; columns: string[] } {
  if (!isRecord(value) || Object.keys(value).toSorted().join(' ') !== 'columns table') return false
  const { table, columns } = value
  return (
    typeof table === 'string' &&
    isCarried(table) &&
    Array.isArray(columns) &&
    columns.length > 0 &&
    new Set(columns).size === columns.length &&
    columns.every((each) => typeof each === 'string' && /^[A-Za-z_]{1,64}$/.test(each))
  )
}

function isManifest(value: unknown): value is { manifest: Manifest } {
  if (!hasOnly(value, 'manifest') || !isRecord(value.manifest)) return false
  const { tables, sequences } = value.manifest
  const isCount = (count: unknown) => Number.isSafeInteger(count) && Number(count) >= 0
  return (
    isRecord(tables) &&
    Object.values(tables).every(
      (sum) => isRecord(sum) && isCount(sum.rows) && typeof sum.sha256 === 'string' && /^[\da-f]{64}$/.test(sum.sha256),
    ) &&
    isRecord(sequences) &&
    Object.entries(sequences).every(([name, last]) => COUNTING.includes(name) && isCount(last))
  )
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
