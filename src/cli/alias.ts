import type { Command } from 'commander'
import { AppError } from '../core/errors.js'
import { guess } from '../core/guesses.js'
import { quoted } from '../core/text.js'
import { ALIAS_NAME, targetOf } from './aliases.js'
import type { Cli } from './lib/connection/session.js'
import { setFixes } from './lib/errors/fixes.js'
import { setCompleted } from './lib/flags/completed.js'
import { explain } from './lib/flags/helptext.js'
import { print, type OutputFlags } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import type { Column } from './lib/output/table.js'
import { prepareChange } from './lib/settings/configfile.js'
import { end, ownFile, readable } from './lib/connection/ownfile.js'
import { edited } from './lib/settings/tomledit.js'
import { NothingToDo } from './lib/terminal/nothingtodo.js'
import { tell } from './lib/terminal/terminal.js'

interface Row {
  name: string
  command: string
}

interface Flags extends OutputFlags {
  dryRun?: boolean
}

const FIELDS = ['name', 'command']

const columns: Column<Row>[] = [
  { head: 'NAME', text: ({ name }) => name, drop: 0 },
  { head: 'COMMAND', text: ({ command }) => command, drop: 0 },
]

const one = (row: Row) => ({ body: row, rows: [row], columns, id: ({ name }: Row) => name, single: true })

/** No alias is longer. */
const MOST_CHARACTERS = 1000

export function register(group: Command, cli: Cli): void {
  registerSet(group, cli)
  registerList(group, cli)
  registerRemove(group, cli)
}

function registerSet(group: Command, cli: Cli): void {
  const command = group.command('set <name> <command>').description('Give a command line a name')
  explain(withFields(command, FIELDS), {
    examples: [
      "alias set planned 'posts list --roadmap planned'",
      "alias set mine 'posts list --as ada@example.org --sort newest'",
    ],
    notes: [
      'The name comes first on the command line, and what follows it is added: "feedbackctl planned --json". A name has letters, digits, _ and -, and is no command; what it stands for begins with one. It is kept in the table [aliases] of your configuration file, whose other lines stay as they are.',
    ],
  })
    .option('--dry-run', 'check it, but change nothing')
    .action(async (name: string, given: string) => {
      const flags = command.optsWithGlobals<Flags>()
      const line = given.trim().replace(/^feedbackctl\s+/, '')
      assertAlias(
        name,
        line,
        (group.parent?.commands ?? []).map((each) => each.name()),
      )
      const config = await readable(cli)
      const before = config.aliases.get(name)
      if (before === line) throw new NothingToDo(`${quoted(name)} stands for that already.`)
      const file = ownFile(config)
      write(file, name, line, flags)
      await print(cli.terminal, flags, one({ name, command: line }))
      const instead = before === undefined ? '' : ` It stood for: ${before}`
      tell(cli.terminal, `${flags.dryRun ? 'Would set' : 'Set'} alias ${quoted(name)} in ${file}.${instead}`)
    })
}

function assertAlias(name: string, line: string, known: readonly string[]): void {
  if (known.includes(name)) throw new AppError('USAGE', `${quoted(name)} is a command, which an alias cannot hide. Choose another name.`) // prettier-ignore
  if (!ALIAS_NAME.test(name)) throw new AppError('USAGE', `${quoted(name)} cannot be the name of an alias. It has up to 32 letters, digits, _ and -, and begins with a letter or a digit.`) // prettier-ignore
  if (line.length > MOST_CHARACTERS || /[\p{Cc}\p{Cs}]/u.test(line)) throw new AppError('USAGE', `An alias stands for one line of at most ${MOST_CHARACTERS} characters.`) // prettier-ignore
  targetOf(name, line, known)
}

function registerList(group: Command, cli: Cli): void {
  explain(withFields(group.command('list'), FIELDS), { examples: ['alias list'] })
    .alias('ls')
    .description('List the aliases')
    .action(async (_flags: unknown, command: Command) => {
      const { aliases } = await readable(cli)
      const rows = [...aliases].map(([name, line]) => ({ name, command: line }))
      const body = { aliases: rows }
      await print(cli.terminal, command.optsWithGlobals<OutputFlags>(), { body, rows, columns, id: ({ name }) => name, single: false }) // prettier-ignore
      if (rows.length === 0)
        tell(cli.terminal, "There is no alias. To set one: feedbackctl alias set NAME 'posts list'")
    })
}

function registerRemove(group: Command, cli: Cli): void {
  const command = group.command('remove <name>').description('Remove an alias')
  setCompleted(command.registeredArguments[0], { alias: true })
  setFixes(command, { NOT_FOUND: ['alias list'] })
  explain(withFields(command, FIELDS), { examples: ['alias remove planned'] })
    .alias('rm')
    .option('--dry-run', 'check it, but change nothing')
    .action(async (name: string) => {
      const flags = command.optsWithGlobals<Flags>()
      const config = await readable(cli)
      const line = config.aliases.get(name)
      if (line === undefined) throw new AppError('NOT_FOUND', `There is no alias ${quoted(name)}.${guess(name, [...config.aliases.keys()])}`) // prettier-ignore
      const file = ownFile(config)
      write(file, name, undefined, flags)
      await print(cli.terminal, flags, one({ name, command: line }))
      tell(cli.terminal, `${flags.dryRun ? 'Would remove' : 'Removed'} alias ${quoted(name)} from ${file}.`)
    })
}

function write(file: string, name: string, line: string | undefined, flags: Flags): void {
  const key = `aliases.${name}`
  const prepared = prepareChange(file, (text) => {
    const changed = edited(text, key, line === undefined ? undefined : JSON.stringify(line))
    if (changed === undefined || (line === undefined && changed === text))
      throw new AppError('CONFIG_INVALID', `Cannot change ${key} in ${file} automatically. Change it by hand, with "feedbackctl config edit".`) // prettier-ignore
    return changed
  })
  end(prepared, flags)
}
