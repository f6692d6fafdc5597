import type { Command, Option } from 'commander'
import type { Noun } from '../core/nouns.js'
import { printableLine } from '../core/text.js'
import { withAlias } from './aliases.js'
import { topics } from './help.js'
import type { Cli } from './lib/connection/session.js'
import { isAlias, isContext, nounOf, wordsOf } from './lib/flags/completed.js'
import { visibleCommands } from './lib/flags/helptext.js'
import { FieldOption } from './lib/flags/options.js'

/** A word, and what it means. */
type Completion = readonly [word: string, description: string]

/** A line that has the shell complete names of files. No word of ours begins with a colon. */
const FILES: Completion = [':files', '']

interface Typed {
  command: Command
  /** How many arguments the command has so far. */
  count: number
  /** The option whose value is next. */
  option: Option | undefined
  /** No options follow `--`. */
  ended: boolean
}

/**
 * What the last of the words may become: a line for each completion, with a tab before its description. `fill` adds the
 * commands of a branch.
 */
export async function completions(
  program: Command,
  given: readonly string[],
  { cli, fill }: { cli: Cli; fill(this: void, branch: Command): Promise<void> },
): Promise<string> {
  const words = joined(given)
  const current = given.at(-1) === '=' ? '' : (words.pop() ?? '')
  const { env, cwd } = cli.terminal
  const { args } = await withAlias(
    { env, cwd, args: words },
    program.commands.map((each) => each.name()),
  ).catch(() => ({ args: words }))
  const typed = await typedIn(program, args, fill)
  const found = (await wordsAt(program, typed, { cli, current })).filter(
    (each) => each === FILES || each[0].startsWith(current),
  )
  return found.map(([word, text]) => (text === '' ? `${word}\n` : `${word}\t${printableLine(text)}\n`)).join('')
}

/** Joins the words that bash splits: it makes three of `--output=json`, and five of `http://localhost:8000`. */
function joined(given: readonly string[]): string[] {
  const words: string[] = []
  for (const [index, word] of given.entries()) {
    const last = words.at(-1)
    if (last !== undefined && (word === ':' || (given[index - 1] === ':' && index > 1)))
      words[words.length - 1] = last + word
    else if (word !== '=' || index === 0) words.push(word)
  }
  return words
}

/** Applies a setting of the line, such as --server, so that names come from the right site. */
function take(program: Command, option: Option | undefined, value: string): void {
  if (option && program.options.includes(option)) program.setOptionValueWithSource(option.attributeName(), value, 'cli')
}

async function typedIn(
  program: Command,
  words: readonly string[],
  fill: (branch: Command) => Promise<void>,
): Promise<Typed> {
  const typed: Typed = { command: program, count: 0, option: undefined, ended: false }
  for (const word of words) {
    if (typed.option) {
      take(program, typed.option, word)
      typed.option = undefined
    } else if (word === '--') typed.ended = true
    else if (!typed.ended && word.startsWith('-')) {
      const [, flag, value] = /^(--[^=]+)=([^]*)$/.exec(word) ?? []
      if (flag !== undefined && value !== undefined) take(program, optionOf(program, typed.command, flag), value)
      else typed.option = optionOf(program, typed.command, word)
    } else {
      const next = typed.command.commands.find((each) => each.name() === word || each.aliases().includes(word))
      if (!next) typed.count++
      else {
        if (typed.command === program) await fill(next)
        typed.command = next
      }
    }
  }
  return typed
}

/** The option of a word that takes the next word as its value. */
function optionOf(program: Command, command: Command, word: string): Option | undefined {
  const option = optionsOf(program, command).find(({ long, short }) => word === long || word === short)
  return option?.required ? option : undefined
}

const optionsOf = (program: Command, command: Command): Option[] => [
  ...new Set([...command.options, ...program.options]),
]

async function wordsAt(
  program: Command,
  { command, count, option, ended }: Typed,
  { cli, current }: { cli: Cli; current: string },
): Promise<readonly Completion[]> {
  if (option) return valuesOf(option, { cli, current })
  const [, flag] = /^(--[^=]+)=/.exec(current) ?? []
  if (flag !== undefined && !ended) {
    const assigned = optionOf(program, command, flag)
    const values = assigned ? await valuesOf(assigned, { cli, current: current.slice(flag.length + 1) }) : []
    return values.map((each) => (each === FILES ? each : ([`${flag}=${each[0]}`, each[1]] as const)))
  }
  if (current.startsWith('-') && !ended) return optionsOf(program, command).flatMap(flagsOf)
  const isHelp = command.name() === 'help' && command.parent === program
  const namesIn = (parent: Command) =>
    visibleCommands(parent).map((each): Completion => [each.name(), each.description()])
  if (isHelp && count === 0) return [...namesIn(program), ...[...Object.keys(topics), 'options'].map(bare)]
  if (command === program && count === 0) return [...namesIn(program), ...(await aliasesIn(cli))]
  if (command.commands.length > 0) return count === 0 ? namesIn(command) : []
  const { registeredArguments: known } = command
  const argument = known[count] ?? (known.at(-1)?.variadic ? known.at(-1) : undefined)
  if (argument && /file|folder/.test(argument.name())) return [FILES]
  if (isContext(argument)) return contextsOf(cli)
  if (isAlias(argument)) return aliasesIn(cli)
  const noun = nounOf(argument)
  return noun ? namesOf(noun, { cli, current }) : wordsOf(argument).map(bare)
}

/** Names of rows that begin with the typed text. Empty if the site cannot be read, because a shell cannot show errors. */
async function namesOf(noun: Noun, { cli, current }: { cli: Cli; current: string }): Promise<readonly Completion[]> {
  const { namesIn } = await import('./completednames.js')
  return namesIn(cli, noun, current).catch(() => [])
}

/** The settings are hidden from help, and not here. Other hidden options are older names. */
function flagsOf(option: Option): Completion[] {
  const isSetting = option.helpGroupHeading === 'Settings:'
  if (option.hidden && !isSetting) return []
  const opposite = option instanceof FieldOption ? option.opposite : undefined
  return [option.long, opposite].flatMap((word) => (word === undefined ? [] : [[word, option.description] as const]))
}

async function valuesOf(
  option: Option,
  { cli, current }: { cli: Cli; current: string },
): Promise<readonly Completion[]> {
  if (option.long === '--context' || option.long === '--confirm') return contextsOf(cli)
  if (/<(file|folder)>$/.test(option.flags)) return [FILES]
  if (option instanceof FieldOption && option.noun) {
    // The value may be a list, of which the last name is being typed
    const before = current.slice(0, current.lastIndexOf(',') + 1)
    const names = await namesOf(option.noun, { cli, current: current.slice(before.length) })
    const listed = before.split(',')
    return names.flatMap(([name, text]) => (listed.includes(name) ? [] : [[before + name, text] as const]))
  }
  const words = option.argChoices ?? (option instanceof FieldOption ? option.words : undefined)
  return (words ?? (option.flags.endsWith('<boolean>') ? ['true', 'false'] : [])).map(bare)
}

async function aliasesIn(cli: Cli): Promise<Completion[]> {
  const { aliases } = await cli.config({ lenient: true, newFile: true })
  return [...aliases].map(([name, line]) => [name, line])
}

async function contextsOf(cli: Cli): Promise<Completion[]> {
  const { contexts } = await cli.config({ lenient: true, newFile: true })
  return [...contexts.keys()].map(bare)
}

const bare = (word: string): Completion => [word, '']
