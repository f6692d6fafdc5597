import type { Option } from 'commander'
import { AppError, serverError } from '../../../core/errors.js'
import { escaped, printable, printableLines } from '../../../core/text.js'
import { FieldOption } from '../flags/options.js'
import { colors, hasColor, say, tell, type ColorFlag, type Terminal } from '../terminal/terminal.js'
import { fixFor, type Failed } from './fixes.js'

interface Reported extends Failed {
  flags: Flags
}

interface Flags extends ColorFlag {
  json?: boolean
  output?: string
  fields?: string | true
  debug?: boolean
  server?: string
}

/** Prints an error to stderr, as four lines or as one line of JSON, and returns the exit code. */
export function report(terminal: Terminal, failed: Reported, thrown: unknown): number {
  const { flags, command, options } = failed
  const error = thrown instanceof AppError ? thrown : serverError(thrown)
  const exit = command[0] === 'serve' ? error.serveExit : error.exit
  const fix = fixFor(error, terminal.args, failed)
  if (flags.json || (flags.output ?? (flags.fields === undefined ? '' : 'json')) === 'json') {
    say(terminal, escaped(JSON.stringify({ ...error.body, ...(fix.length > 0 && { fix: fix.join('\n') }), exit })))
  } else {
    const { red, dim } = colors(hasColor(terminal, terminal.stderr, flags))
    const message =
      thrown instanceof AppError
        ? withFlagNames(error, options)
        : `Internal error: ${thrown instanceof Error ? thrown.message : String(thrown)}`
    tell(terminal, printable(message), { start: `${red('✗')} ` })
    if (error.why !== undefined) tell(terminal, printable(error.why), { start: `  ${dim('why')}   `, indent: 8 })
    for (const [index, line] of fix.entries()) {
      const start = `  ${index === 0 ? dim('fix') : '   '}   `
      if (/^[A-Z].*[.]$/.test(line)) tell(terminal, printable(line), { start, indent: 8 })
      else say(terminal, start + printable(line))
    }
    say(terminal, `  ${dim('code')}  ${error.code} (exit ${exit})`)
  }
  if (flags.debug) say(terminal, printableLines(String((error.cause as Error | undefined)?.stack ?? error.stack)))
  return exit
}

/** The message, with the flag instead of the field where their names differ. */
export function withFlagNames({ code, message, errors = [] }: AppError, options: readonly Option[]): string {
  if (code !== 'VALIDATION_ERROR') return message
  return errors.reduce((text, issue) => {
    const { long } = options.find((option) => option instanceof FieldOption && option.field === issue.field) ?? {}
    if (!long) return text
    return text.replace(issue.message, () => issue.message.replace(new RegExp(String.raw`\b${issue.field}\b`), long))
  }, message)
}
