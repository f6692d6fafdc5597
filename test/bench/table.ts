import { isMet, type Goal, type Result, type Row } from './cases.js'

type Cells = (string | number)[]

const HEAD = ['case', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs', 'MB', 'reference/s', 'CPU µs', 'result', 'goal', '']

/** A table as Markdown has it, in columns that fit. */
export function table(rows: Row[]): string {
  const lines: Cells[] = [HEAD, ...rows.map(cellsOf)]
  const widths = HEAD.map((_, column) => Math.max(3, ...lines.map((line) => String(line[column]).length)))
  const written = lines.map(
    (line) => `| ${line.map((cell, column) => padded(String(cell), widths[column] ?? 0, column)).join(' | ')} |`,
  )
  const [head = '', ...body] = written
  const rule = `|${widths.map((width, column) => (isText(column) ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  return [head, rule, ...body].join('\n')
}

const isText = (column: number): boolean => column === 0 || column === HEAD.length - 1
const padded = (text: string, width: number, column: number): string =>
  isText(column) ? text.padEnd(width) : text.padStart(width)

function cellsOf({ name, ours, reference, result, note, failure }: Row): Cells {
  return [
    name,
    ours ? whole(ours.rate) : '',
    ours ? ours.p50.toFixed(2) : '',
    ours ? ours.p99.toFixed(2) : '',
    ours ? ours.cpu.toFixed(1) : '',
    ours ? whole(ours.memory) : '',
    reference ? whole(reference.rate) : '',
    reference ? reference.cpu.toFixed(1) : '',
    result ? shown(result.value, result.unit) : '',
    result?.goal ? limit(result.goal, result.unit) : '',
    [failure && 'FAILED', result?.goal && (isMet(result.value, result.goal) ? 'met' : 'MISSED'), note]
      .filter(Boolean)
      .join(': '),
  ]
}

function limit(goal: Goal, unit: Result['unit']): string {
  if ('least' in goal) return `>= ${shown(goal.least, unit)}`
  return 'most' in goal ? `<= ${shown(goal.most, unit)}` : `< ${shown(goal.below, unit)}`
}

const whole = (number: number): string => Math.round(number).toLocaleString('en')

export function shown(value: number, unit: Result['unit']): string {
  if (unit === 'x') return `${value.toFixed(2)} x`
  return unit === 'MB' || unit === 'µs' ? `${Math.round(value)} ${unit}` : `${value.toFixed(1)} ${unit}`
}
