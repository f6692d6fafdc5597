import { AppError, serverError, type ErrorCode } from '../core/errors.js'
import { printable } from '../core/text.js'
import { hasColor, ink, say, type Terminal } from './terminal.js'

interface Flags {
  json?: boolean
  output?: string
  color?: boolean
  debug?: boolean
  server?: string
}

/** Says what went wrong on stderr (four lines, or one of JSON) and returns the exit code. */
export function report(terminal: Terminal, flags: Flags, thrown: unknown): number {
  const error = thrown instanceof AppError ? thrown : serverError(thrown)
  const fix = fixFor(error, terminal.args, flags)
  if (flags.json || flags.output === 'json') {
    say(terminal, JSON.stringify({ ...error.body, ...(fix.length > 0 && { fix: fix.join('\n') }), exit: error.exit }))
  } else {
    const { red, dim } = ink(hasColor(terminal, terminal.stderr, flags))
    const unknown = thrown instanceof AppError ? error.message : `Something went wrong: ${thrown instanceof Error ? thrown.message : String(thrown)}`
    say(terminal, `${red('✗')} ${printable(unknown)}`)
    if (error.why !== undefined) say(terminal, `  ${dim('why')}   ${printable(error.why)}`)
    for (const [index, line] of fix.entries()) say(terminal, `  ${index === 0 ? dim('fix') : '   '}   ${line}`)
    say(terminal, `  ${dim('code')}  ${error.code} (exit ${error.exit})`)
  }
  if (flags.debug) say(terminal, String((error.cause as Error | undefined)?.stack ?? error.stack))
  return error.exit
}

/** The command that helps, a line each. */
function fixFor(error: AppError, args: readonly string[], flags: Flags): string[] {
  const [noun, verb] = args.filter((arg) => !arg.startsWith('-'))
  const command = `feedbackctl ${args.map(quoted).join(' ')}`
  const fixes: Partial<Record<ErrorCode, string[]>> = {
    USAGE: [`feedbackctl ${[noun, verb].filter((word) => word !== undefined && /^[a-z-]+$/.test(word)).join(' ')} --help`.replace('  ', ' ')],
    BOARD_NOT_FOUND: ['feedbackctl boards list'],
    BOARD_URL_EXISTS: [`${withoutOption(args, '--url')} --url ${(/"(.+)"/.exec(error.message)?.[1] ?? 'another').slice(0, 48)}-2`],
    SETUP_COMPLETED: ['feedbackctl serve', 'feedbackctl setup --if-needed   to make this no error'],
    MAIL_CONFIG_MISSING: ['--mail-url smtp://USER:PASSWORD@HOST:587', 'or FEEDBACKCTL_MAIL_URL, or mail.url in the configuration file (feedbackctl help mail)'],
    DATABASE_OUTDATED: ['feedbackctl migrate'],
    CONFIRMATION_NEEDED: [`${command} --yes`],
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

function withoutOption(args: readonly string[], option: string): string {
  const at = args.indexOf(option)
  const rest = at === -1 ? args : args.toSpliced(at, 2)
  return `feedbackctl ${rest.map(quoted).join(' ')}`
}

const quoted = (arg: string): string => (/^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", String.raw`'\''`)}'`)
