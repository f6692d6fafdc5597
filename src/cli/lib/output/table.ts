import { Chalk, type ChalkInstance, type ColorSupportLevel } from 'chalk'
import Table from 'cli-table3'
import stringWidth from 'string-width'
import { printable, printableLines } from '../../../core/text.js'
import { wrapped } from '../texts/wrap.js'

/** A column. `text` is the full value, for pipes; `shown` is what a table shows instead. */
export interface Column<Row> {
  head: string
  /** The field of the row that has the same value, as `--fields` names it: the heading in CSV. */
  field?: string
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
  /** Never truncated, as part of a url is useless. */
  whole?: true
  /**
   * An id: where there is little room, the start of it that tells the rows apart. Commands take the start of an id. `id`
   * is what stands in place of a longer cell, such as a url, where not even that has room.
   */
  short?: true
  id?(this: void, row: Row): string
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
/** Columns of decoration are dropped from this rank on before others are truncated further, to the next width. */
const DECORATION = 2
const NARROW_WIDTH = 12
/** The width that columns are truncated to when no more can be dropped. */
const MIN_WIDTH = 8
/** The least characters of an id: its time and more. Two rows of one moment have a longer one. */
const SHORT_ID = 18

/**
 * Draws a table without borders. To fit the width, truncates cells and shortens ids, then drops columns: empty ones
 * first, then decoration, the least important first. What is left is truncated further before more is dropped.
 */
export function drawTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], style: Style): string {
  const paint = new Chalk({ level: style.color }) // chalk ignores NO_COLOR on a terminal
  const safe = rows.map((row) => withText(row, printable))
  const measured = columns
    .filter((column) => style.wide || column.drop !== undefined)
    .filter((column) => !column.ifAny || rows.some((row) => column.text(row) !== ''))
    .map((column) => ({
      ...column,
      cells: safe.map((row) => column.shown?.(row, paint, style.now) ?? printable(column.text(row))),
    }))
    .map((column) => ({
      ...column,
      empty: column.cells.every((cell) => cell === ''),
      width: widthOf(column.head, column.cells),
      ids: rows.map((row) => printable((column.short ? column.text : column.id)?.(row) ?? '')),
    }))
  const fitted = style.wide ? measured : widened(fit(measured, style.width), measured, style.width)
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

/** A row whose every text is changed: what `shown` makes of it has colours, and no control character of a stranger. */
function withText<T>(value: T, change: (text: string) => string): T {
  const changed = (part: unknown): unknown => {
    if (typeof part === 'string') return change(part)
    if (Array.isArray(part)) return part.map(changed)
    if (typeof part !== 'object' || part === null || part instanceof Date) return part
    return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, changed(inner)]))
  }
  return changed(value) as T // texts stay texts
}

const widthOf = (head: string, cells: readonly string[]): number =>
  Math.max(...[head, ...cells].map((cell) => stringWidth(cell)))

interface MeasuredColumn {
  head: string
  cells: string[]
  /** Of the rows, where the column has them. */
  ids: string[]
  width: number
  empty: boolean
  drop?: number
  whole?: true
  short?: true
  id?: unknown
}

/** Gives the room that dropped columns left to those that were truncated before, from the left. */
function widened<C extends MeasuredColumn>(fitted: C[], measured: readonly C[], available: number): C[] {
  let room = available - fitted.reduce((sum, column) => sum + column.width + GAP, -GAP)
  return fitted.map((column) => {
    const whole = measured.find(({ head }) => head === column.head)
    const lacks = whole?.cells === column.cells ? whole.width - column.width : 0
    const more = Math.max(0, Math.min(room, lacks))
    room -= more
    return { ...column, width: column.width + more }
  })
}

function fit<C extends MeasuredColumn>(columns: C[], available: number): C[] {
  const remaining = columns.map((column) => ({ ...column }))
  const excess = () => remaining.reduce((sum, column) => sum + column.width + GAP, -GAP) - available
  const widest = () =>
    remaining
      .filter((column) => !column.whole && !column.short)
      .reduce((max, column) => (column.width > (max?.width ?? 0) ? column : max), undefined as C | undefined)
  const rank = ({ empty, drop = 0 }: C) => (empty ? Infinity : drop)
  const leastImportant = (from: number) =>
    remaining.reduce(
      (worst, column) => (rank(column) >= from && rank(column) > (worst ? rank(worst) : 0) ? column : worst),
      undefined as C | undefined,
    )
  const truncate = (minimum: number) => {
    for (let column = widest(); excess() > 0 && column && column.width > minimum; column = widest())
      column.width = Math.max(minimum, column.width - excess())
  }
  const shorten = (column: C) => {
    column.cells = startsOf(column.ids)
    column.width = widthOf(column.head, column.cells)
  }
  const drop = (from: number) => {
    for (let column = leastImportant(from); excess() > 0 && column; column = leastImportant(from))
      remaining.splice(remaining.indexOf(column), 1)
  }
  truncate(READABLE_WIDTH)
  for (const column of remaining) if (column.short && excess() > 0) shorten(column)
  drop(DECORATION)
  truncate(NARROW_WIDTH)
  drop(1)
  truncate(MIN_WIDTH)
  const longer = columns.findIndex((column) => column.id)
  if (excess() <= 0 || longer === -1) return remaining
  const replaced = columns.map((column, index) => {
    if (index !== longer) return column
    const cells = startsOf(column.ids)
    return { ...column, head: 'ID', cells, width: widthOf('ID', cells), id: undefined }
  })
  return fit(replaced, available)
}

/** The starts of ids that tell them apart, all of one length. */
function startsOf(ids: readonly string[]): string[] {
  const different = new Set(ids).size
  const longest = Math.max(...ids.map((id) => id.length))
  const startsWith = (length: number) => ids.map((id) => id.slice(0, length))
  for (let length = SHORT_ID; length < longest; length++)
    if (new Set(startsWith(length)).size === different) return startsWith(length)
  return [...ids]
}

/** Draws one row as a list of labels and values. Values break between words, and go on below where they began. */
export function drawRecord<Row>(columns: readonly Column<Row>[], row: Row, style: Style): string {
  const paint = new Chalk({ level: style.color })
  const shown = columns.filter((column) => !column.ifAny || column.text(row) !== '')
  const label = Math.max(...shown.map((column) => column.head.length)) + GAP
  const indent = ' '.repeat(label)
  const broken = (line: string) => {
    if (style.wide || label + stringWidth(line) <= style.width) return indent + line
    const start = /^ */.exec(line)?.[0] ?? '' // of code in a text
    return wrapped(line.trimStart(), style.width, indent + start, stringWidth)
  }
  const safe = withText(row, printableLines)
  const value = (column: Column<Row>) => column.shown?.(safe, paint, style.now) ?? printableLines(column.text(row))
  return shown
    .map((column) => {
      const lines = value(column).split('\n').map(broken).join('\n')
      return (paint.dim(column.head.padEnd(label)) + lines.slice(label)).trimEnd()
    })
    .join('\n')
}
