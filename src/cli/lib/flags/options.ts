import { Option } from 'commander'
import { wholeOf } from '../../../core/durations.js'
import { AppError } from '../../../core/errors.js'
import { guess } from '../../../core/guesses.js'
import type { Field } from '../../../core/fields.js'
import { declaredFlags, type Key } from '../../../core/settings.js'
import { valuesIn } from '../../../core/values.js'
import { FieldOption } from './fieldoption.js'

import { switchOptions, type Switch } from './switches.js'

export { FieldOption } from './fieldoption.js'

/**
 * Where a long text or a secret comes from: the command line, a file ('-' is stdin), or the generator. Read when the
 * command runs.
 */
export interface Source {
  kind: 'text' | 'file' | 'random'
  value: string
  flag: string
  secret: boolean
}

export const isSource = (value: unknown): value is Source =>
  typeof value === 'object' && value !== null && 'kind' in value

type NamedField = Pick<Field, 'name' | 'description'>

/** The parts of a view about flags. */
interface FlagView {
  flags?: Readonly<Record<string, string | undefined>> | undefined
  formerly?: Readonly<Record<string, string | undefined>> | undefined
  defaults?: Readonly<Record<string, unknown>> | undefined
  switches?: Readonly<Record<string, Switch | undefined>> | undefined
  text?: string | undefined
  texts?: readonly string[] | undefined
  generated?: string | undefined
}

export const optionsOf = (
  fields: readonly Field[],
  { flags, formerly, defaults, switches, text, texts, generated }: FlagView,
): FieldOption[] =>
  fields.flatMap((field) => {
    const flag = flags?.[field.name] ?? kebab(field.name)
    if (field.secret) return secretOptions(field, flag, generated === field.name)
    if (text === field.name || texts?.includes(field.name)) return textOptions(field, flag)
    if (field.type === 'boolean')
      return switchOptions(field, flag, defaults?.[field.name] ?? field.default, switches?.[field.name])
    const preset = defaults?.[field.name] ?? field.default
    if (field.name === 'created' && field.choices)
      return [createdOption(field, preset), ...(fields.some(({ name }) => name === 'sort') ? [] : [sortOption(field, preset)])] // prettier-ignore
    const earlier = formerly?.[field.name]
    const shown = plainOption(field, flag, preset)
    return earlier === undefined ? [shown] : [shown, plainOption(field, earlier, preset).hideHelp()]
  })

const kebab = (name: string): string =>
  name.replaceAll('_', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

function plainOption(field: Field, flag: string, preset: unknown): FieldOption {
  const presetNote = preset === undefined ? '' : ` (default: ${[preset].flat().map(String).join(',')})`
  const choices = field.choices ? ` (${field.choices.join(', ')})` : ''
  const forms = field.inDays ? ' (such as 7, 7d or 4w)' : ''
  // Required: an optional value would swallow the positional argument.
  const type = field.time ? 'time' : field.inDays ? 'days' : field.type
  const placeholder = { string: 'text', integer: 'n', boolean: '', array: 'list', time: 'time', days: 'days' }[type]
  const short = flag === 'limit' ? '-L, ' : ''
  const option = new FieldOption(
    `${short}--${flag} <${placeholder}>`,
    field.description + choices + forms + presetNote + (field.time ? ': 7d, 12h, 2026-03-01' : ''),
    field.name,
  )
  if (field.choices) option.words = field.choices.map(String)
  if (field.names) option.noun = field.names
  if (field.inDays) option.argParser((value) => wholeOf(value, 'd') ?? value)
  if (field.name === 'color') option.argParser((value) => value.replace(/^#/, '')) // as style sheets write it
  if (field.type === 'array')
    option.argParser<unknown[] | undefined>((value, before = []) => [
      ...before,
      ...parseList(value, field.default, field.divided),
    ])
  return option
}

const ORDERS: ReadonlyMap<string, string> = new Map([['newest', 'desc'], ['oldest', 'asc']]) // prettier-ignore

/** The flag of older versions for the order of a list by time. */
const createdOption = (field: Field, preset: unknown): FieldOption => plainOption(field, 'created', preset).hideHelp()

/** The order of a list by time, with the words of all lists. */
function sortOption(field: Field, preset: unknown): FieldOption {
  const words = [...ORDERS.keys()].join(', ')
  const usual = [...ORDERS.keys()].find((word) => ORDERS.get(word) === preset)
  const sort = new FieldOption('--sort <text>', `Order (${words}) (default: ${usual})`, field.name)
  sort.words = [...ORDERS.keys()]
  sort.argParser((text) => {
    const direction = ORDERS.get(text.trim().toLowerCase())
    if (direction !== undefined) return direction
    const said = `--sort must be one of ${words}; ${JSON.stringify(text.slice(0, 100))} is not.${guess(text, [...ORDERS.keys()])}`
    const issue = { code: 'UNKNOWN_CHOICE', message: said, field: field.name, rule: `one of ${words}`, value: text }
    throw new AppError('USAGE', said, { errors: [issue] })
  })
  return sort
}

/** An empty text is the default list, or an empty one, as in a query string. */
const parseList = (text: string, preset: unknown = [], divided?: string): unknown[] =>
  text.trim() === '' ? [preset].flat() : valuesIn(text, divided)

/** One flag per field: the first that does not expose a secret. Stdin has room for one secret: others are in files. */
export function flagNames(options: readonly FieldOption[]): string[] {
  const names: string[] = []
  for (const field of new Set(options.map((option) => option.field))) {
    const safe = options.filter((option) => option.field === field && !option.exposes).map(({ long = '' }) => long)
    const isTaken = names.some((name) => name.endsWith('-stdin'))
    names.push((isTaken ? safe.find((name) => !name.endsWith('-stdin')) : undefined) ?? safe[0] ?? '')
  }
  return names
}

const textOptions = (field: NamedField, flag: string): FieldOption[] => [
  sourceOption(`--${flag} <text>`, field.description, { field, kind: 'text' }),
  sourceOption(`--${flag}-file <file>`, `read the ${flag.replaceAll('-', ' ')} from a file (- for stdin)`, {
    field,
    kind: 'file',
  }),
]

/** The flags of a secret. */
export function secretOptions(field: NamedField, flag: string, generated: boolean): FieldOption[] {
  const name = flag.replaceAll('-', ' ')
  const secret = true
  const warning = `visible in "ps"; prefer --${flag}-stdin`
  const options = [
    sourceOption(`--${flag} <text>`, `${field.description} (${warning})`, { field, kind: 'text', secret }),
    sourceOption(`--${flag}-stdin`, `read the ${name} from stdin`, { field, kind: 'file', secret }).preset('-'),
    sourceOption(`--${flag}-file <file>`, `read the ${name} from a file`, { field, kind: 'file', secret }),
  ]
  if (!generated) return options
  const random = { field, kind: 'random', secret } as const
  return [...options, sourceOption(`--generate-${flag}`, `generate a ${name} and print it once`, random).preset('')]
}

/** The flags of a setting. */
export const settingOptions = (key: Key): Option[] =>
  declaredFlags(key).map(({ flags, description }) => new Option(flags, description))

function sourceOption(
  flags: string,
  description: string,
  { field, kind, secret = false }: { field: NamedField; kind: Source['kind']; secret?: boolean },
): FieldOption {
  const option = new FieldOption(flags, description, field.name, secret)
  const flag = option.long ?? ''
  option.argParser<Source | undefined>((value, before) => {
    if (before !== undefined)
      throw new AppError('USAGE', `${before.flag} and ${flag} set the same value. Give only one.`)
    return { kind, value, flag, secret }
  })
  return option
}
