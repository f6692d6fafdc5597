import type { Command, Option } from 'commander'
import type { AppError, ErrorCode } from '../../core/errors.js'
import { FieldOption } from './options.js'
import { reachIn, typed, withOptions, withoutOption } from './typed.js'
import type { Fixes } from './view.js'

/** What was asked for: the options before and after, the words between, and what the command knows as options and as help. */
export interface Run {
  flags: { server?: string }
  words: readonly string[]
  options: readonly Option[]
  fixes?: Fixes
}

const own = new WeakMap<Command, Fixes>()

export const helpsAgainst = (command: Command, fixes: Fixes): void => void own.set(command, fixes)

export const fixesOf = (command: Command): Fixes => own.get(command) ?? {}

/** The command that helps, a line each. */
export function fixFor(
  error: AppError,
  args: readonly string[],
  { flags, words, options, fixes = {} }: Run,
): readonly string[] {
  const secrets = options.flatMap((option) =>
    option instanceof FieldOption && option.secret ? [option.long ?? ''] : [],
  )
  const again = (changed: readonly string[]) => typed(changed, secrets)
  const run = (...commands: readonly string[]) =>
    commands.map((command) => again([...command.split(' '), ...reachIn(args)]))
  const otherUrl = () => [
    again(
      withOptions(
        withoutOption(args, '--url'),
        '--url',
        `${(/"(.+)"/.exec(error.message)?.[1] ?? 'another').slice(0, 48)}-2`,
      ),
    ),
  ]
  const login = [`feedbackctl login --server ${flags.server ?? 'URL'}`]
  const answers = error.errors?.map((issue) => issue.rule) ?? []
  const users = words[0] === 'login' ? [] : run('users list')
  const usual: Fixed = {
    USAGE: [`${['feedbackctl', ...commandIn(error, words)].join(' ')} --help`], // which reaches no data
    BOARD_NOT_FOUND: run('boards list'),
    POST_NOT_FOUND: run('posts list'),
    ROADMAP_NOT_FOUND: run('roadmaps list'),
    ROLE_NOT_FOUND: run('roles list'),
    INVALID_ROLE_ID: run('roles list'),
    USER_NOT_FOUND: nobody(error, { login, setup: run('setup'), users }),
    INVALID_USER_ID: users,
    BOARD_URL_EXISTS: otherUrl(),
    ROADMAP_URL_EXISTS: otherUrl(),
    SIGNUP_NOT_ALLOWED: run('settings update --allow-signup true'),
    LABS_DISABLED: run('labs update --vote-on-behalf true'),
    SETUP_COMPLETED: [
      ...(flags.server === undefined ? run('serve') : login),
      `${run('setup --if-needed').join()}   where that is no error`,
    ],
    MAIL_CONFIG_MISSING: [
      '--mail-url smtp://USER:PASSWORD@HOST:587',
      'or FEEDBACKCTL_MAIL_URL, or mail.url in the configuration file (feedbackctl help mail)',
    ],
    DATABASE_OUTDATED: run('migrate'),
    CONFIRMATION_NEEDED: [again(withOptions(args, '--yes'))],
    LISTEN_FAILED: run('serve --listen 127.0.0.1:8001'),
    CONFIG_INVALID: [...run('config list --show-origin'), 'feedbackctl help environment'],
    INVALID_AUTH_HEADER: login,
    INVALID_AUTH_HEADER_FORMAT: login,
    INVALID_TOKEN: login,
    SETUP_INPUT_MISSING: answers,
    INPUT_MISSING: answers,
  }
  const better = fixes[error.code]
  return better ? run(...better) : (usual[error.code] ?? [])
}

type Fixed = Partial<Record<ErrorCode, readonly string[]>>

/** The words of the command, as far as there is one. */
function commandIn({ message }: AppError, words: readonly string[]): readonly string[] {
  const unknown = /^Unknown command.*?["'](.+?)["']/.exec(message)?.[1]
  const known = words.slice(0, unknown === undefined ? 2 : words.indexOf(unknown))
  const option = known.findIndex((word) => word.startsWith('-'))
  return option === -1 ? known : known.slice(0, option)
}

/** Three refusals have this code: that of a session whose account is gone, that of a site without an owner, and the plain one. */
function nobody<T>({ message }: AppError, { login, setup, users }: Record<'login' | 'setup' | 'users', T>): T {
  if (message.includes('of this token')) return login
  return message.includes('no owner') ? setup : users
}
