import { CommanderError, type Command } from 'commander'
import { parseListen } from '../core/addresses.js'
import { AppError } from '../core/errors.js'
import { didYouMean, likely } from '../core/guesses.js'
import { counted, quoted } from '../core/text.js'
import { isLocal, visibleCommands } from './lib/flags/helptext.js'
import { missingArguments } from './lib/flags/missing.js'
import { FALSE_WORDS } from './lib/flags/switchvalues.js'
import { canPrompt, COLOR_WORDS, type Terminal } from './lib/terminal/terminal.js'
import { withValue } from './lib/texts/commandline.js'
import { Mistyped } from './lib/texts/mistyped.js'
import { branches } from './tree.js'

/** Words that other programs have as commands, and what this one has. */
const OTHER_COMMANDS: ReadonlyMap<string, string> = new Map([
  ['version', '--version'],
  ['server', 'serve'],
  ['start', 'serve'],
  ['init', 'setup'],
  ['install', 'setup'],
  ['user', 'users'],
  ['login', 'login'],
  ['check', 'doctor'],
  ['log', 'events'],
  ['logs', 'events'],
  ['upgrade', 'migrate'],
])

/** Verbs that other programs have, and what this one has. */
const OTHER_VERBS: ReadonlyMap<string, string> = new Map([
  ...['remove', 'rm', 'del', 'destroy'].map((word) => [word, 'delete'] as const),
  ...['add', 'new', 'make'].map((word) => [word, 'create'] as const),
  ...['edit', 'set', 'change', 'modify'].map((word) => [word, 'update'] as const),
  ...['get', 'view', 'info', 'describe'].map((word) => [word, 'show'] as const),
  ['find', 'search'],
  ['ls', 'list'],
])

/** Options that other programs have, and what this one has. */
const OTHER_OPTIONS: ReadonlyMap<string, string> = new Map([
  ['--port', '--listen'],
  ['--host', '--listen'],
  ['--bind', '--listen'],
  ['--force', '--yes'],
  ['--format', '--output'],
  ['--per-page', '--limit'],
  ['--size', '--limit'],
  ['--body-text', '--body'],
])

/** The default port of `listen`. */
const DEFAULT_PORT = '8000'

/** Verbs that several nouns have. */
const VERBS = ['list', 'show', 'search', 'create', 'update', 'delete']

/** Refuses a first word that is no command. The words of `help` are not commands of the program. */
export function assertKnown({ args }: Command, typed: readonly string[]): void {
  const mistake = unknownWord(args, typed)
  if (mistake) throw mistake
}

function unknownWord([word, second]: readonly string[], typed: readonly string[]): AppError | undefined {
  const names = [...branches.map(({ name }) => name), 'help']
  if (word === undefined || word.startsWith('-') || names.includes(word)) return undefined
  const meant = OTHER_COMMANDS.get(word) ?? likely(word, names)
  const verb = VERBS.includes(word) ? word : meant === undefined ? likely(word, VERBS) : undefined
  const noun = second !== undefined && verb !== undefined ? likely(second, names) : undefined
  if (second !== undefined && verb !== undefined && noun !== undefined)
    return new Mistyped(
      `Unknown command "${word}".${didYouMean(`${noun} ${verb}`)}`,
      withWords(typed, [word, second], [noun, verb]),
    )
  const order = verb === undefined ? '' : ` A noun comes first, as in "posts ${verb}".`
  return new Mistyped(
    `Unknown command "${word}".${order || didYouMean(meant)}`,
    meant === undefined || verb !== undefined ? undefined : withWords(typed, [word], [meant]),
  )
}

/** The command exists, and has no such subcommand. */
export function unknownVerb(branch: Command, word: string, typed: readonly string[]): AppError {
  const name = pathOf(branch)
  const verbs = visibleCommands(branch).map((each) => each.name())
  const other = OTHER_VERBS.get(word) ?? ''
  const usual = branch.commands.find((each) => each.name() === other || each.aliases().includes(other))
  const meant = usual?.name() ?? likely(word, [...verbs, ...branch.commands.flatMap((each) => each.aliases())])
  return new Mistyped(
    `Unknown command "${name} ${word}".${didYouMean(meant)} "${name}" has: ${verbs.join(', ')}.`,
    meant === undefined ? undefined : withWords(typed, [word], [meant]),
  )
}

/** The words of a command, without the name of the program. */
const pathOf = (command: Command): string =>
  command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()

/** The arguments with other words in place of some that follow each other. */
export function withWords(args: readonly string[], from: readonly string[], to: readonly string[]): string[] {
  const index = args.findIndex((_, start) => from.every((word, offset) => args[start + offset] === word))
  return index === -1 ? [...args] : args.toSpliced(index, from.length, ...to)
}

interface Typed {
  terminal: Terminal
  flags: { input?: boolean }
  program: Command
  /** The branch of the command or the group in it, and the command itself, as far as they exist. */
  branch: Command | undefined
  leaf: Command | undefined
}

/** A mistake in the words that were typed, in our form; undefined for what is none, such as help. */
export function usageError(error: unknown, { terminal, flags, program, branch, leaf }: Typed): AppError | undefined {
  if (!(error instanceof CommanderError) || error.exitCode === 0) return undefined
  const { args } = terminal
  const { message } = error
  const found = (pattern: RegExp) => pattern.exec(message)?.slice(1) ?? []
  const [word = ''] = found(/^error: unknown (?:command|option) '(.*?)'/s)
  switch (error.code) {
    case 'commander.help': {
      const verbs = branch ? visibleCommands(branch).map((each) => each.name()) : []
      return new AppError('USAGE', `"${branch ? pathOf(branch) : ''}" needs a command: ${verbs.join(', ')}.`)
    }
    case 'commander.missingArgument':
      if (leaf) return missingArguments(leaf, args, canPrompt(terminal, flags))
      break
    case 'commander.invalidArgument': {
      const [value = '', words = ''] = found(/'([^']*)' is invalid.* Allowed choices are (.+)\.$/s)
      const [name] = found(/(?:for argument '|^error: option '(?:-\w, )?)([^' ]+)/)
      if (name === undefined || words === '') break
      const meant = likely(value, words.split(', '))
      const option = [...program.options, ...(leaf?.options ?? [])].find(({ long }) => long === name)
      return new Mistyped(
        `${name.startsWith('-') ? name : `<${name}>`} must be one of ${words}; ${quoted(value)} is not.${didYouMean(meant)}`,
        meant === undefined
          ? undefined
          : option
            ? withValue(args, option, [value, meant])
            : withWords(args, [value], [meant]),
      )
    }
    case 'commander.excessArguments': {
      const [most = '', count = ''] = found(/^error: too many arguments.*Expected (\d+).*got (\d+)/s)
      const takes = most === '0' ? 'no arguments' : counted(most, 'argument')
      return new Mistyped(
        `The command takes ${takes}, not ${count}. Put a value with spaces in quotes.`,
        leaf && inOneArgument(leaf, args),
      )
    }
    case 'commander.unknownCommand':
      if (branch) return unknownVerb(branch, word, args)
      break
    case 'commander.unknownOption': {
      const mistake = branch ? undefined : unknownWord(program.args, args)
      if (mistake) return mistake
      if (!word.startsWith('--color')) return unknownOption(leaf ?? branch ?? program, word, args)
      return wrongColor(word, args)
    }
  }
  const text = message.replace(/^error: /, '').replaceAll('\n', ' ')
  return new AppError('USAGE', `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?)]$/.test(text) ? '' : '.'}`)
}

/** A value of --color that says no time for colour. A board has a colour by the same name. */
function wrongColor(word: string, args: readonly string[]): AppError {
  const must = `--color must be ${COLOR_WORDS.slice(0, -1).join(', ')} or ${COLOR_WORDS.at(-1)}`
  const [, given] = word.split('=')
  const value = given ?? args[args.indexOf(word) + 1]
  const meant = value === undefined ? undefined : likely(value, COLOR_WORDS)
  if (value === undefined || meant === undefined) return new AppError('USAGE', `${must}.`)
  return new Mistyped(
    `${must}; ${quoted(value)} is not.${didYouMean(meant)}`,
    withValue(args, { long: '--color' }, [value, meant]),
  )
}

/** The command with its words as one name or title. Undefined where they may be anything else. */
function inOneArgument({ args, registeredArguments: [only, ...others] }: Command, typed: readonly string[]) {
  if (others.length > 0 || !['name', 'title'].includes(only?.name() ?? '')) return undefined
  const first = typed.findIndex((_, start) => args.every((word, offset) => typed[start + offset] === word))
  return first === -1 ? undefined : typed.toSpliced(first, args.length, args.join(' '))
}

function unknownOption(command: Command | undefined, word: string, args: readonly string[]): AppError {
  const [name = ''] = word.split('=')
  const names: string[] = []
  for (let each = command; each; each = each.parent ?? undefined)
    names.push(...each.options.filter(({ hidden, long }) => long === OTHER_OPTIONS.get(name) || !hidden).flatMap(({ long }) => long ?? [])) // prettier-ignore
  if (name !== word && names.includes(name)) {
    const isOff = FALSE_WORDS.includes(word.slice(name.length + 1).toLowerCase())
    return new Mistyped(
      `${name} takes no value.`,
      args.flatMap((arg) => (arg !== word ? arg : isOff ? [] : name)),
    )
  }
  if (name === '--as' && command && isLocal(command)) {
    const message = `"${pathOf(command)}" acts as the operator of this machine, and takes no --as.`
    return new Mistyped(message, args.toSpliced(args.indexOf(word), name === word ? 2 : 1))
  }
  const other = OTHER_OPTIONS.get(name)
  const meant = other !== undefined && names.includes(other) ? other : name.length > 2 ? likely(name, names) : undefined
  return new Mistyped(
    `Unknown option '${word}'.${didYouMean(meant)}`,
    meant === undefined
      ? undefined
      : other === '--listen'
        ? listening(args)
        : args.map((arg) => (arg.split('=')[0] === name ? meant + arg.slice(name.length) : arg)),
  )
}

/** The command with `--listen` in place of host and port; undefined where they are no address. */
function listening(args: readonly string[]): string[] | undefined {
  const rest: string[] = []
  let [place, host, port]: [number, string | undefined, string] = [-1, undefined, DEFAULT_PORT]
  for (let index = 0; index < args.length; index++) {
    const [name = '', ...given] = args[index]?.split('=') ?? []
    if (OTHER_OPTIONS.get(name) !== '--listen') {
      rest.push(args[index] ?? '')
      continue
    }
    if (place === -1) place = rest.length
    const value = given.length > 0 ? given.join('=') : (args[++index] ?? '')
    if (name === '--port') port = value
    else host = value
  }
  const isWhole = host === undefined || parseListen(host) !== undefined
  const address = isWhole ? (host ?? port) : `${host?.includes(':') ? `[${host}]` : host}:${port}`
  return host === '' || !parseListen(address) ? undefined : rest.toSpliced(place, 0, '--listen', address)
}
