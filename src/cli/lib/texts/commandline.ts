import { hostname } from 'node:os'
import { redactedUrl } from '../../../core/addresses.js'
import { shellQuoted } from '../../../core/shell.js'

const SECRET_OPTIONS = ['--password', '--secret', '--token', '--server', '--mail-url', '--database-url']
const CONNECTION_OPTIONS = [
  '--server',
  '--context',
  '--token-file',
  '--config',
  '--data-dir',
  '--database-url',
  '--database-url-file',
]

/** A command line with these arguments, quoted for a shell to be run again. Secrets are replaced by `***`. */
export function commandLine(args: readonly string[], secretOptions: readonly string[] = []): string {
  const secret = [...SECRET_OPTIONS, ...secretOptions]
  const shown = args.map((arg, index) => redacted(arg, args[index - 1] ?? '', secret))
  return `feedbackctl ${shown.map(shellQuoted).join(' ')}`
}

/** The value of an option, given as `--url ideas` or as `--url=ideas`. */
export function optionValue(args: readonly string[], option: string): string | undefined {
  const index = args.findIndex((arg) => arg === option || arg.startsWith(`${option}=`))
  if (index === -1) return undefined
  return args[index]?.startsWith(`${option}=`) ? args[index].slice(option.length + 1) : args[index + 1]
}

/** The arguments without any occurrence of an option and its value. */
export const withoutOption = (args: readonly string[], option: string): string[] =>
  args.filter((arg, index) => arg !== option && args[index - 1] !== option && !arg.startsWith(`${option}=`))

/**
 * The arguments with another value of an option, which may be one of a list: `--sort newest` for `--sort newst`.
 * Undefined where the option has no such value.
 */
export function withValue(
  args: readonly string[],
  { long = '', short = '' }: { long?: string | undefined; short?: string | undefined },
  [from, to]: readonly [from: string, to: string],
): string[] | undefined {
  const corrected = (text: string) =>
    text
      .split(',')
      .map((item) => (item === from ? to : item))
      .join(',')
  const end = args.includes('--') ? args.indexOf('--') : args.length
  const changed = args.map((arg, index) => {
    const before = args[index - 1] ?? ''
    const [, flag = '', value = ''] = /^(--[^=]+=|-\w=?)(.*)$/s.exec(arg) ?? []
    if (index >= end) return arg
    if (before !== '' && [long, short].includes(before)) return corrected(arg)
    return (long !== '' && flag === `${long}=`) || (short !== '' && flag.replace('=', '') === short)
      ? flag + corrected(value)
      : arg
  })
  return changed.some((arg, index) => arg !== args[index]) ? changed : undefined
}

/** The arguments with more options, inserted before `--` if there is one. */
export function withOptions(args: readonly string[], ...options: string[]): string[] {
  const end = args.indexOf('--')
  return args.toSpliced(end === -1 ? args.length : end, 0, ...options)
}

/** The options that select the database or server. A suggested command needs them too. */
export function connectionOptions(args: readonly string[]): string[] {
  const end = args.indexOf('--')
  const options = end === -1 ? args : args.slice(0, end)
  return options.filter(
    (arg, index) =>
      CONNECTION_OPTIONS.includes(arg.split('=')[0] ?? '') || CONNECTION_OPTIONS.includes(options[index - 1] ?? ''),
  )
}

function redacted(arg: string, before: string, secretOptions: readonly string[]): string {
  if (secretOptions.includes(before)) return holdsNoPassword(before, arg) ? redactedUrl(arg) : '***'
  const [option = '', ...rest] = arg.split('=')
  const value = rest.join('=')
  const isSecret = rest.length > 0 && secretOptions.includes(option) && !holdsNoPassword(option, value)
  return isSecret ? `${option}=***` : redactedUrl(arg)
}

/** URLs without a password stay: a suggested command could not find the data without them. */
const holdsNoPassword = (option: string, value: string): boolean =>
  (option === '--server' && /^[^@?]*$/.test(value)) || (option === '--database-url' && value.startsWith('sqlite:'))

/**
 * A command of the container engine for the container that this process is in: `docker restart 3f2a…`. Undefined outside.
 * Engines and images set `container` to their name; the name of the host is then the id of the container.
 */
export const containerCommand = (
  { container }: Record<string, string | undefined>,
  words: string,
): string | undefined =>
  container ? `${container === 'podman' ? 'podman' : 'docker'} ${words} ${hostname()}` : undefined
