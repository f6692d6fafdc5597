import { AppError } from '../../../core/errors.js'
import { CSV_STYLE, csvCell } from '../../../core/csv.js'
import { escaped, printable } from '../../../core/text.js'
import type { Values } from '../flags/fieldoption.js'
import { colorLevel, widthOf, write, type ColorFlag, type Terminal } from '../terminal/terminal.js'
import type { Column } from './table.js'

export const FORMATS = ['table', 'wide', 'json', 'jsonl', 'yaml', 'csv', 'tsv', 'name'] as const
export type Format = (typeof FORMATS)[number]

export interface OutputFlags extends ColorFlag {
  output?: Format
  json?: boolean
  quiet?: boolean
  header?: boolean
  raw?: boolean
  bom?: boolean
  fields?: string | true
}

/**
 * The output format: a table on a terminal and tab-separated values in a pipe, unless a flag sets another. With --fields
 * it is JSON.
 */
export function formatOf({ stdout }: Terminal, { output, json, quiet, raw, bom, fields }: OutputFlags): Format {
  if (json && output !== undefined && output !== 'json')
    throw new AppError('USAGE', `--json and -o ${output} contradict each other. Give only one.`)
  const plain = output ?? (stdout.isTTY ? 'table' : 'tsv')
  const format = json ? 'json' : quiet ? 'name' : fields === undefined ? plain : (output ?? 'json')
  if (raw && (format === 'table' || format === 'wide'))
    throw new AppError('USAGE', 'A table cannot be printed with --raw. Add -o json, jsonl, yaml, csv or tsv.')
  if (bom && format !== 'csv') throw new AppError('USAGE', '--bom is for CSV. Add -o csv.')
  if (fields !== undefined && format === 'name')
    throw new AppError('USAGE', '--fields cannot be combined with -q or -o name.')
  return format
}

/** Formats with named values, to which a value can be added. */
export const isStructured = (format: Format): boolean => ['json', 'jsonl', 'yaml'].includes(format)

/** Whether the flags select a machine-readable format. */
export const isMachineReadable = ({ output, json, quiet, fields }: OutputFlags): boolean =>
  json === true ||
  quiet === true ||
  fields !== undefined ||
  (output !== undefined && output !== 'table' && output !== 'wide')

/** Whether a program reads all of the body: then what is shown only once can be in it. */
export const hasWholeBody = (terminal: Terminal, flags: OutputFlags): boolean =>
  isStructured(formatOf(terminal, flags)) && flags.fields === undefined

/** A response as rows of a table. */
export interface Output<Out, Row> {
  columns: readonly Column<Row>[]
  rows(this: void, answer: Out): readonly Row[]
  id(this: void, row: Row): string
  empty?(this: void, input: Values): string // said where there are no rows
  list?: true | ListKey<Out> // any number of rows; for a list with pages, the key of its rows in the body
}

/** Where the rows are in a body that has pages: beside them is `page_info`, in the body or in an object inside it. */
type ListKey<Out> = (Out extends WithPages ? keyof Out & string : never) | Nested<Out>
type Nested<Out> = { [Key in keyof Out & string]: Out[Key] extends WithPages ? `${Key}.results` : never }[keyof Out &
  string]
interface WithPages {
  page_info: object
}

/** The result of a command: the body as HTTP sends it, and its rows. */
export interface Printable<Row> {
  body: unknown
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  id(this: void, row: Row): string
  /** Draws one row as labels and values instead of a table. */
  single: boolean
}

export async function print<Row>(terminal: Terminal, flags: OutputFlags, whole: Printable<Row>): Promise<void> {
  if (flags.fields === undefined) return printRows(terminal, flags, whole)
  const { rows, single } = whole
  if (flags.fields === true) return write(terminal, lines(Object.keys(rows[0] ?? {})))
  const { chosenColumns, picked } = await import('./choice.js')
  const list = flags.fields
  const few = rows.map((row) => picked(row, list))
  // JSON is the row, or a list of rows, without what is around them in the body
  const body = single ? few[0] : few
  return printRows(terminal, flags, { body, rows: few, columns: chosenColumns(list), id: () => '', single })
}

async function printRows<Row>(
  terminal: Terminal,
  flags: OutputFlags,
  { body, rows, columns, id, single }: Printable<Row>,
): Promise<void> {
  const format = formatOf(terminal, flags)
  const cells = (write: (text: string) => string) => rows.map((row) => columns.map((column) => write(column.text(row))))
  const heads = columns.map((column) => column.field ?? column.head.toLowerCase())
  switch (format) {
    case 'json':
      return write(terminal, body === undefined ? '' : `${jsonOf(body, flags)}\n`)
    case 'jsonl':
      return write(terminal, lines(rows.map((row) => jsonOf(row, flags))))
    case 'yaml': {
      const { toYaml } = await import('./formats.js')
      return write(terminal, body === undefined ? '' : toYaml(body, flags))
    }
    case 'csv': {
      const { toCsv } = await import('./formats.js')
      const all = [...(flags.header === false ? [] : [heads]), ...cells(flags.raw ? asIs : csvCell)]
      return write(terminal, toCsv(all, { ...CSV_STYLE, bom: flags.bom === true }))
    }
    case 'tsv':
      return write(
        terminal,
        lines(
          [...(flags.header ? [heads] : []), ...cells(flags.raw ? tsvCell : (text) => escaped(tsvCell(text)))].map(
            (row) => row.join('\t'),
          ),
        ),
      )
    case 'name':
      return write(terminal, lines(rows.map((row) => (flags.raw ? id(row) : printable(id(row))))))
    case 'table':
    case 'wide':
      return printTable(terminal, flags, { rows, columns, single, wide: format === 'wide' })
  }
}

async function printTable<Row>(
  terminal: Terminal,
  flags: OutputFlags,
  { rows, columns, single, wide }: Pick<Printable<Row>, 'rows' | 'columns' | 'single'> & { wide: boolean },
): Promise<void> {
  const [first] = rows
  if (first === undefined) return
  const { drawRecord, drawTable } = await import('./table.js')
  const style = {
    width: widthOf(terminal.stdout),
    color: colorLevel(terminal, terminal.stdout, flags),
    wide: wide || !terminal.stdout.isTTY,
    now: terminal.now(),
  }
  await write(terminal, `${single ? drawRecord(columns, first, style) : drawTable(columns, rows, style)}\n`)
}

/** JSON on one line. The same data without --raw, in which nothing can control a terminal. */
export const jsonOf = (value: unknown, { raw }: Pick<OutputFlags, 'raw'>): string =>
  raw ? JSON.stringify(value) : escaped(JSON.stringify(value))

const asIs = (text: string): string => text

/** Escapes what separates cells and rows. */
const tsvCell = (cell: string): string =>
  cell.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r')

const lines = (rows: readonly string[]): string => rows.map((row) => `${row}\n`).join('')
