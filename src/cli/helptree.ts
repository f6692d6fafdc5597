import type { Command, Option } from 'commander'
import { detailsIn, isLocal, requiredOf, rowOf, settingsOf, usageOf, visibleCommands } from './lib/flags/helptext.js'

/** A command for programs, such as one that draws a menu of them. */
interface Described {
  name: string
  aliases: readonly string[]
  description: string
  usage: string
  arguments: readonly { name: string; required: boolean; several: boolean; choices?: readonly string[] }[]
  options: readonly DescribedOption[]
  examples: readonly string[]
  notes: readonly string[]
  /** Whether it works only on the machine of the site. */
  local: boolean
  commands: readonly Described[]
}

interface DescribedOption {
  flags: string
  description: string
  required: boolean
  choices?: readonly string[]
}

/** A command and all below it. Each branch is filled. */
export function described(command: Command): Described {
  const { examples = [], notes = [] } = detailsIn(command)
  return {
    name: pathOf(command),
    aliases: command.aliases(),
    description: command.description(),
    usage: usageOf(command),
    arguments: command.registeredArguments.map((each) => ({
      name: each.name(),
      required: each.required,
      several: each.variadic,
      ...(each.argChoices && { choices: each.argChoices }),
    })),
    options: command.options
      .filter((option) => !option.hidden || command.parent === null)
      .map((option) => describedOption(option, requiredOf(command))),
    examples: examples.map((line) => `feedbackctl ${line}`),
    notes,
    local: isLocal(command) || settingsOf(command) !== undefined,
    commands: visibleCommands(command).map(described),
  }
}

function describedOption(option: Option, required: readonly string[]): DescribedOption {
  const [flags, description] = rowOf(option)
  return {
    flags,
    description,
    required: required.includes(option.long ?? ''),
    ...(option.argChoices && { choices: option.argChoices }),
  }
}

const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()

/** The help of each command that has no others, one after another. */
export const everyHelp = (command: Command): string =>
  leavesOf(command)
    .map((leaf) => leaf.helpInformation())
    .join('\n')

const leavesOf = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : visibleCommands(command).flatMap(leavesOf)
