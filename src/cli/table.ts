import { Chalk, type ChalkInstance } from 'chalk'
import Table from 'cli-table3'
import stringWidth from 'string-width'
import { printable } from '../core/text.js'

/** One column of a list. `text` is the full value, for pipes; `shown` what a person sees. */
export interface Column<Row> {
  head: string
  text(this: void, row: Row): string
  shown?(this: void, row: Row, paint: ChalkInstance, now: Date): string
  /** 0 stays whatever the width; the highest goes first. Undefined is shown only with -o wide. */
  drop?: number
  right?: true
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

/** A table without borders, fitted to the width: long cells are cut, then the least important columns go. */
export function drawTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], style: Style): string {
  const paint = new Chalk({ level: style.color ? 3 : 0 }) // chalk alone would colour a terminal despite NO_COLOR
  const drawn = columns
    .filter((column) => style.wide || column.drop !== undefined)
    .map((column) => ({ ...column, cells: rows.map((row) => column.shown?.(row, paint, style.now) ?? printable(column.text(row))) }))
    .map((column) => ({ ...column, width: Math.max(...[column.head, ...column.cells].map((cell) => stringWidth(cell))) }))
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

function fit<C extends { width: number; drop?: number | undefined }>(columns: C[], available: number): C[] {
  const kept = [...columns]
  const excess = () => kept.reduce((sum, column) => sum + column.width + GAP, -GAP) - available
  const widest = () => kept.reduce((a, b) => (b.width > a.width ? b : a))
  const least = () => kept.reduce((worst, column) => ((column.drop ?? 0) > (worst?.drop ?? 0) ? column : worst), undefined as C | undefined)
  const cut = (column: C, narrowest: number) => (column.width = Math.max(narrowest, column.width - excess()))
  while (excess() > 0 && widest().width > READABLE) cut(widest(), READABLE)
  for (let column = least(); excess() > 0 && column; column = least()) kept.splice(kept.indexOf(column), 1)
  while (excess() > 0 && widest().width > NARROWEST) cut(widest(), NARROWEST)
  return kept
}

/** One thing as a list of labels and values. */
export function drawRecord<Row>(columns: readonly Column<Row>[], row: Row, style: Style): string {
  const paint = new Chalk({ level: style.color ? 3 : 0 })
  const label = Math.max(...columns.map((column) => column.head.length)) + GAP
  return columns.map((column) => paint.dim(column.head.padEnd(label)) + (column.shown?.(row, paint, style.now) ?? printable(column.text(row)))).join('\n')
}
