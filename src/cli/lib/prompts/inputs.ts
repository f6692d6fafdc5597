import { randomBytes } from 'node:crypto'
import { AppError, type ErrorCode } from '../../../core/errors.js'
import type { Field } from '../../../core/fields.js'
import { assertNewPassword, assertUncommonPassword } from '../../../service/lib/passwords.js'
import { isSource, type FieldOption, type Source } from '../flags/options.js'
import { canPrompt, say, tell, whyNoPrompts, type Terminal } from '../terminal/terminal.js'
import { readText, type EditedText } from '../terminal/textfile.js'
import { withoutEcho, withPrompts } from './prompts.js'

interface Request {
  given: Record<string, unknown>
  fields: readonly Field[]
  options: readonly FieldOption[]
  /** The field of a new password, which commands check more strictly than a server. */
  newPassword: string | undefined
  /** Fields that are prompted for if missing. */
  prompts: readonly string[]
  /** The field that may be written in the editor. */
  text: string | undefined
  /** The text that the editor starts with; undefined for no editor. */
  initialText(this: void, values: Record<string, unknown>): Promise<string | undefined>
}

export interface Gathered {
  values: Record<string, unknown>
  /** The generated secret, to be shown once. */
  generated?: string
  edited?: EditedText
}

/** Completes the values given as flags with those from files, stdin, prompts, the generator and the editor. */
export async function gather(terminal: Terminal, flags: { input?: boolean }, request: Request): Promise<Gathered> {
  const { given, fields, options, prompts, text } = request
  const sources = Object.entries(given).filter((entry): entry is [string, Source] => isSource(entry[1]))
  const stdin = sources.filter(([, source]) => readsStdin(source)).map(([, source]) => source.flag)
  if (stdin.length > 1)
    throw new AppError('USAGE', `${stdin.join(' and ')} cannot both be read from stdin. Use a file for one of them.`)
  const interactive = canPrompt(terminal, { input: flags.input !== false && stdin.length === 0 })
  const missing = prompts.filter((name) => given[name] === undefined)
  const rules = missing.map((field) => ({ field, rule: flagsFor(options, field) }))
  if (!interactive && missing.length > 0) throw inputMissing(terminal, rules)
  const values = { ...given }
  for (const [name, source] of sources) values[name] = await readSource(terminal, source)
  for (const field of fields.filter(({ name }) => missing.includes(name) && name !== text))
    values[field.name] = await promptFor(terminal, field, field.name === request.newPassword)
  const password = request.newPassword === undefined ? undefined : values[request.newPassword]
  if (typeof password === 'string') await assertUncommonPassword(password)
  const edits = interactive && text !== undefined && values[text] === undefined
  const initial = edits ? await request.initialText(values) : undefined
  let edited: EditedText | undefined
  if (text !== undefined && initial !== undefined) {
    const { editText } = await import('../terminal/editor.js')
    const flag = options.findLast(({ field }) => field === text)?.long ?? '' // the last flag of a text reads a file
    edited = { text: await editText(terminal, initial, { field: text, rule: flagsFor(options, text) }), flag }
    values[text] = edited.text
  }
  const random = sources.find(([, source]) => source.kind === 'random')
  return { values, ...(random && { generated: values[random[0]] as string }), ...(edited && { edited }) }
}

export const readsStdin = (source: Source | undefined): boolean => source?.kind === 'file' && source.value === '-'

export async function readSource(terminal: Terminal, source: Source): Promise<string> {
  const { kind, value, flag, secret } = source
  if (kind === 'random') return randomBytes(18).toString('base64url')
  if (kind === 'file') return readText(terminal, value, flag)
  if (secret)
    tell(terminal, `Warning: ${flag} is visible to all users of this machine in the process list. Use ${flag}-stdin.`)
  return value
}

/** A generated password is printed here and nowhere else. */
export const showPassword = (terminal: Terminal, password: string): void =>
  say(terminal, `The password, shown only now: ${password}`)

interface Missing {
  field: string
  rule: string
}

/** The error for input that cannot be prompted for. It names all missing fields, with their flags. */
export function inputMissing(
  terminal: Terminal,
  missing: readonly Missing[],
  code: ErrorCode = 'INPUT_MISSING',
): AppError {
  const flags = missing.map(({ rule }) => /--[\w-]+/.exec(rule)?.[0] ?? rule)
  const errors = missing.map(({ field, rule }) => ({
    code: 'FIELD_MISSING',
    message: `${field} is missing.`,
    field,
    rule,
  }))
  return new AppError(
    code,
    `Missing required option${flags.length === 1 ? '' : 's'}: ${flags.join(', ')}. Nothing was changed.`,
    { errors, why: `it cannot be asked for: ${whyNoPrompts(terminal)}` },
  )
}

/** The error of a command that is only for servers. */
export const serverMissing = (to: string): AppError =>
  new AppError('INPUT_MISSING', `No server to ${to}. Commands on the local database need no login.`, {
    errors: [
      {
        code: 'FIELD_MISSING',
        message: 'server is missing.',
        field: 'server',
        rule: '--server <url>   or FEEDBACKCTL_SERVER',
      },
    ],
  })

/** The flags that set a field, except one that exposes a secret in the process list. */
function flagsFor(options: readonly FieldOption[], name: string): string {
  const [first = '', ...others] = options
    .filter(({ field, exposes }) => field === name && !exposes)
    .map(({ flags }) => flags)
  return others.length === 0 ? first : `${first.padEnd(22)} or ${others.join(', ')}`
}

async function promptFor(terminal: Terminal, { secret, description }: Field, isNew: boolean): Promise<string> {
  if (isNew) return promptForNewPassword(terminal)
  if (secret)
    return withPrompts(terminal, (prompts, streams) => prompts.password({ message: description, mask: false }, streams))
  return withPrompts(terminal, (prompts, streams) => prompts.input({ message: description, required: true }, streams))
}

/** Prompts twice for a new password, without echo. */
export async function promptForNewPassword(terminal: Terminal): Promise<string> {
  const problem = (typed: string) =>
    problemOf(async () => {
      assertNewPassword(typed)
      await assertUncommonPassword(typed)
    })
  const ask = (message: string) =>
    withPrompts(terminal, (prompts, streams) => prompts.password({ message, mask: false }, streams))
  return withoutEcho(terminal, async () => {
    for (;;) {
      // Not checked by the prompt, which would keep what was refused, unseen, before what is typed next
      const password = await ask('Password (8 to 256 characters)')
      const refusal = await problem(password)
      if (refusal === undefined && (await ask('Confirm password')) === password) return password
      tell(terminal, refusal ?? 'The passwords do not match. Try again.')
    }
  })
}

/** The message of the error that a check throws, for the validation of a prompt. */
export async function problemOf(check: () => unknown): Promise<string | undefined> {
  try {
    await check()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
