import { existsSync } from 'node:fs'
import type { Command, Option } from 'commander'
import type { AppError, ErrorCode, Reason } from '../../core/errors.js'
import { commandLine, connectionOptions, optionValue, withOptions, withoutOption } from './commandline.js'
import { Mistyped } from './mistyped.js'
import { FieldOption } from './options.js'
import type { Fixes } from './view.js'

/** The command that failed. */
export interface Failed {
  /** The server of the command, by a flag, a variable or a file. */
  server?: string | undefined
  /** The names of the command and its branch, as far as they exist: `['boards', 'list']`. */
  command: readonly string[]
  options: readonly Option[]
  fixes?: Fixes
}

/** The list of what an invalid field may name. */
const UNKNOWN_LISTS = { UNKNOWN_BOARD: 'boards', UNKNOWN_ROADMAP: 'roadmaps', UNKNOWN_PERSON: 'users' } as const

/** Where the data of a systemd unit with StateDirectory=feedbackctl is. */
const STATE = '/var/lib/feedbackctl'

const fixesByCommand = new WeakMap<Command, Fixes>()

export const setFixes = (command: Command, fixes: Fixes): void => void fixesByCommand.set(command, fixes)

export const fixesOf = (command: Command): Fixes => fixesByCommand.get(command) ?? {}

/** The options without a file that was refused: it would be again. */
const usable = (options: readonly string[], { message }: AppError): string[] =>
  options
    .filter((option) => option.startsWith('--'))
    .reduce(
      (kept, option) => {
        const [name = ''] = option.split('=')
        const value = optionValue(kept, name)
        return value !== undefined && message.includes(value) ? withoutOption(kept, name) : kept
      },
      [...options],
    )

/** Lines that show how to fix an error, usually a command to run. */
export function fixFor(error: AppError, args: readonly string[], failed: Failed): readonly string[] {
  const { server, command, options, fixes = {} } = failed
  const secrets = options.flatMap((option) =>
    option instanceof FieldOption && option.secret ? [option.long ?? ''] : [],
  )
  const again = (changed: readonly string[]) => [commandLine(changed, secrets)]
  const run = (...commands: readonly string[]) =>
    commands.flatMap((words) => again([...words.split(' '), ...connectionOptions(args)]))
  const otherUrl = () => {
    const url = `${(optionValue(args, '--url') ?? 'another').slice(0, 48)}-2`
    return again(withOptions(withoutOption(args, '--url'), '--url', url))
  }
  const login = server === undefined ? ['feedbackctl login --server URL'] : again(['login', '--server', server])
  const userFixes: Partial<Record<Reason, readonly string[]>> & { other: readonly string[] } = {
    'session-account-deleted': login,
    'site-not-set-up': run('setup'),
    other: command[0] === 'login' ? [] : run('users list'),
  }
  const missing = error.errors?.map((issue) => issue.rule) ?? []
  const usual: Partial<Record<ErrorCode, readonly string[]>> = {
    USAGE: [command[0] === 'help' ? 'feedbackctl help' : `${['feedbackctl', ...command].join(' ')} --help`],
    BOARD_NOT_FOUND: run('boards list'),
    POST_NOT_FOUND: run('posts list'),
    COMMENT_NOT_FOUND: run('comments list POST'),
    ROADMAP_NOT_FOUND: run('roadmaps list'),
    ROLE_NOT_FOUND: run('roles list'),
    KEY_NOT_FOUND: run('keys list'),
    KEY_LIMIT: run('keys list'),
    SESSION_NOT_FOUND: run('sessions list'),
    MAIL_NOT_FOUND: run('mail queue list --all'),
    MAIL_NOT_WAITING: run('mail queue list --all'),
    TOTP_REQUIRED: [`${again(args).join('')} --code CODE`],
    TOTP_NOT_ENABLED: command[0] === 'users' ? [] : run('totp begin'),
    TOTP_ENABLED: run('totp disable'),
    INVALID_ROLE_ID: run('roles list'),
    USER_NOT_FOUND: userFixes[error.reason ?? 'other'] ?? [],
    INVALID_USER_ID: userFixes.other,
    BOARD_URL_EXISTS: otherUrl(),
    ROADMAP_URL_EXISTS: otherUrl(),
    SIGNUP_NOT_ALLOWED: run('settings update --signup'),
    LABS_DISABLED: run('labs update --vote-on-behalf'),
    SETUP_COMPLETED: [
      ...(server === undefined ? run('serve') : login),
      `${run('setup --if-needed').join()}   to accept a site that is set up`,
    ],
    MAIL_CONFIG_MISSING: [
      '--mail-url smtp://USER:PASSWORD@HOST:587',
      'or FEEDBACKCTL_MAIL_URL, or mail.url in the configuration file (feedbackctl help mail-url)',
    ],
    SITE_NOT_FOUND: [
      ...(existsSync(`${STATE}/feedback.db`)
        ? [
            `${commandLine([...args.filter((arg) => arg !== '--'), '--data-dir', STATE], secrets)}   for the site of the systemd unit`,
          ]
        : []),
      `${run('setup').join('').padEnd(42)} to create one here`,
      '--data-dir FOLDER, --database-url URL, --server URL   to use another',
    ],
    DATABASE_UNUSABLE:
      error.reason === 'database-damaged'
        ? ['Stop "feedbackctl serve". A restore keeps the damaged file.', ...run('backup list', 'restore FILE')]
        : [],
    SECRET_MISMATCH: run('secret new'),
    DATABASE_OUTDATED: run('migrate'),
    CONFIRMATION_NEEDED: again(withOptions(args, '--yes')),
    LISTEN_FAILED: run('serve --listen 127.0.0.1:8001'),
    PORT_IN_USE: run('serve --listen 127.0.0.1:8001'),
    CONFIG_INVALID: [
      commandLine([
        'config',
        'list',
        '--show-origin',
        ...usable(withoutOption(connectionOptions(args), '--server'), error),
      ]),
      'feedbackctl help environment',
    ],
    INVALID_AUTH_HEADER: login,
    INVALID_AUTH_HEADER_FORMAT: login,
    INVALID_TOKEN: login,
    AMBIGUOUS_NAME: missing,
    SETUP_INPUT_MISSING: missing,
    MAIL_TEST_FAILED: missing,
    INPUT_MISSING: missing,
  }
  if (error instanceof Mistyped && error.corrected) return again(error.corrected)
  const ownFixes = fixes[error.code]
  if (ownFixes) return run(...ownFixes)
  const unknown = error.unknown
  return unknown === undefined ? (usual[error.code] ?? []) : run(`${UNKNOWN_LISTS[unknown]} list`)
}
