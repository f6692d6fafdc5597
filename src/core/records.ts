import { CsvError, parse } from 'csv-parse/sync'
import type { AppError } from './errors.js'
import { counted } from './text.js'

/** A column of CSV: its names, the field that it sets, and how its text becomes a value. */
export interface RecordColumn {
  names: readonly string[]
  field: string
  valueOf(this: void, text: string): unknown
}

/** A thing to create: its fields, or why it has none. */
export interface Row {
  /** The line on which it begins. */
  number: number
  name: string // in errors
  size: number // in characters
  values: Record<string, unknown> | AppError
}

/** Characters of a record. Without a bound, a quote that nobody closes takes the rest of the file into memory. */
export const MOST = 500_000

/** The errors of whoever reads: about a record, about the header, and about text that cannot be read on. */
export interface Faults {
  record(this: void, message: string): AppError
  header(this: void, message: string): AppError
  notUtf8(this: void): AppError
  tooLong(this: void, line: number): AppError
}

/** The lines of UTF-8, without a byte order mark and line breaks. */
export async function* textLines(
  bytes: AsyncIterable<Uint8Array>,
  { notUtf8, tooLong }: Pick<Faults, 'notUtf8' | 'tooLong'>,
  most = MOST,
): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decoded = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      throw notUtf8()
    }
  }
  let number = 1
  let open: string[] = [] // parts of a line: to search all of it again for each would take long where parts are short
  let length = 0
  const add = (part: string) => {
    open.push(part)
    length += part.length
    if (length > most) throw tooLong(number)
  }
  const whole = () => {
    const line = open.join('').replace(/\r$/, '')
    open = []
    length = 0
    number += 1
    return line
  }
  for await (const chunk of bytes) {
    const [first = '', ...more] = decoded(chunk).split('\n')
    add(first)
    for (const part of more) {
      yield whole()
      add(part)
    }
  }
  add(decoded())
  if (length > 0) yield whole()
  return undefined
}

export interface Header {
  separator: string
  columns: readonly RecordColumn[]
}

/** The columns that a first line names, separated as spreadsheets do; undefined where it names no main column. */
export function headerOf(
  text: string,
  known: readonly RecordColumn[],
  main: string,
  { header: wrong }: Pick<Faults, 'header'>,
): Header | undefined {
  const columnNamed = (cell: string) => known.find(({ names }) => names.includes(cell.trim().toLowerCase()))
  const unknown = (cell: string): never => {
    const shown = JSON.stringify(cell.slice(0, 100).toWellFormed())
    throw wrong(`Unknown column ${shown} in the header of the CSV. The columns are: ${columnsIn(known)}.`)
  }
  for (const separator of [',', ';', '\t']) {
    const cells = cellsOf(text, separator) ?? []
    if (!cells.some((cell) => columnNamed(cell)?.field === main)) continue
    const columns = cells.map((cell) => columnNamed(cell) ?? unknown(cell))
    const twice = columns.find((column, index) => columns.indexOf(column) !== index)
    if (twice) throw wrong(`The header of the CSV names the column "${twice.names[0]}" twice.`)
    return { separator, columns }
  }
  return undefined
}

/** The names of columns, for messages. */
export const columnsIn = (known: readonly RecordColumn[]): string => known.map(({ names: [name] }) => name).join(', ')

/**
 * The records of CSV after its header. A quoted cell may have line breaks: a record ends where its quotes are even. The
 * streaming parser of csv-parse would find this end too, but after a stray quote it skips the records that follow.
 */
export async function* records(
  lines: AsyncIterable<string>,
  header: Header,
  main: string,
  faults: Pick<Faults, 'record'>,
): AsyncGenerator<Row> {
  let number = 1
  let open: { number: number; text: string[]; size: number } | undefined
  for await (const text of lines) {
    number += 1
    const record = open ?? { number, text: [], size: 0 }
    record.text.push(text)
    record.size += text.length
    const hasOddQuotes = text.split('"').length % 2 === 0
    open = hasOddQuotes === (open === undefined) && record.size < MOST ? record : undefined
    const whole = record.text.join('\n')
    if (!open && whole.trim() !== '') yield rowOf(header, record.number, whole, main, faults)
  }
  if (open) yield rowOf(header, open.number, open.text.join('\n'), main, faults)
}

function rowOf(
  { separator, columns }: Header,
  number: number,
  text: string,
  main: string,
  faults: Pick<Faults, 'record'>,
): Row {
  const cells = cellsOf(text, separator)
  const name = cells?.[columns.findIndex(({ field }) => field === main)]?.trim() ?? ''
  const row = (values: Row['values']): Row => ({ number, name, size: text.length, values })
  const wrong = (message: string): Row => row(faults.record(message))
  if (!cells) return wrong('The quotes of this record do not match. Write a quote in a cell as "".')
  if (cells.length !== columns.length)
    return wrong(`The record has ${counted(cells.length, 'cell')}, and the header has ${columns.length}.`)
  if (name === '') return wrong(`The record has no ${main}.`)
  const given = columns.flatMap(({ field, valueOf }, index) => {
    const cell = cells[index] ?? ''
    return cell.trim() === '' ? [] : [[field, valueOf(cell)]]
  })
  return row(Object.fromEntries(given))
}

/** The cells of a record (RFC 4180); undefined where its quotes do not match. */
function cellsOf(record: string, separator: string): string[] | undefined {
  try {
    return parse(record, { delimiter: separator, record_delimiter: '\n' })[0]
  } catch (error) {
    if (error instanceof CsvError) return undefined
    throw error
  }
}
