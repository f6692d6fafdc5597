import type { Option } from 'commander'
import { AppError, serverError, type ErrorCode } from '../core/errors.js'
import { printable } from '../core/text.js'
import { FieldOption } from './options.js'
import { hasColor, ink, say, type Terminal } from './terminal.js'
import { typed, withOptions, withoutOption } from './typed.js'

/** What was asked for: the options before and after, the words between, and what the command knows as options. */
interface Run {
  flags: Flags
  words: readonly string[]
  options: readonly Option[]
}

interface Flags {
  json?: boolean
  output?: string
  color?: boolean
  debug?: boolean
  server?: string
}

/** Says what went wrong on stderr (four lines, or one of JSON) and returns the exit code. */
export function report(terminal: Terminal, run: Run, thrown: unknown): number {
  const { flags, words, options } = run
  const error = thrown instanceof AppError ? thrown : serverError(thrown)
  const exit = words[0] === 'serve' ? error.serveExit : error.exit
  const fix = fixFor(error, terminal.args, run)
  if (flags.json || flags.output === 'json') {
    say(terminal, JSON.stringify({ ...error.body, ...(fix.length > 0 && { fix: fix.join('\n') }), exit }))
  } else {
    const { red, dim } = ink(hasColor(terminal, terminal.stderr, flags))
    const unknown = thrown instanceof AppError ? inFlags(error, options) : `Something went wrong: ${thrown instanceof Error ? thrown.message : String(thrown)}`
    say(terminal, `${red('✗')} ${printable(unknown)}`)
    if (error.why !== undefined) say(terminal, `  ${dim('why')}   ${printable(error.why)}`)
    for (const [index, line] of fix.entries()) say(terminal, `  ${index === 0 ? dim('fix') : '   '}   ${line}`)
    say(terminal, `  ${dim('code')}  ${error.code} (exit ${exit})`)
  }
  if (flags.debug) say(terminal, String((error.cause as Error | undefined)?.stack ?? error.stack))
  return exit
}

/** What is wrong, with the flag that was typed in the place of a field that has another name. */
function inFlags({ code, message, errors = [] }: AppError, options: readonly Option[]): string {
  if (code !== 'VALIDATION_ERROR') return message
  return errors.reduce((text, issue) => {
    const { long } = options.find((option) => option instanceof FieldOption && option.field === issue.field) ?? {}
    if (!long || long === `--${issue.field}`) return text
    return text.replace(issue.message, () => issue.message.replace(new RegExp(String.raw`\b${issue.field}\b`), long))
  }, message)
}

/** The command that helps, a line each. */
function fixFor(error: AppError, args: readonly string[], { flags, words, options }: Run): string[] {
  const unknown = /^Unknown command.*?["'](.+?)["']/.exec(error.message)?.[1]
  const known = words.slice(0, unknown === undefined ? 2 : words.indexOf(unknown))
  const secrets = options.flatMap((option) => (option instanceof FieldOption && option.secret ? [option.long ?? ''] : []))
  const again = (changed: readonly string[]) => typed(changed, secrets)
  const otherUrl = () => [again(withOptions(withoutOption(args, '--url'), '--url', `${(/"(.+)"/.exec(error.message)?.[1] ?? 'another').slice(0, 48)}-2`))]
  const login = [`feedbackctl login --server ${flags.server ?? 'URL'}`]
  const answers = error.errors?.map((issue) => issue.rule) ?? []
  const users = words[0] === 'login' ? [] : ['feedbackctl users list']
  const fixes: Partial<Record<ErrorCode, string[]>> = {
    USAGE: [`${['feedbackctl', ...known].join(' ')} --help`],
    BOARD_NOT_FOUND: ['feedbackctl boards list'],
    POST_NOT_FOUND: ['feedbackctl posts list'],
    ROADMAP_NOT_FOUND: ['feedbackctl roadmaps list'],
    ROLE_NOT_FOUND: ['feedbackctl roles list'],
    INVALID_ROLE_ID: ['feedbackctl roles list'],
    USER_NOT_FOUND: error.message.includes('of this token') ? login : users, // the session's own refusal has the same code
    INVALID_USER_ID: users,
    BOARD_URL_EXISTS: otherUrl(),
    ROADMAP_URL_EXISTS: otherUrl(),
    SIGNUP_NOT_ALLOWED: ['feedbackctl settings update --allow-signup true'],
    LABS_DISABLED: ['feedbackctl labs update --vote-on-behalf true'],
    SETUP_COMPLETED: ['feedbackctl serve', 'feedbackctl setup --if-needed   where that is no error'],
    MAIL_CONFIG_MISSING: ['--mail-url smtp://USER:PASSWORD@HOST:587', 'or FEEDBACKCTL_MAIL_URL, or mail.url in the configuration file (feedbackctl help mail)'],
    DATABASE_OUTDATED: ['feedbackctl migrate'],
    CONFIRMATION_NEEDED: [again(withOptions(args, '--yes'))],
    LISTEN_FAILED: ['feedbackctl serve --listen 127.0.0.1:8001'],
    CONFIG_INVALID: ['feedbackctl config list --show-origin', 'feedbackctl help environment'],
    INVALID_AUTH_HEADER: login,
    INVALID_AUTH_HEADER_FORMAT: login,
    INVALID_TOKEN: login,
    SETUP_INPUT_MISSING: answers,
    INPUT_MISSING: answers,
  }
  return fixes[error.code] ?? []
}
