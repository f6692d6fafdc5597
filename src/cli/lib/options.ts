import { Option } from 'commander'
import { AppError } from '../../core/errors.js'
import type { Field } from '../../core/fields.js'
import { declaredFlags, type Key } from '../../core/settings.js'

/** How a long text or a secret was given: typed, in a file ('-' is stdin), or to be made up. It is read when the command runs. */
export interface Source {
  how: 'text' | 'file' | 'random'
  value: string
  flag: string
  secret: boolean
}

export const isSource = (value: unknown): value is Source =>
  typeof value === 'object' && value !== null && 'how' in value

type Named = Pick<Field, 'name' | 'description'>

/** A flag that gives a field. Several flags may give the same one, each in its way. */
export class FieldOption extends Option {
  constructor(
    flags: string,
    description: string,
    readonly field: string,
    readonly secret = false,
  ) {
    super(flags, description)
  }

  /** Whether everybody on the machine could read what it gives, in the process list. */
  get exposes(): boolean {
    return this.secret && this.flags.endsWith('<text>')
  }

  override attributeName(): string {
    return this.field
  }
}

/** What a view says about flags. */
interface Wording {
  flags?: Readonly<Record<string, string | undefined>> | undefined
  preset?: Readonly<Record<string, unknown>> | undefined
  text?: string | undefined
  generates?: string | undefined
}

export const optionsOf = (fields: readonly Field[], { flags, preset, text, generates }: Wording): FieldOption[] =>
  fields.flatMap((field) => {
    const flag = flags?.[field.name] ?? kebab(field.name)
    if (field.secret) return secretOptions(field, flag, generates === field.name)
    if (text === field.name) return textOptions(field, flag)
    return [plainOption(field, flag, preset?.[field.name] ?? field.default)]
  })

const kebab = (name: string): string =>
  name.replaceAll('_', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

function plainOption(field: Field, flag: string, preset: unknown): FieldOption {
  const otherwise = preset === undefined ? '' : ` (default: ${[preset].flat().map(String).join(',')})`
  const choices = field.choices ? ` (${field.choices.join(', ')})` : ''
  const placeholder = { string: 'text', integer: 'n', boolean: 'true|false', array: 'list' }[field.type] // an optional value would take the thing that follows
  const option = new FieldOption(`--${flag} <${placeholder}>`, field.description + choices + otherwise, field.name)
  if (field.type === 'array')
    option.argParser<unknown[] | undefined>((value, before = []) => [...before, ...listIn(value, field.default)])
  if (field.type === 'boolean') option.argParser((value) => yesOrNo(value, flag))
  return option
}

/** An empty text is the empty list, or what stands for it, as in a query string. */
const listIn = (text: string, otherwise: unknown = []): unknown[] =>
  text.trim() === '' ? [otherwise].flat() : text.split(',').map((item) => item.trim())

/** Some operations take anything for a flag, by their contract, and do nothing then: here that would be a lie. */
function yesOrNo(text: string, flag: string): boolean {
  if (text !== 'true' && text !== 'false')
    throw new AppError('USAGE', `--${flag} must be true or false; ${JSON.stringify(text.slice(0, 100))} is not.`)
  return text === 'true'
}

/** One flag for each field: the first that does not show a secret. */
export const flagsOf = (options: readonly FieldOption[]): string[] =>
  options
    .filter(
      (option) =>
        !option.exposes && options.find(({ field, exposes }) => field === option.field && !exposes) === option,
    )
    .map(({ long }) => long ?? '')

const textOptions = (field: Named, flag: string): FieldOption[] => [
  sourceOption(`--${flag} <text>`, field.description, { field, how: 'text' }),
  sourceOption(`--${flag}-file <file>`, `read the ${flag.replaceAll('-', ' ')} from a file; - is stdin`, {
    field,
    how: 'file',
  }),
]

/** The ways to give a password, the same for every command that takes one. */
export function secretOptions(field: Named, flag = field.name, generated = false): FieldOption[] {
  const words = flag.replaceAll('-', ' ')
  const rather = `visible in the process list, so rather one of the next ${generated ? 'three' : 'two'}`
  const secret = true
  return [
    sourceOption(`--${flag} <text>`, `${field.description}; ${rather}`, { field, how: 'text', secret }),
    sourceOption(`--${flag}-stdin`, `read the ${words} from stdin`, { field, how: 'file', secret }).preset('-'),
    sourceOption(`--${flag}-file <file>`, `read the ${words} from a file`, { field, how: 'file', secret }),
    ...(generated
      ? [
          sourceOption(`--generate-${flag}`, `make a ${words} and print it once`, {
            field,
            how: 'random',
            secret,
          }).preset(''),
        ]
      : []),
  ]
}

/** The flags of a setting. */
export const settingOptions = (key: Key): Option[] =>
  declaredFlags(key).map(({ flags, description }) => new Option(flags, description))

function sourceOption(
  flags: string,
  description: string,
  { field, how, secret = false }: { field: Named; how: Source['how']; secret?: boolean },
): FieldOption {
  const option = new FieldOption(flags, description, field.name, secret)
  const flag = option.long ?? ''
  option.argParser<Source | undefined>((value, before) => {
    if (before !== undefined)
      throw new AppError('USAGE', `${before.flag} and ${flag} give the same. Leave one of them out.`)
    return { how, value, flag, secret }
  })
  return option
}
