import { createReadStream } from 'node:fs'
import { AppError } from '../core/errors.js'
import { textLines } from '../core/records.js'
import { COUNTING, type TableShape, type Value } from '../db/carried.js'
import { kindsOf, SHAPES } from '../db/columnkinds.js'
import { exportedTables, lackedBy, OLDEST_READ, type ExportedTable } from '../db/exported.js'
import { completed } from '../db/reimported.js'
import { NEWEST } from '../db/schema.js'

/** Totals over the lines of an export. */
export interface Summary {
  passwords: boolean
  /** How many lines there are of each type, in the order of the file. */
  types: Map<string, number>
  /** The last id of each table with a counting key. */
  sequences: Record<string, number>
}

/** Characters of a line. The longest field of a row has 65,536, of which JSON may write each as six. */
const MAX_LINE = 4 * 2 ** 20
/** Limits of a batch: rows, and characters of their lines. */
const BATCH = 500
const BATCH_LENGTH = 4 * 2 ** 20

/** A line of an export and its row. */
interface ExportLine {
  text: string
  table: TableShape
  row: Value[]
}

/**
 * Reads an export line by line, and fills `summary`. Throws USAGE with the number of the first line that an export of
 * this version cannot have.
 */
export async function* exportRows(file: string, shown: string, summary: Summary): AsyncGenerator<ExportLine> {
  let number = 0
  const wrong = (why: string, line = number) =>
    new AppError('USAGE', `Line ${line} of ${shown} ${why}. Nothing was changed.`)
  const lines = textLines(
    createReadStream(file),
    {
      notUtf8: () => new AppError('USAGE', `${shown} is not valid UTF-8. Nothing was changed.`),
      tooLong: (line) => wrong(`is longer than ${MAX_LINE / 2 ** 20} MB`, line + 1),
    },
    MAX_LINE,
  )
  let [tables, schema]: [ExportedTable[], string] = [[], NEWEST]
  let current: Part | undefined
  let [hasEnd, lastNumber, highest] = [false, 0, 0]
  for await (const text of lines) {
    number += 1
    const { type, ...row } = objectIn(text, wrong)
    if (hasEnd) throw wrong('comes after the end of the export')
    if (number === 1) {
      schema = schemaOf({ type, ...row }, shown)
      summary.passwords = row.passwords === true
      tables = exportedTables({ tables: SHAPES }, summary)
      continue
    }
    if (type === 'end') {
      if (Object.keys(row).join() !== 'lines' || row.lines !== number - 1)
        throw wrong(`says that ${JSON.stringify(row.lines)} lines come before it, and there are ${number - 1}`)
      hasEnd = true
      continue
    }
    const part = current && current.table.type === type ? current : partOf(tables, type, schema)
    if (!part) throw wrong(`has the unknown type ${shownValue(type)}`)
    if (current && part.at < current.at)
      throw wrong(`is a ${part.table.type}, which comes before each ${current.table.type} in an export`)
    current = part
    const { table, whole, kinds, lacked } = part
    const fields = table.columns.filter((column) => !lacked.has(column))
    if (Object.keys(row).join() !== fields.join())
      throw wrong(`does not have the fields of a ${table.type}: ${fields.join(', ')}`)
    const values = table.columns.map((column) => lacked.get(column) ?? row[column])
    const bad = values.findIndex((value, at) => !isValue(value) || (value === null ? kinds[at]?.isRequired : kinds[at]?.fits(value) === false)) // prettier-ignore
    if (bad >= 0) throw wrong(`has a value in ${table.columns[bad]} that is not ${isValue(values[bad]) ? kinds[bad]?.is : 'a text, a number or null'}`) // prettier-ignore
    if (!table.includes(values as Value[])) throw wrong(`is a ${table.type} that an export leaves out`)
    const given = Object.fromEntries(table.columns.map((column, at) => [column, values[at] as Value]))
    if (table.name === 'posts') highest = Math.max(highest, Number(given.number))
    if (table.name === 'counters') lastNumber = Number(given.value)
    if (COUNTING.includes(table.name)) summary.sequences[table.name] = Math.max(summary.sequences[table.name] ?? 0, Number(given.id)) // prettier-ignore
    summary.types.set(table.type, (summary.types.get(table.type) ?? 0) + 1)
    yield { text: JSON.stringify({ type, ...given }), table: whole, row: completed(whole, given) }
  }
  if (!hasEnd) throw new AppError('USAGE', `${shown} is not complete: its last line is missing. Nothing was changed.`)
  for (const type of ['settings', 'counter'])
    if (summary.types.get(type) !== 1) throw new AppError('USAGE', `${shown} needs one line of the type ${type}. Nothing was changed.`) // prettier-ignore
  if (!Number.isSafeInteger(lastNumber) || lastNumber < highest)
    throw new AppError('USAGE', `${shown} has a post with a number above that of its counter. Nothing was changed.`)
}

/** The table whose lines are being read. */
interface Part {
  at: number
  table: ExportedTable
  /** The same table, with the columns that an export leaves out. */
  whole: TableShape
  kinds: ReturnType<typeof kindsOf>
  /** What its lines lack. */
  lacked: ReturnType<typeof lackedBy>
}

function partOf(tables: readonly ExportedTable[], type: unknown, schema: string): Part | undefined {
  const at = tables.findIndex((table) => table.type === type)
  const table = tables[at]
  const whole = SHAPES.find(({ name }) => name === table?.name)
  return table && whole && { at, table, whole, kinds: kindsOf(table), lacked: lackedBy(schema, table.name) }
}

/** Reads an export in batches of rows of one table. */
export async function* exportBatches(
  file: string,
  shown: string,
  summary: Summary,
): AsyncGenerator<{ table: TableShape; rows: Value[][] }> {
  let batch: { table: TableShape; rows: Value[][] } | undefined
  let size = 0
  for await (const { table, row, text } of exportRows(file, shown, summary)) {
    if (batch && (batch.table.name !== table.name || batch.rows.length >= BATCH || size >= BATCH_LENGTH)) {
      yield batch
      batch = undefined
    }
    if (!batch) {
      batch = { table, rows: [] }
      size = 0
    }
    batch.rows.push(row)
    size += text.length
  }
  if (batch) yield batch
}

/** The schema of an export by its first line. Throws USAGE if this version does not read it. */
function schemaOf(header: Record<string, unknown>, shown: string): string {
  const { type, format, version, schema, passwords } = header
  if (type !== 'header' || format !== 'feedbackctl' || typeof schema !== 'string' || typeof passwords !== 'boolean')
    throw new AppError('USAGE', `${shown} is not an export of feedbackctl: its first line is not a header.`)
  if (version !== 1 || schema > NEWEST)
    throw new AppError('USAGE', `${shown} was exported by a newer feedbackctl. Import it with that version.`)
  if (schema < OLDEST_READ)
    throw new AppError('USAGE', `${shown} was exported by another version of feedbackctl. Update that site, export it again, and import the new file.`) // prettier-ignore
  return schema
}

function objectIn(text: string, wrong: (why: string) => AppError): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // not JSON: handled below
  }
  throw wrong('is not a JSON object')
}

/** PostgreSQL cannot store NUL or unpaired surrogates. */
const isValue = (value: unknown): value is Value =>
  value === null ||
  (typeof value === 'string' ? value.isWellFormed() && !value.includes('\0') : typeof value === 'number')

const shownValue = (value: unknown): string => (JSON.stringify(value) ?? 'none').slice(0, 60)
