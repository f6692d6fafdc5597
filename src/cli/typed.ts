import { redactedUrl } from '../core/addresses.js'

const SECRET = /^--(password|secret|token|server|(mail|database)-url)$/

/** A command with these arguments, to be typed again: quoted, and without what neither a screen nor a log should keep. */
export function typed(args: readonly string[]): string {
  const shown = args.map((arg, index) => (SECRET.test(args[index - 1] ?? '') && !/^https?:\/\/[^@]*$/.test(arg) ? '***' : withoutSecret(arg)))
  return `feedbackctl ${shown.map(quoted).join(' ')}`
}

/** The arguments without an option, whichever way its value was given. */
export function withoutOption(args: readonly string[], option: string): string[] {
  const at = args.indexOf(option)
  const rest = at === -1 ? [...args] : args.toSpliced(at, 2)
  return rest.filter((arg) => !arg.startsWith(`${option}=`))
}

function withoutSecret(arg: string): string {
  const [option = '', ...value] = arg.split('=')
  return value.length > 0 && SECRET.test(option) ? `${option}=***` : redactedUrl(arg)
}

const quoted = (arg: string): string => (/^[\w@%+=:,./*-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", String.raw`'\''`)}'`)
