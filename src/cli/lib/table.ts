import { Chalk, type ChalkInstance, type ColorSupportLevel } from 'chalk'
import Table from 'cli-table3'
import stringWidth from 'string-width'
import { printable, printableLines } from '../../core/text.js'

/** A column. `text` is the full value, for pipes; `shown` is what a table shows instead. */
export interface Column<Row> {
  head: string
  text(this: void, row: Row): string
  shown?(this: void, row: Row, paint: ChalkInstance, now: Date): string
  /**
   * When a table is too wide, the column with the highest number is dropped first. 0 is never dropped: what the next
   * command needs, and marks that change what one does. Undefined: only with -o wide.
   */
  drop?: number
  right?: true
  /** Left out of tables in which no row has it. */
  ifAny?: true
  /** Never truncated, as part of an id is useless. */
  whole?: true
}

interface Style {
  width: number
  color: ColorSupportLevel
  wide: boolean
  now: Date
}

const GAP = 2
/** Columns are truncated to this width before any column is dropped. */
const READABLE_WIDTH = 24
/** The width that columns are truncated to when no more can be dropped. */
const MIN_WIDTH = 8

/**
 * Draws a table without borders. To fit the width, truncates cells, then drops columns: empty ones first, then the
 * least important. What is left is truncated further, but is wider than a terminal that has no room for an id.
 */
export function drawTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], style: Style): string {
  const paint = new Chalk({ level: style.color }) // chalk ignores NO_COLOR on a terminal
  const measured = columns
    .filter((column) => style.wide || column.drop !== undefined)
    .filter((column) => !column.ifAny || rows.some((row) => column.text(row) !== ''))
    .map((column) => ({
      ...column,
      cells: rows.map((row) => column.shown?.(row, paint, style.now) ?? printable(column.text(row))),
    }))
    .map((column) => ({
      ...column,
      empty: column.cells.every((cell) => cell === ''),
      width: Math.max(...[column.head, ...column.cells].map((cell) => stringWidth(cell))),
    }))
  const fitted = style.wide ? measured : fit(measured, style.width)
  const table = new Table({
    head: fitted.map((column) => paint.dim(column.head)),
    colWidths: fitted.map((column) => column.width + GAP),
    colAligns: fitted.map((column) => (column.right ? 'right' : 'left')),
    chars: Object.fromEntries(
      [
        'top',
        'top-mid',
        'top-left',
        'top-right',
        'bottom',
        'bottom-mid',
        'bottom-left',
        'bottom-right',
        'left',
        'left-mid',
        'mid',
        'mid-mid',
        'right',
        'right-mid',
        'middle',
      ].map((part) => [part, '']),
    ),
    // cli-table3 colors heads and borders even in a pipe.
    style: { 'padding-left': 0, 'padding-right': GAP, head: [], border: [] },
  })
  table.push(...rows.map((_, index) => fitted.map((column) => column.cells[index] ?? '')))
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

interface MeasuredColumn {
  width: number
  empty: boolean
  drop?: number
  whole?: true
}

function fit<C extends MeasuredColumn>(columns: C[], available: number): C[] {
  const remaining = [...columns]
  const excess = () => remaining.reduce((sum, column) => sum + column.width + GAP, -GAP) - available
  const widest = () =>
    remaining
      .filter((column) => !column.whole)
      .reduce((max, column) => (column.width > (max?.width ?? 0) ? column : max), undefined as C | undefined)
  const rank = ({ empty, drop = 0 }: C) => (empty ? Infinity : drop)
  const leastImportant = () =>
    remaining.reduce(
      (worst, column) => (rank(column) > (worst ? rank(worst) : 0) ? column : worst),
      undefined as C | undefined,
    )
  const truncate = (minimum: number) => {
    for (let column = widest(); excess() > 0 && column && column.width > minimum; column = widest())
      column.width = Math.max(minimum, column.width - excess())
  }
  truncate(READABLE_WIDTH)
  for (let column = leastImportant(); excess() > 0 && column; column = leastImportant())
    remaining.splice(remaining.indexOf(column), 1)
  truncate(MIN_WIDTH)
  return remaining
}

/** Draws one row as a list of labels and values. */
export function drawRecord<Row>(columns: readonly Column<Row>[], row: Row, style: Style): string {
  const paint = new Chalk({ level: style.color })
  const label = Math.max(...columns.map((column) => column.head.length)) + GAP
  const value = (column: Column<Row>) => column.shown?.(row, paint, style.now) ?? printableLines(column.text(row)).replaceAll('\n', `\n${' '.repeat(label)}`) // prettier-ignore
  return columns.map((column) => paint.dim(column.head.padEnd(label)) + value(column)).join('\n')
}
