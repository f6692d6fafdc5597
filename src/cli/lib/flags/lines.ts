import { CsvError, parse } from 'csv-parse/sync'
import { AppError } from '../../../core/errors.js'
import { counted } from '../../../core/text.js'
import type { Terminal } from '../terminal/terminal.js'
import type { LineColumn } from './columns.js'
import type { Values } from './fieldoption.js'

/** A line of stdin, or a record of CSV: the fields of a thing to create, or why it has none. */
export interface Line {
  number: number
  name: string // in errors
  values: Values | AppError
}

/** Characters of a record. Without a bound, a quote that nobody closes takes the rest of the file into memory. */
const MOST = 500_000

/**
 * The records on stdin. If its first line is a CSV header with the main column, the others are records; otherwise
 * each line is a value of that column. Empty lines and empty cells are skipped.
 */
export async function* linesGiven(
  { stdin }: Pick<Terminal, 'stdin'>,
  columns: readonly LineColumn[],
  main: string,
): AsyncGenerator<Line> {
  const lines = textLines(stdin)
  const first = await lines.next()
  if (first.done) return
  const header = headerOf(first.value, columns, main)
  if (header) return yield* records(lines, header, main)
  let number = 1
  const line = (text: string): Line => ({ number, name: text.trim(), values: { [main]: text.trim() } })
  if (first.value.trim() !== '') yield line(first.value)
  for await (const text of lines) {
    number += 1
    if (text.trim() !== '') yield line(text)
  }
}

/** The lines of UTF-8, without a byte order mark and line breaks. */
async function* textLines(stdin: AsyncIterable<unknown>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decoded = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      throw new AppError('USAGE', 'stdin is not UTF-8 text. Save it as UTF-8.')
    }
  }
  const whole = (line: string) => line.replace(/\r$/, '')
  let rest = ''
  for await (const chunk of stdin) {
    const lines = (rest + decoded(chunk as Uint8Array)).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > MOST) throw new AppError('USAGE', `A line of stdin has more than ${MOST} characters.`)
    yield* lines.map(whole)
  }
  rest += decoded()
  if (rest !== '') yield whole(rest)
  return undefined
}

interface Header {
  separator: string
  columns: readonly LineColumn[]
}

/** The columns that a first line names, separated as spreadsheets do; undefined where it names no main column. */
function headerOf(text: string, known: readonly LineColumn[], main: string): Header | undefined {
  const columnNamed = (cell: string) => known.find(({ names }) => names.includes(cell.trim().toLowerCase()))
  for (const separator of [',', ';', '\t']) {
    const cells = cellsOf(text, separator) ?? []
    if (!cells.some((cell) => columnNamed(cell)?.field === main)) continue
    const columns = cells.map((cell) => columnNamed(cell) ?? unknownColumn(cell, known))
    const twice = columns.find((column, index) => columns.indexOf(column) !== index)
    if (twice) throw new AppError('USAGE', `The header of the CSV names the column "${twice.names[0]}" twice.`)
    return { separator, columns }
  }
  return undefined
}

function unknownColumn(cell: string, known: readonly LineColumn[]): never {
  const names = known.map((column) => column.names[0]).join(', ')
  throw new AppError('USAGE', `Unknown column ${JSON.stringify(cell.slice(0, 100))} in the header of the CSV. The columns are: ${names}.`) // prettier-ignore
}

/**
 * The records of CSV. A quoted cell may have line breaks: a record ends where its quotes are even. The streaming parser
 * of csv-parse would find this end too, but after a stray quote it skips the records that follow.
 */
async function* records(lines: AsyncIterable<string>, header: Header, main: string): AsyncGenerator<Line> {
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
    if (!open && whole.trim() !== '') yield lineOf(header, record.number, whole, main)
  }
  if (open) yield lineOf(header, open.number, open.text.join('\n'), main)
}

function lineOf({ separator, columns }: Header, number: number, text: string, main: string): Line {
  const cells = cellsOf(text, separator)
  const name = cells?.[columns.findIndex(({ field }) => field === main)]?.trim() ?? ''
  const wrong = (message: string): Line => ({ number, name, values: new AppError('USAGE', message) })
  if (!cells) return wrong('The quotes of this record do not match. Write a quote in a cell as "".')
  if (cells.length !== columns.length)
    return wrong(`The record has ${counted(cells.length, 'cell')}, and the header has ${columns.length}.`)
  if (name === '') return wrong(`The record has no ${main}.`)
  const given = columns.flatMap(({ field, valueOf }, index) => {
    const cell = cells[index] ?? ''
    return cell.trim() === '' ? [] : [[field, valueOf(cell)]]
  })
  return { number, name, values: Object.fromEntries(given) as Values }
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
