import { printable } from '../../../core/text.js'
import { colors, hasColor, widthOf, type Terminal } from '../terminal/terminal.js'
import { wrapped } from '../texts/wrap.js'
import type { OutputFlags } from './output.js'

interface Verdict {
  id: string
  severity: 'ok' | 'skipped' | 'warning' | 'error'
  evidence: string
  fix: string | null
}

const MARKS = { ok: '✓', skipped: '–', warning: '!', error: '✗' } as const
/** Columns of the mark and the space after it. */
const MARK = 2
const GAP = 2

/** Results of checks: a mark, the check and its evidence, and below it the fix. Sentences break at the width. */
export function drawn(terminal: Terminal, flags: OutputFlags, verdicts: readonly Verdict[]): string {
  const { red, green, yellow, dim } = colors(hasColor(terminal, terminal.stdout, flags))
  const paint = { ok: green, skipped: dim, warning: yellow, error: red }
  const column = MARK + Math.max(...verdicts.map(({ id }) => id.length)) + GAP
  const width = Math.max(terminal.stdout.isTTY ? widthOf(terminal.stdout) : 80, 40)
  const lines = verdicts.flatMap(({ id, severity, evidence, fix }) => {
    const text = wrapped(printable(evidence), width, ' '.repeat(column)).slice(column)
    const first = `${paint[severity](MARKS[severity])} ${id.padEnd(column - MARK)}${text}`
    if (fix === null) return [first]
    const start = `${' '.repeat(column)}fix  `
    const advice = printable(fix)
    // A command line is copied: it stays in one piece
    const rest = /^[A-Z]/.test(advice) ? wrapped(advice, width, ' '.repeat(start.length)).slice(start.length) : advice
    return [first, start.replace('fix', dim('fix')) + rest]
  })
  return lines.map((line) => `${line}\n`).join('')
}
