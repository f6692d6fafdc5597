import { Chalk, type ChalkInstance } from 'chalk'
import Table from 'cli-table3'
import stringWidth from 'string-width'
import { printable } from '../../core/text.js'

/** One column of a list. `text` is the full value, for pipes; `shown` what a person sees. */
export interface Column<Row> {
  head: string
  text(this: void, row: Row): string
  shown?(this: void, row: Row, paint: ChalkInstance, now: Date): string
  /** 0 stays whatever the width; the highest goes first. Undefined is shown only with -o wide. */
  drop?: number
  right?: true
  /** Never cut: a part of an id is no id. Where it does not fit it is left out. */
  whole?: true
}

interface Style {
  width: number
  color: boolean
  wide: boolean
  now: Date
}

const GAP = 2
/** A column is cut down to this before another one is left out, … */
const READABLE = 24
/** … and to this when there is nothing left to leave out. */
const NARROWEST = 8

/** A table without borders, fitted to the width: long cells are cut, then columns go, first those without a value, then the least important. */
export function drawTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], style: Style): string {
  const paint = new Chalk({ level: style.color ? 3 : 0 }) // chalk alone would colour a terminal despite NO_COLOR
  const drawn = columns
    .filter((column) => style.wide || column.drop !== undefined)
    .map((column) => ({
      ...column,
      cells: rows.map((row) => column.shown?.(row, paint, style.now) ?? printable(column.text(row))),
    }))
    .map((column) => ({
      ...column,
      empty: column.cells.every((cell) => cell === ''),
      width: Math.max(...[column.head, ...column.cells].map((cell) => stringWidth(cell))),
    }))
  const fitted = style.wide ? drawn : fit(drawn, style.width)
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
    style: { 'padding-left': 0, 'padding-right': GAP, head: [], border: [] }, // cli-table3 colours heads and borders even into a pipe
  })
  table.push(...rows.map((_, index) => fitted.map((column) => column.cells[index] ?? '')))
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

interface Fitted {
  width: number
  empty: boolean
  drop?: number
  whole?: true
}

function fit<C extends Fitted>(columns: C[], available: number): C[] {
  const kept = [...columns]
  const excess = () => kept.reduce((sum, column) => sum + column.width + GAP, -GAP) - available
  const widest = () =>
    kept
      .filter((column) => !column.whole)
      .reduce((most, column) => (column.width > (most?.width ?? 0) ? column : most), undefined as C | undefined)
  const rank = ({ empty, drop = 0 }: C) => (empty && drop > 0 ? Infinity : drop)
  const least = () =>
    kept.reduce(
      (worst, column) => (rank(column) > (worst ? rank(worst) : 0) ? column : worst),
      undefined as C | undefined,
    )
  const cut = (narrowest: number) => {
    for (let column = widest(); excess() > 0 && column && column.width > narrowest; column = widest())
      column.width = Math.max(narrowest, column.width - excess())
  }
  const leaveOut = (choose: () => C | undefined) => {
    for (let column = choose(); excess() > 0 && column; column = choose()) kept.splice(kept.indexOf(column), 1)
  }
  cut(READABLE)
  leaveOut(least)
  cut(NARROWEST)
  leaveOut(() => (kept.length > 1 ? kept.findLast((column) => column.whole) : undefined))
  return kept
}

/** One thing as a list of labels and values. */
export function drawRecord<Row>(columns: readonly Column<Row>[], row: Row, style: Style): string {
  const paint = new Chalk({ level: style.color ? 3 : 0 })
  const label = Math.max(...columns.map((column) => column.head.length)) + GAP
  const value = (column: Column<Row>) => column.shown?.(row, paint, style.now) ?? column.text(row).split(/\r?\n/).map(printable).join(`\n${' '.repeat(label)}`) // prettier-ignore
  return columns.map((column) => paint.dim(column.head.padEnd(label)) + value(column)).join('\n')
}
