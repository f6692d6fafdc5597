import { AppError } from '../../core/errors.js'
import { printable } from '../../core/text.js'
import type { Column } from './table.js'
import { hasColor, write, type Terminal } from './terminal.js'

export const FORMATS = ['table', 'wide', 'json', 'jsonl', 'yaml', 'csv', 'tsv', 'name'] as const
export type Format = (typeof FORMATS)[number]

export interface OutputFlags {
  output?: Format
  json?: boolean
  quiet?: boolean
  header?: boolean
  color?: boolean
}

/** The output format: a table on a terminal and tab-separated values in a pipe, unless a flag sets another. */
export function formatOf({ stdout }: Terminal, { output, json, quiet }: OutputFlags): Format {
  if (json && output !== undefined && output !== 'json')
    throw new AppError('USAGE', `--json and -o ${output} contradict each other. Give only one.`)
  if (json) return 'json'
  if (quiet) return 'name'
  return output ?? (stdout.isTTY ? 'table' : 'tsv')
}

/** Whether the flags select a machine-readable format. */
export const isMachineReadable = ({ output, json, quiet }: OutputFlags): boolean =>
  json === true || quiet === true || (output !== undefined && output !== 'table' && output !== 'wide')

/** The result of a command: the body as HTTP sends it, and its rows. */
export interface Printable<Row> {
  body: unknown
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  id(this: void, row: Row): string
  /** Draws one row as labels and values instead of a table. */
  single: boolean
}

export async function print<Row>(
  terminal: Terminal,
  flags: OutputFlags,
  { body, rows, columns, id, single }: Printable<Row>,
): Promise<void> {
  const format = formatOf(terminal, flags)
  const safe = (text: string) => (terminal.stdout.isTTY ? printable(text) : text) // a pipe gets the original text
  const cells = () => rows.map((row) => columns.map((column) => safe(column.text(row))))
  const heads = columns.map((column) => column.head.toLowerCase())
  switch (format) {
    case 'json':
      return write(terminal, body === undefined ? '' : `${JSON.stringify(body)}\n`)
    case 'jsonl':
      return write(terminal, lines(rows.map((row) => JSON.stringify(row))))
    case 'yaml': {
      const { toYaml } = await import('./formats.js')
      return write(terminal, body === undefined ? '' : toYaml(body, { aliasDuplicateObjects: false }))
    }
    case 'csv': {
      const { toCsv } = await import('./formats.js')
      return write(terminal, toCsv([...(flags.header === false ? [] : [heads]), ...cells()]))
    }
    case 'tsv':
      return write(
        terminal,
        lines([...(flags.header ? [heads] : []), ...cells()].map((row) => row.map(escapeCell).join('\t'))),
      )
    case 'name':
      return write(terminal, lines(rows.map(id)))
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
  if (!first) return
  const { drawRecord, drawTable } = await import('./table.js')
  const style = {
    width: terminal.stdout.columns ?? 80,
    color: hasColor(terminal, terminal.stdout, flags),
    wide: wide || !terminal.stdout.isTTY,
    now: terminal.now(),
  }
  await write(terminal, `${single ? drawRecord(columns, first, style) : drawTable(columns, rows, style)}\n`)
}

/** Escapes what separates cells and rows. */
const escapeCell = (cell: string): string =>
  cell.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r')

const lines = (rows: readonly string[]): string => rows.map((row) => `${row}\n`).join('')
