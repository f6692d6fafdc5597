import { redactedUrl } from '../../core/addresses.js'

const SECRET = ['--password', '--secret', '--token', '--server', '--mail-url', '--database-url']
const REACH = ['--server', '--token-file', '--config', '--data-dir', '--database-url', '--database-url-file']

/** A command with these arguments, to be typed again: quoted, and without what neither a screen nor a log should keep. */
export function typed(args: readonly string[], secrets: readonly string[] = []): string {
  const hidden = [...SECRET, ...secrets]
  const shown = args.map((arg, index) => shownAs(arg, args[index - 1] ?? '', hidden))
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

/** Of the arguments those that say where the data is: another command needs them too. */
export function reachIn(args: readonly string[]): string[] {
  const end = args.indexOf('--')
  const options = end === -1 ? args : args.slice(0, end)
  return options.filter(
    (arg, index) => REACH.includes(arg.split('=')[0] ?? '') || REACH.includes(options[index - 1] ?? ''),
  )
}

function shownAs(arg: string, before: string, hidden: readonly string[]): string {
  if (hidden.includes(before)) return isOpen(before, arg) ? redactedUrl(arg) : '***'
  const [option = '', ...rest] = arg.split('=')
  const value = rest.join('=')
  return rest.length > 0 && hidden.includes(option) && !isOpen(option, value) ? `${option}=***` : redactedUrl(arg)
}

/** Addresses that hold no password: without them a command would not find the data again. */
const isOpen = (option: string, value: string): boolean =>
  (option === '--server' && /^https?:\/\/[^@]*$/.test(value)) ||
  (option === '--database-url' && value.startsWith('sqlite:'))

const quoted = (arg: string): string =>
  /^[\w@%+=:,./-]+$/.test(arg.replace('***', '')) || arg === '***' ? arg : `'${arg.replaceAll("'", String.raw`'\''`)}'`
