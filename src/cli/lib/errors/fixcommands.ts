import type { AppError, Reason } from '../../../core/errors.js'
import { commandLine, connectionOptions, optionValue, withOptions, withoutOption } from '../texts/commandline.js'

/** Facts about the failed command that fixes use. */
export interface About {
  error: AppError
  args: readonly string[]
  /** The server of the command. */
  server: string | undefined
  /** The names of the contexts that the configuration has. */
  contexts: readonly string[]
  command: readonly string[]
  /** Its arguments. */
  names: readonly string[]
  /** Options whose values are secrets. */
  secrets: readonly string[]
}

/** Removes the options whose value the error names: they would fail again. */
const usable = (options: readonly string[], { message }: AppError): string[] =>
  options
    .filter((option) => option.startsWith('--'))
    .reduce(
      (remaining, option) => {
        const [name = ''] = option.split('=')
        const value = optionValue(remaining, name)
        return value !== undefined && message.includes(value) ? withoutOption(remaining, name) : remaining
      },
      [...options],
    )

/** Builds the commands that several fixes suggest. */
export function commandsOf({ error, args, server, command, names, secrets }: About) {
  const again = (changed: readonly string[]) => [commandLine(changed, secrets)]
  const run = (...commands: readonly string[]) =>
    commands.flatMap((words) => again([...words.split(' '), ...connectionOptions(args)]))
  // The named record; for several names, or names from stdin, only the noun
  const of = (words: string, kind: string) => {
    const [name, ...others] = names
    return again([
      ...words.split(' '),
      others.length > 0 || name === '-' ? kind : (name ?? kind),
      ...connectionOptions(args),
    ])
  }
  const explained = (words: string, why: string) => `${run(words).join('')}   ${why}`
  const help = [command[0] === 'help' ? 'feedbackctl help' : `${['feedbackctl', ...command].join(' ')} --help`]
  const otherUrl = () => {
    const url = `${(optionValue(args, '--url') ?? 'another').slice(0, 48)}-2`
    return again(withOptions(withoutOption(args, '--url'), '--url', url))
  }
  const login = server === undefined ? ['feedbackctl login --server URL'] : again(['login', '--server', server])
  const users = command[0] === 'login' ? run('account signup EMAIL') : run('users list')
  const byReason: Partial<Record<Reason, readonly string[]>> = {
    'session-account-deleted': login,
    'site-not-set-up': run('setup'),
  }
  const later = [`${again(args).join('')}   later`]
  const elsewhere = run(error.reason === 'metrics-port' ? 'serve --metrics-listen 127.0.0.1:9465' : 'serve --listen 127.0.0.1:8001') // prettier-ignore
  const missing = error.errors?.map((issue) => issue.rule) ?? []
  const password = [...run('account reset-password EMAIL')]
  const who = server === undefined ? run('users list') : [explained('whoami', 'to see who you are'), ...login]
  const totp = [`${again(withoutOption(args, '--code')).join('')} --code CODE`]
  const own = usable(withoutOption(connectionOptions(args), '--server'), error)
  const origins = commandLine(['config', 'list', '--show-origin', ...own])
  // Reads the valid settings of a configuration file that other commands reject
  const invalid = [
    ...(error.place === undefined ? [] : [`Correct ${error.place}.`]),
    commandLine([
      'doctor',
      'config',
      ...(error.place === undefined ? own : withoutOption(connectionOptions(args), '--server')),
    ]),
    'feedbackctl help environment',
  ]
  const backups = run('backup list')
  return {
    again,
    run,
    of,
    explained,
    help,
    otherUrl,
    login,
    users,
    byReason,
    later,
    elsewhere,
    missing,
    password,
    who,
    totp,
    origins,
    invalid,
    backups,
  }
}

/** A failed command, and the commands that fixes suggest for it. */
export interface Failed extends About, ReturnType<typeof commandsOf> {}
