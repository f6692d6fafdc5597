import type { Command, Option } from 'commander'
import { AppError } from '../../../core/errors.js'
import type { Field } from '../../../core/fields.js'
import { FieldOption } from './fieldoption.js'

/** The flag of a boolean field. */
export interface Switch {
  /** `private` for --private and --no-private. */
  word: string
  /** The value that the flag sets. Default: true. */
  on?: boolean
  /** Default: that of the field. */
  description?: string
}

/** A flag without a value. The words `true` and `false` after it are taken too. */
class SwitchOption extends FieldOption {
  readonly isSwitch = true

  constructor(flags: string, description: string, field: string, value: boolean) {
    super(flags, description, field)
    this.preset(value)
  }
}

/**
 * The flags of a field that is true or false: --private and --no-private, and, where these have another name than the
 * field, its own, which help does not show.
 */
export function switchOptions(field: Field, flag: string, preset: unknown, given: Switch | undefined): FieldOption[] {
  const { word = flag, on = true, description = field.description } = given ?? {}
  const presetNote = preset === undefined ? '' : ` (default: --${preset === on ? '' : 'no-'}${word})`
  const shown = new SwitchOption(`--${word}`, description + presetNote, field.name, on)
  shown.opposite = `--no-${word}`
  const options = [shown, new SwitchOption(`--no-${word}`, '', field.name, !on).hideHelp()]
  if (word === flag) return options
  const own = [
    new SwitchOption(`--${flag}`, '', field.name, true),
    new SwitchOption(`--no-${flag}`, '', field.name, false),
  ]
  return [...options, ...own.map((option) => option.hideHelp())]
}

/** Whether an option is a switch of a field that takes `true` and `false` as its value. */
export const isSwitchOfField = (option: Option): boolean => option instanceof SwitchOption && !option.negate

/** Lets a command take `--private true` and `--private=false` for --private and --no-private. */
export function takeSwitchValues(command: Command): void {
  const parse = command.parseOptions.bind(command)
  command.parseOptions = (args) => parse(withoutValues(args, namesOf(command)))
}

const namesOf = (command: Command): string[] =>
  command.options.filter(isSwitchOfField).flatMap(({ long }) => long ?? [])

function withoutValues(args: readonly string[], names: readonly string[]): string[] {
  const end = args.includes('--') ? args.indexOf('--') : args.length
  const taken: string[] = []
  for (let index = 0; index < end; index++) {
    const arg = args[index] ?? ''
    const [name = '', ...rest] = arg.split('=')
    if (!names.includes(name)) taken.push(arg)
    else if (rest.length > 0) taken.push(wordOf(name, rest.join('=')))
    else if (index + 1 < end && isWord(args[index + 1])) taken.push(wordOf(name, args[++index] ?? ''))
    else taken.push(arg)
  }
  return [...taken, ...args.slice(end)]
}

const isWord = (text: string | undefined): boolean => text === 'true' || text === 'false'

function wordOf(name: string, value: string): string {
  if (!isWord(value))
    throw new AppError('USAGE', `${name} must be true or false; ${JSON.stringify(value.slice(0, 100))} is not.`)
  return value === 'true' ? name : name.replace('--', '--no-')
}
