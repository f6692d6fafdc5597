import { randomBytes } from 'node:crypto'
import { AppError, type ErrorCode } from '../../core/errors.js'
import type { Field } from '../../core/fields.js'
import { assertNewPassword } from '../../service/lib/passwords.js'
import { asking } from './ask.js'
import { isSource, type FieldOption, type Source } from './options.js'
import { canAsk, say, whyNot, type Terminal } from './terminal.js'
import { readText, type Written } from './textfile.js'

interface Wanted {
  /** What needs the answers: the command, in a sentence. */
  what: string
  given: Record<string, unknown>
  offered: readonly Field[]
  options: readonly FieldOption[]
  asks: readonly string[]
  text: string | undefined
  /** The text to start from, if it is to be written in the editor. */
  present(this: void, values: Record<string, unknown>): Promise<string | undefined>
}

export interface Gathered {
  values: Record<string, unknown>
  /** The secret that was made up. */
  generated?: string
  written?: Written
}

/** The values that are not words on the command line: from files and stdin, made up, asked for, or written in the editor. */
export async function gather(terminal: Terminal, flags: { input?: boolean }, wanted: Wanted): Promise<Gathered> {
  const { given, asks, text } = wanted
  const sources = Object.entries(given).filter((entry): entry is [string, Source] => isSource(entry[1]))
  const stdin = sources.filter(([, source]) => readsStdin(source)).map(([, source]) => source.flag)
  if (stdin.length > 1)
    throw new AppError('USAGE', `${stdin.join(' and ')} cannot both be read from stdin. Use a file for one of them.`)
  const may = canAsk(terminal, { input: flags.input !== false && stdin.length === 0 })
  const missing = asks.filter((name) => given[name] === undefined)
  const rules = missing.map((field) => ({ field, rule: waysToGive(wanted.options, field) }))
  if (!may && missing.length > 0) throw cannotAsk(terminal, wanted.what, rules)
  const values = { ...given }
  for (const [name, source] of sources) values[name] = await valueOf(terminal, source)
  for (const field of wanted.offered.filter(({ name }) => missing.includes(name) && name !== text))
    values[field.name] = await answerTo(terminal, field)
  const present = text !== undefined && values[text] === undefined && may ? await wanted.present(values) : undefined
  let written: Written | undefined
  if (text !== undefined && present !== undefined) {
    const { edited } = await import('./editor.js')
    const own = await edited(terminal, present, { field: text, rule: waysToGive(wanted.options, text) })
    written = { text: own, flag: wanted.options.findLast(({ field }) => field === text)?.long ?? '' } // its last flag takes a file
    values[text] = own
  }
  const random = sources.find(([, source]) => source.how === 'random')
  return { values, ...(random && { generated: values[random[0]] as string }), ...(written && { written }) }
}

export const readsStdin = (source: Source | undefined): boolean => source?.how === 'file' && source.value === '-'

export async function valueOf(terminal: Terminal, source: Source): Promise<string> {
  const { how, value, flag, secret } = source
  if (how === 'random') return randomBytes(18).toString('base64url')
  if (how === 'file') return readText(terminal, value, flag)
  if (secret)
    say(terminal, `Note: ${flag} is visible to everybody on this machine in the process list. ${flag}-stdin is not.`)
  return value
}

/** A password that was made up is seen once: here. */
export const showGenerated = (terminal: Terminal, password: string): void =>
  say(terminal, `The password, shown only now: ${password}`)

interface Missing {
  field: string
  rule: string
}

/** Without a terminal every missing answer is named at once, with the flag that gives it. */
export function cannotAsk(
  terminal: Terminal,
  what: string,
  missing: readonly Missing[],
  code: ErrorCode = 'INPUT_MISSING',
): AppError {
  const count = missing.length === 1 ? '1 more answer' : `${missing.length} more answers`
  const errors = missing.map(({ field, rule }) => ({
    code: 'FIELD_MISSING',
    message: `${field} is missing.`,
    field,
    rule,
  }))
  return new AppError(code, `${what} needs ${count} and cannot ask: ${whyNot(terminal)}. Nothing was changed.`, {
    errors,
  })
}

/** The flags that give a field, without the one that everybody on the machine could read. */
function waysToGive(options: readonly FieldOption[], name: string): string {
  const [first = '', ...others] = options
    .filter(({ field, exposes }) => field === name && !exposes)
    .map(({ flags }) => flags)
  return others.length === 0 ? first : `${first.padEnd(22)} or ${others.join(', ')}`
}

async function answerTo(terminal: Terminal, { secret, description }: Field): Promise<string> {
  if (secret) return askNewPassword(terminal)
  return asking(terminal, (prompts, streams) => prompts.input({ message: description, required: true }, streams))
}

/** A new password, typed twice and never shown. */
export async function askNewPassword(terminal: Terminal): Promise<string> {
  const validate = (typed: string) => problemOf(() => assertNewPassword(typed)) ?? true
  for (;;) {
    const password = await asking(terminal, (prompts, streams) =>
      prompts.password({ message: 'Password (8 to 256 characters)', mask: false, validate }, streams),
    )
    const again = await asking(terminal, (prompts, streams) =>
      prompts.password({ message: 'The same again', mask: false }, streams),
    )
    if (again === password) return password
    say(terminal, 'The two passwords differ. Type them once more.')
  }
}

/** What a check has to say, for a prompt that asks again. */
export function problemOf(check: () => unknown): string | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
