import { redactedUrl } from '../core/addresses.js'

const SECRET = ['--password', '--secret', '--token', '--server', '--mail-url', '--database-url']

/** A command with these arguments, to be typed again: quoted, and without what neither a screen nor a log should keep. */
export function typed(args: readonly string[], secrets: readonly string[] = []): string {
  const hidden = [...SECRET, ...secrets]
  const shown = args.map((arg, index) => (hidden.includes(args[index - 1] ?? '') && !/^https?:\/\/[^@]*$/.test(arg) ? '***' : withoutSecret(arg, hidden)))
  return `feedbackctl ${shown.map(quoted).join(' ')}`
}

/** The arguments without an option, however often and whichever way it was given. */
export const withoutOption = (args: readonly string[], option: string): string[] =>
  args.filter((arg, index) => arg !== option && args[index - 1] !== option && !arg.startsWith(`${option}=`))

/** The arguments with more options, before a `--`, after which nothing is an option. */
export function withOptions(args: readonly string[], ...options: string[]): string[] {
  const end = args.indexOf('--')
  return args.toSpliced(end === -1 ? args.length : end, 0, ...options)
}

function withoutSecret(arg: string, hidden: readonly string[]): string {
  const [option = '', ...value] = arg.split('=')
  return value.length > 0 && hidden.includes(option) ? `${option}=***` : redactedUrl(arg)
}

const quoted = (arg: string): string => (/^[\w@%+=:,./-]+$/.test(arg.replace('***', '')) || arg === '***' ? arg : `'${arg.replaceAll("'", String.raw`'\''`)}'`)
