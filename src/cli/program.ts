import path from 'node:path'
import { Command, Option } from 'commander'
import { AppError } from '../core/errors.js'
import { didYouMean, likely } from '../core/guesses.js'
import { keys, settings } from '../core/settings.js'
import { escaped } from '../core/text.js'
import { session, type Cli } from './lib/connection/session.js'
import { explain, helpOf, rowOf, section } from './lib/flags/helptext.js'
import { settingOptions } from './lib/flags/options.js'
import { assertNoSwitchValues } from './lib/flags/switchvalues.js'
import { FORMATS, type OutputFlags } from './lib/output/output.js'
import { COLOR_WORDS, tell, widthOf, write, type ColorFlag, type Terminal } from './lib/terminal/terminal.js'
import { commandLine } from './lib/texts/commandline.js'
import { Mistyped } from './lib/texts/mistyped.js'
import { wrapped, wrappedText } from './lib/texts/wrap.js'
import { assertKnown, unknownVerb, withWords } from './mistakes.js'
import { branches, type Branch } from './tree.js'
import { documents, version } from './version.js'

/** The whole command line; a branch is filled in when it is needed. */
export function buildProgram(terminal: Terminal): { program: Command; cli: Cli } {
  const program = new Command('feedbackctl').description(
    'A feedback board you run yourself, with a command line to manage it.',
  )
  globalOptions(program)
  const cli = session(terminal, program)
  const styled = (command: Command) =>
    command
      .exitOverride()
      .showSuggestionAfterError(false)
      .configureOutput({
        writeOut: (text) => void terminal.stdout.write(text),
        writeErr: () => {},
        getOutHelpWidth: () => helpWidth(terminal),
      })
      .configureHelp({ formatHelp: (shown) => helpOf(shown, { width: helpWidth(terminal), documents }) })
      .helpOption('-h, --help', 'show this help')
      .helpCommand(false)
  styled(program)
  for (const { name, summary, group } of branches) {
    program.command(name).description(summary).helpGroup(group).helpCommand(false)
  }
  program.hook('preSubcommand', async (_program, branch) => {
    await fill(branch, cli)
    assertNoSwitchValues(program, terminal.args)
  })
  program
    .command('help [words...]')
    .description('Show help for a command or a topic')
    .helpGroup('Help:')
    .option('--all', 'show the help of every command, or of all below the one named')
    .action(async (words: string[], flags: { all?: boolean }) => help(program, cli, words, flags))
  program
    .command('__man <folder>', { hidden: true }) // for the build
    .action(async (folder: string) => {
      await fillAll(program, cli)
      const { writeManPages } = await import('./manpages.js')
      writeManPages(program, path.resolve(terminal.cwd, folder), terminal)
    })
  program
    .command('__complete [words...]', { hidden: true }) // for the scripts of `feedbackctl completion`
    .action(async (words: string[]) => {
      const { completions } = await import('./complete.js')
      await write(terminal, await completions(program, words, { cli, fill: (branch) => fill(branch, cli) }))
    })
  explain(program, { examples: [], notes: ['Topics: exit-codes, environment, formatting, mail-url, options.'] })
  program.addHelpText('beforeAll', ({ command }) => {
    if (command === program) assertKnown(program, terminal.args)
    return ''
  })
  program.allowExcessArguments().action(async () => {
    assertKnown(program, terminal.args)
    const { statusLine } = await import('./lib/connection/status.js')
    const width = helpWidth(terminal)
    const aliases = await aliasSection(terminal, width)
    const paragraph = (text: string) => (terminal.stdout.isTTY ? wrapped(text, width) : text)
    await write(
      terminal,
      `${[paragraph(program.description()), '', ...overview(width), ...aliases, paragraph(await statusLine(cli)), 'More: feedbackctl --help, or feedbackctl COMMAND --help'].join('\n')}\n`,
    )
  })
  return { program, cli }
}

/** Lines of more than 100 columns are hard to read. */
const helpWidth = ({ stdout }: Terminal): number => Math.max(40, Math.min(stdout.isTTY ? widthOf(stdout) : 80, 100))

/** Every branch under the heading of its group. */
function overview(width: number): string[] {
  const row = ({ name, summary }: Branch) => [name, summary] as const
  return [...new Set(branches.map(({ group }) => group))].flatMap((group) => [
    section(group, branches.filter((each) => each.group === group).map(row), width),
    '',
  ])
}

/** The aliases under a heading, where there are any. */
async function aliasSection(terminal: Terminal, width: number): Promise<string[]> {
  const { aliasesOf } = await import('./aliases.js')
  const aliases = await aliasesOf(terminal)
  return aliases.size === 0 ? [] : [section('Aliases', [...aliases], width), '']
}

async function fill(branch: Command, cli: Cli): Promise<void> {
  const known = branches.find(({ name }) => name === branch.name())
  if (!known || filled.has(branch)) return
  filled.add(branch)
  const { register } = await known.load()
  register(branch, cli)
}

const filled = new WeakSet<Command>()

/** Shown in help only: boards have a --color too, which the program would take. `withColorFlag` reads it. */
class ColorOption extends Option {
  is(): boolean {
    return false
  }
}

/** Takes --color and its word out of the arguments. A board's --color, which is a number, stays. */
export function withColorFlag(program: Command, args: readonly string[]): string[] {
  const end = args.indexOf('--')
  const options = end === -1 ? args : args.slice(0, end)
  const isWord = (text = ''): text is (typeof COLOR_WORDS)[number] => (COLOR_WORDS as readonly string[]).includes(text)
  const wordAt = (index: number): string | undefined =>
    options[index]?.startsWith('--color=')
      ? options[index].slice('--color='.length)
      : options[index] === '--color'
        ? options[index + 1]
        : undefined
  const taken = new Set<number>()
  for (const [index, arg] of options.entries()) {
    const word = wordAt(index)
    if (!isWord(word)) continue
    program.setOptionValue('color' satisfies keyof ColorFlag, word)
    for (const place of arg === '--color' ? [index, index + 1] : [index]) taken.add(place)
  }
  return args.filter((_, index) => !taken.has(index))
}

/** Declared once, here: commander gives an option that is declared on both ends to the root. */
function globalOptions(program: Command): void {
  program
    .addOption(new Option('-o, --output <format>', 'output format').choices(FORMATS))
    .option('--json', 'print the HTTP response body (-o json)')
    .option('-q, --quiet', 'print only ids or slugs (-o name)')
    .option('--fields [names]', 'print these fields, as JSON unless -o is given; without names: list the fields')
    .option('--header', 'with -o tsv: print a header')
    .option('--no-header', 'with -o csv: print no header')
    .option('--bom', 'with -o csv: begin with a byte order mark, which Excel needs for UTF-8')
    .option('--raw', 'with -o json, jsonl, yaml, csv, tsv: print user text unchanged')
    .addOption(new ColorOption(`--color <when>`, 'use colour').choices(COLOR_WORDS).default('auto'))
    .option('--no-color', 'same as --color never')
    .option('--no-input', 'never prompt')
    .option('--confirm <context>', 'the protected site that the command may change')
    .option('--as-curl', 'print the command as a request with curl, and do not send it')
    .option('--verbose', 'print each request, or each SQL statement, and how long it took, to stderr')
    .option('--debug', 'print a stack trace for errors')
    .version(version, '-V, --version', 'show the version')
  const options = [
    new Option('--config <file>', 'read only this configuration file'),
    ...keys.filter((key) => settings[key].command === undefined).flatMap(settingOptions),
  ]
  for (const option of options) program.addOption(option.hideHelp().helpGroup('Settings:'))
}

async function help(
  program: Command,
  cli: Cli,
  words: readonly string[],
  { all = false }: { all?: boolean },
): Promise<void> {
  const [first] = words
  const { json, output } = program.opts<OutputFlags>()
  const isTree = json === true || output === 'json'
  const width = helpWidth(cli.terminal)
  const show = async (command: Command) => {
    if (!all && !isTree) return command.outputHelp()
    if (command === program) await fillAll(program, cli)
    const { described, everyHelp } = await import('./helptree.js')
    await write(cli.terminal, isTree ? `${escaped(JSON.stringify(described(command)))}\n` : everyHelp(command))
  }
  if (first === undefined) {
    await show(program)
    const aliases = all || isTree ? [] : await aliasSection(cli.terminal, width)
    return write(
      cli.terminal,
      aliases
        .slice(0, 1)
        .map((text) => `\n${text}\n`)
        .join(''),
    )
  }
  if (isTree && isTopic(first, (await import('./help.js')).topics)) throw new AppError('USAGE', `The topic "${first}" has no JSON. Leave out --json.`) // prettier-ignore
  if (first === 'options') return write(cli.terminal, allOptions(program, width))
  const { topics } = await import('./help.js')
  const topic = topics[first]
  if (topic && words.length === 1) return write(cli.terminal, wrappedText(topic(), width))
  let command = program
  const named = await namedBy(cli.terminal, words, topics)
  for (const word of named) {
    const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word))
    if (!next && named !== words) break // an argument of the alias
    if (!next) {
      if (command !== program) throw unknownVerb(command, word, cli.terminal.args)
      const names = [...Object.keys(topics), 'options']
      const meant = likely(word, [...command.commands.map((each) => each.name()), ...names])
      throw new Mistyped(
        `Unknown command or topic "${word}".${didYouMean(meant)} Topics: ${names.join(', ')}.`,
        meant === undefined ? undefined : withWords(cli.terminal.args, [word], [meant]),
      )
    }
    await fill(next, cli)
    command = next
  }
  return show(command)
}

/** The words, or the command that an alias stands for, which is said. */
async function namedBy(terminal: Terminal, words: readonly string[], topics: object): Promise<readonly string[]> {
  if (isTopic(words[0] ?? '', { ...topics })) return words
  const { withAlias } = await import('./aliases.js')
  const { env, cwd } = terminal
  const { args } = await withAlias({ env, cwd, args: words }, [...branches.map(({ name }) => name), 'help'])
  if (args === words) return words
  tell(terminal, `${words[0]} is an alias: ${commandLine(args)}`)
  return args
}

const isTopic = (word: string, topics: Readonly<Record<string, unknown>>): boolean =>
  word === 'options' || Object.hasOwn(topics, word)

async function fillAll(program: Command, cli: Cli): Promise<void> {
  for (const branch of program.commands) await fill(branch, cli)
}

/** The settings too, which would bury the commands in the help of the program. */
function allOptions(program: Command, width: number): string {
  const isSetting = (option: Option) => option.hidden && option.helpGroupHeading !== undefined
  const rows = (options: readonly Option[]) => options.map(rowOf)
  return (
    [
      'Options of all commands',
      section('Output', rows(program.options.filter((option) => !isSetting(option))), width),
      section('Settings', rows(program.options.filter(isSetting)), width),
      wrapped('Each setting can also come from a variable or a file: feedbackctl help environment', width),
      '',
    ]
      .join('\n\n')
      .trimEnd() + '\n'
  )
}
