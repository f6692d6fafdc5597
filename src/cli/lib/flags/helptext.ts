import type { Argument, Command, Option } from 'commander'
import type { Key } from '../../../core/settings.js'
import { wrapped, wrappedRow } from '../texts/wrap.js'
import { FieldOption } from './fieldoption.js'

interface Details {
  /** Command lines without the name of the program. */
  examples: readonly string[]
  /** Paragraphs below the options. */
  notes?: readonly string[]
  /** Terms that the notes speak of, by heading. */
  lists?: Readonly<Record<string, readonly Row[]>>
  /** Flags without which the command prompts, or fails where it cannot. */
  required?: readonly string[]
  /** Works only on the machine of the site: --server is refused. */
  local?: true
  /** The command reads no site and no configuration. It takes only these settings as options. */
  own?: readonly Key[]
  /** Arguments that a terminal prompts for, and the fields that options can set instead. */
  prompted?: Readonly<Record<string, string>>
}

const detailsOf = new WeakMap<Command, Details>()

/** Sets the help of a command besides its options. */
export function explain<C extends Command>(command: C, details: Details): C {
  detailsOf.set(command, details)
  return command
}

/** The help of a command besides its options. */
export const detailsIn = (command: Command): Partial<Details> => detailsOf.get(command) ?? {}

/** Options without which the command prompts or fails. */
export const requiredOf = (command: Command): readonly string[] => detailsOf.get(command)?.required ?? []

/** Arguments that a terminal prompts for, and the fields that options can set instead. */
export const promptedOf = (command: Command): Readonly<Record<string, string>> => detailsOf.get(command)?.prompted ?? {}

/** Whether a command works only on the machine of the site. */
export const isLocal = (command: Command): boolean => detailsOf.get(command)?.local === true

/** The settings that a command takes as options. Undefined means all of them. */
export const settingsOf = (command: Command): readonly Key[] | undefined => detailsOf.get(command)?.own

/** Options of the program that the help of each command repeats, by their heading. The others are in `help options`. */
const COMMON = [
  ['Output', ['--output', '--json', '--fields', '--quiet']],
  ['Connection', ['--server', '--context', '--data-dir', '--database-url', '--config']],
] as const

interface Shape {
  /** Columns of a line. Only a word that is longer has more. */
  width: number
  /** The folder of the documents. */
  documents: string
}

/** The help of a command. */
export function helpOf(command: Command, { width, documents }: Shape): string {
  const { examples = [], notes = [], lists = {}, local, own } = detailsOf.get(command) ?? {}
  const root = rootOf(command)
  const sections = [
    wrappedRow('Usage:', usageOf(command), { width, indent: 0, column: 7 }),
    wrapped(sentence(command.description()), width),
    ...(examples.length === 0 ? [] : [['Examples:', ...examples.map((line) => exampleOf(line, width))].join('\n')]),
    ...commandSections(command, width),
    ...optionGroups(command).map(([heading, options]) => section(heading, options.map(rowOf), width)),
    ...(command.commands.length > 0
      ? []
      : COMMON.filter(([heading]) => !own || heading !== 'Connection').map(([heading, names]) =>
          section(heading, commonRows(root, local ? names.filter((name) => name !== '--server') : names), width),
        )),
    ...Object.entries(lists).map(([heading, rows]) => section(heading, rows, width)),
    ...notes.map((note) => wrapped(note, width)),
    wrapped(`More: feedbackctl help options | ${command === root ? 'TOPIC | COMMAND' : 'environment | formatting'}`, width), // prettier-ignore
    `Documents: ${documents}`,
  ]
  return `${sections.slice(0, -2).join('\n\n')}\n\n${sections.slice(-2).join('\n')}\n`
}

/** The usage line: the command, its arguments, and the required options. */
export function usageOf(command: Command): string {
  const words: string[] = []
  for (let each: Command | null = command; each; each = each.parent) words.unshift(each.name())
  const needed = command.options.filter(({ long = '' }) => requiredOf(command).includes(long))
  return [
    ...words,
    ...(command.commands.length > 0 && command.registeredArguments.length === 0 ? ['COMMAND'] : []),
    ...command.registeredArguments.map((each) => argumentOf(each, promptedOf(command)[each.name()] !== undefined)),
    ...needed.map((option) => option.flags.replace(/^-\w, /, '')),
    '[options]',
  ].join(' ')
}

function argumentOf(each: Argument, isPrompted = false): string {
  const name = `${each.name()}${each.variadic ? '...' : ''}`
  return each.required || isPrompted ? `<${name}>` : `[${name}]`
}

type Row = readonly [term: string, description: string]

/** The subcommands that help lists, without commander's own "help" of each branch. */
export function visibleCommands(command: Command): Command[] {
  const visible = new Set(command.createHelp().visibleCommands(command))
  return command.commands.filter((each) => visible.has(each))
}

/** The subcommands, under the headings of their groups. */
function commandSections(command: Command, width: number): string[] {
  const commands = visibleCommands(command)
  const headings = [...new Set(commands.map((each) => each.helpGroup() || 'Commands:'))]
  return headings.map((heading) =>
    section(
      heading,
      commands
        .filter((each) => (each.helpGroup() || 'Commands:') === heading)
        .map((each): Row => [termOf(each), each.description()]),
      width,
    ),
  )
}

const termOf = (command: Command): string =>
  [
    command.name(),
    ...command.registeredArguments.map((each) => argumentOf(each, promptedOf(command)[each.name()] !== undefined)),
  ].join(' ')

/** The command's own options. */
export function optionGroups(command: Command): (readonly [heading: string, options: readonly Option[]])[] {
  const visible = command.options.filter((option) => !option.hidden)
  const headings = [...new Set(visible.map((option) => option.helpGroupHeading ?? 'Options:'))]
  const found = headings.map(
    (heading) => [heading, visible.filter((option) => (option.helpGroupHeading ?? 'Options:') === heading)] as const,
  )
  return found.filter(([, options]) => options.length > 0)
}

/** Without the defaults, which `help options` has. */
const commonRows = (root: Command, names: readonly string[]): Row[] =>
  root.options
    .filter(({ long }) => long !== undefined && names.includes(long))
    .map(rowOf)
    .map(([term, text]) => [term, text.replace(/ \(default: .*\)$/, '')])

/** A flag and its opposite, `--private, --no-private`, are one row. */
export function rowOf(option: Option): Row {
  const choices = option.argChoices ? ` (${option.argChoices.join(', ')})` : ''
  const preset =
    option.defaultValue === undefined || option.defaultValue === false
      ? ''
      : ` (default: ${String(option.defaultValue)})`
  const opposite = option instanceof FieldOption && option.opposite ? `, ${option.opposite}` : ''
  return [option.flags + opposite, capitalized(option.description) + choices + preset]
}

/** A heading and rows, whose descriptions start in one column unless their terms are too long for that. */
export function section(heading: string, rows: readonly Row[], width: number): string {
  const longest = Math.max(0, ...rows.map(([term]) => term.length))
  const column = Math.min(longest, Math.max(18, Math.floor(width * 0.36))) + 4
  return [
    heading.endsWith(':') ? heading : `${heading}:`,
    ...rows.map(([term, text]) => wrappedRow(term, text, { width, indent: 2, column })),
  ].join('\n')
}

/** A command line, which a backslash continues where it is too long. */
function exampleOf(line: string, width: number): string {
  const words = line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? []
  let text = '  $ feedbackctl'
  let start = 0
  for (const word of words) {
    if (text.length - start + 1 + word.length > width - 2 && text.length - start > 6) {
      text += ' \\\n      '
      start = text.length - 6
      text += word
    } else text += ` ${word}`
  }
  return text
}

/** Leaves placeholders such as HOST:PORT unchanged. */
const capitalized = (text: string): string =>
  /^[a-z]+\b(?![:.@/])/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

function rootOf(command: Command): Command {
  return command.parent ? rootOf(command.parent) : command
}
