import type { Command, Option } from 'commander'
import { Mistyped } from '../texts/mistyped.js'
import { isSwitchOfField } from './switches.js'

/** Words that people type as the value of a switch. A thing with such a name stands before all switches, or after `--`. */
const TRUE_WORDS = ['true', 'yes', 'on']
export const FALSE_WORDS = ['false', 'no', 'off']

/** A word after a switch, and how many arguments stand before it. */
interface Place {
  args: readonly string[]
  index: number
  after: string
  given: number
}

/**
 * Refuses a value after a switch before the command runs: `--dry-run false`, `boards update ideas --private maybe`. A
 * command that takes several names would act on the value as one more name.
 */
export function assertNoSwitchValues(program: Command, args: readonly string[]): void {
  const end = args.includes('--') ? args.indexOf('--') : args.length
  if (args.slice(0, end).some((arg) => arg === '--help' || arg === '-h')) return
  let command = program
  let given = 0
  for (let index = 0; index < end; index++) {
    const arg = args[index] ?? ''
    if (arg === '-' || !arg.startsWith('-')) {
      const next = given === 0 ? subcommand(command, arg) : undefined
      if (next) command = next
      else given += 1
      continue
    }
    const { option, hasValue } = optionOf(command, arg)
    if (option && hasValue && isSwitchOfField(option)) assertTruth(args, index)
    if (!option || hasValue) continue
    const after = index + 1 < end ? args[index + 1] : undefined
    const takes = option.required || (option.optional && after?.startsWith('-') === false)
    if (takes || (isSwitchOfField(option) && ['true', 'false'].includes(after ?? ''))) index += 1
    else if (after !== undefined && isValue(command, option, { args, index, after, given }))
      throw refused(command, option, { args, index, after, given })
  }
}

const subcommand = (command: Command, word: string): Command | undefined =>
  command.commands.find((each) => each.name() === word || each.aliases().includes(word))

/** The option of an argument, the last one in `-qy`. */
function optionOf(command: Command, arg: string): { option: Option | undefined; hasValue: boolean } {
  const known: readonly Option[] = [...(command.parent ? optionsAbove(command) : []), ...command.options]
  if (arg.startsWith('--')) {
    const [name] = arg.split('=')
    return { option: known.find(({ long }) => long === name), hasValue: arg.includes('=') }
  }
  for (const [index, letter] of Array.from(arg.slice(1)).entries()) {
    const option = known.find(({ short }) => short === `-${letter}`)
    const isLast = index === arg.length - 2
    if (!option || isLast) return { option, hasValue: false }
    if (option.required || option.optional) return { option, hasValue: true }
  }
  return { option: undefined, hasValue: false }
}

const optionsAbove = ({ parent }: Command): Option[] => (parent ? [...optionsAbove(parent), ...parent.options] : [])

/** Whether the word after a switch is a value for it and not an argument of the command. */
function isValue(command: Command, option: Option, { after, given }: Place): boolean {
  if (command.commands.length > 0 || (after !== '-' && after.startsWith('-'))) return false
  if (isTruthWord(after)) return true
  return takesSeveral(command) ? given > 0 || isSwitchOfField(option) : given >= command.registeredArguments.length
}

const isTruthWord = (word: string): boolean => [...TRUE_WORDS, ...FALSE_WORDS].includes(word.toLowerCase())

const takesSeveral = (command: Command): boolean => command.registeredArguments.some(({ variadic }) => variadic)

function refused(command: Command, option: Option, place: Place): Mistyped {
  const { args, index, after } = place
  const flag = args[index]?.startsWith('--') ? args[index] : (option.long ?? '')
  const shown = JSON.stringify(after.slice(0, 100))
  return new Mistyped(
    isSwitchOfField(option)
      ? `${flag} must be true or false; ${shown} is not.`
      : `${flag} takes no value, and ${shown} follows it.`,
    isTruthWord(after) ? withValue(command, option, place) : withArgument(command, option, place),
  )
}

/** Refuses `--private=no`, with the switch that was meant. */
function assertTruth(args: readonly string[], index: number): void {
  const [flag = '', ...rest] = args[index]?.split('=') ?? []
  const value = rest.join('=')
  if (['true', 'false'].includes(value)) return
  const isTrue = TRUE_WORDS.includes(value.toLowerCase())
  throw new Mistyped(
    `${flag} must be true or false; ${JSON.stringify(value.slice(0, 100))} is not.`,
    isTruthWord(value) ? args.with(index, isTrue ? flag : flag.replace('--', '--no-')) : undefined,
  )
}

/** The command with the value that was meant. The word may be an argument instead, where there is none before it. */
function withValue(command: Command, option: Option, { args, index, after, given }: Place): string[] | undefined {
  const flag = args[index] ?? ''
  if ((given === 0 && command.registeredArguments.length > 0) || !flag.startsWith('--')) return undefined
  const isTrue = TRUE_WORDS.includes(after.toLowerCase())
  if (isTrue) return args.toSpliced(index + 1, 1)
  if (isSwitchOfField(option)) return args.toSpliced(index, 2, flag.replace('--', '--no-'))
  return option.negate ? undefined : args.toSpliced(index, 2)
}

/** The command with the word before the switch, among the names that it takes. */
function withArgument(command: Command, option: Option, { args, index, after, given }: Place): string[] | undefined {
  if (!takesSeveral(command) || (given > 0 && isSwitchOfField(option))) return undefined
  return args.toSpliced(index, 2, after, args[index] ?? '')
}
