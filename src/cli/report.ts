import { AppError, serverError, type ErrorCode } from '../core/errors.js'
import { printable } from '../core/text.js'
import { hasColor, ink, say, type Terminal } from './terminal.js'
import { typed, withOptions, withoutOption } from './typed.js'

/** What was asked for: the options before and after, and the words between. */
interface Run {
  flags: Flags
  words: readonly string[]
}

interface Flags {
  json?: boolean
  output?: string
  color?: boolean
  debug?: boolean
  server?: string
}

/** Says what went wrong on stderr (four lines, or one of JSON) and returns the exit code. */
export function report(terminal: Terminal, { flags, words }: Run, thrown: unknown): number {
  const error = thrown instanceof AppError ? thrown : serverError(thrown)
  const exit = words[0] === 'serve' ? error.serveExit : error.exit
  const fix = fixFor(error, terminal.args, { flags, words })
  if (flags.json || flags.output === 'json') {
    say(terminal, JSON.stringify({ ...error.body, ...(fix.length > 0 && { fix: fix.join('\n') }), exit }))
  } else {
    const { red, dim } = ink(hasColor(terminal, terminal.stderr, flags))
    const unknown = thrown instanceof AppError ? error.message : `Something went wrong: ${thrown instanceof Error ? thrown.message : String(thrown)}`
    say(terminal, `${red('✗')} ${printable(unknown)}`)
    if (error.why !== undefined) say(terminal, `  ${dim('why')}   ${printable(error.why)}`)
    for (const [index, line] of fix.entries()) say(terminal, `  ${index === 0 ? dim('fix') : '   '}   ${line}`)
    say(terminal, `  ${dim('code')}  ${error.code} (exit ${exit})`)
  }
  if (flags.debug) say(terminal, String((error.cause as Error | undefined)?.stack ?? error.stack))
  return exit
}

/** The command that helps, a line each. */
function fixFor(error: AppError, args: readonly string[], { flags, words }: Run): string[] {
  const unknown = /^Unknown command.*?["'](.+?)["']/.exec(error.message)?.[1]
  const known = words.slice(0, unknown === undefined ? 2 : words.indexOf(unknown))
  const fixes: Partial<Record<ErrorCode, string[]>> = {
    USAGE: [`${['feedbackctl', ...known].join(' ')} --help`],
    BOARD_NOT_FOUND: ['feedbackctl boards list'],
    BOARD_URL_EXISTS: [typed(withOptions(withoutOption(args, '--url'), '--url', `${(/"(.+)"/.exec(error.message)?.[1] ?? 'another').slice(0, 48)}-2`))],
    SETUP_COMPLETED: ['feedbackctl serve', 'feedbackctl setup --if-needed   where that is no error'],
    MAIL_CONFIG_MISSING: ['--mail-url smtp://USER:PASSWORD@HOST:587', 'or FEEDBACKCTL_MAIL_URL, or mail.url in the configuration file (feedbackctl help mail)'],
    DATABASE_OUTDATED: ['feedbackctl migrate'],
    CONFIRMATION_NEEDED: [typed(withOptions(args, '--yes'))],
    LISTEN_FAILED: ['feedbackctl serve --listen 127.0.0.1:8001'],
    CONFIG_INVALID: ['feedbackctl config list --show-origin', 'feedbackctl help environment'],
    INVALID_AUTH_HEADER: [`feedbackctl login --server ${flags.server ?? 'URL'}`],
    INVALID_AUTH_HEADER_FORMAT: [`feedbackctl login --server ${flags.server ?? 'URL'}`],
    INVALID_TOKEN: [`feedbackctl login --server ${flags.server ?? 'URL'}`],
    SETUP_INPUT_MISSING: error.errors?.map((issue) => issue.rule) ?? [],
    INPUT_MISSING: error.errors?.map((issue) => issue.rule) ?? [],
  }
  return fixes[error.code] ?? []
}
