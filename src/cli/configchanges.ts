import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import { loadConfig, type Config } from '../config.js'
import { AppError } from '../core/errors.js'
import { didYouMean, likely } from '../core/guesses.js'
import { isSecret, keys, needsRestart, settings, type Key } from '../core/settings.js'
import { quoted } from '../core/text.js'
import { settingFlags, type Cli } from './lib/connection/session.js'
import { setCompleted } from './lib/flags/completed.js'
import { explain } from './lib/flags/helptext.js'
import { isMachineReadable, print, type OutputFlags } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import type { Column } from './lib/output/table.js'
import { serviceWith } from './lib/server/units.js'
import { editText, keepText } from './lib/terminal/editor.js'
import { NothingToDo } from './lib/terminal/nothingtodo.js'
import { tell, type Terminal } from './lib/terminal/terminal.js'
import { readText } from './lib/terminal/textfile.js'
import { commandLine, optionValue } from './lib/texts/commandline.js'
import { Mistyped } from './lib/texts/mistyped.js'
import {
  prepareSettings,
  prepareText,
  prepareWithout,
  textOf,
  type PreparedSettings,
} from './lib/settings/configfile.js'

interface Change {
  /** Absent where any may have changed. */
  key?: string
  file: string
  /** Whether a server that runs uses the change only after a restart. */
  restart: boolean
}

const FIELDS = ['key', 'file', 'restart']

const columns: Column<Change>[] = [
  { head: 'KEY', text: ({ key = '' }) => key, drop: 0 },
  { head: 'FILE', text: ({ file }) => file, drop: 0, whole: true },
  { head: 'RESTART', text: ({ restart }) => (restart ? 'yes' : 'no'), drop: 0 },
]

/** No value of a setting is longer. */
const MOST_CHARACTERS = 10_000

/** Settings that are in the unit of the socket of a service. */
const OF_SOCKET: readonly string[] = ['listen', 'socket.mode']

/** How a server that runs gets to use the change. systemd copies the file of a service as it starts, so SIGHUP is not enough. */
function restartFor({ terminal }: Cli, file: string, key?: Key): string {
  const service = serviceWith(terminal, file)
  if (service && key === undefined)
    return `Run "${service.restart}" to use it, or "${service.install}" if ${OF_SOCKET.join(' or ')} changed.`
  if (service) return `Run "${OF_SOCKET.includes(key ?? '') ? service.install : service.restart}" to use it.`
  return key !== undefined && settings[key].reloads
    ? 'Restart "feedbackctl serve" to use it, or send it SIGHUP.'
    : 'Restart "feedbackctl serve" to use it.'
}

export function registerChanges(group: Command, cli: Cli): void {
  registerSet(group, cli)
  registerUnset(group, cli)
  registerEdit(group, cli)
  registerPath(group, cli)
}

function registerSet(group: Command, cli: Cli): void {
  explain(withFields(named(group.command('set <key> <value>')), FIELDS), {
    examples: ['config set site.url https://feedback.example.org', 'config set mail.url - < mail_url'],
    notes: [
      'With - the value is read from stdin, so that a secret is not in the process list. The value is checked before it is written. Comments and all other lines of the file stay as they are.',
    ],
  })
    .description('Set a setting in the configuration file')
    .option('--dry-run', 'check the value, but change nothing')
    .action(async (name: string, given: string, _flags: unknown, command: Command) => {
      const key = settingNamed(name, cli.terminal)
      const config = await changeable(cli)
      if (given !== '-' && isSecret(key))
        tell(cli.terminal, `Warning: other users of this machine can see the value of ${key} in "ps". Give - and write it to stdin.`) // prettier-ignore
      const value = given === '-' ? await readText(cli.terminal, '-', key) : given
      assertAcceptable(config, key, value)
      const file = fileFor(config, key, value)
      end(prepareSettings(file, { [key]: value }), command)
      await done(cli, command, {
        key,
        file,
        said: isDry(command) ? `Would set ${key} in ${file}.` : `Set ${key} in ${file}.`,
        isSet: true,
      })
    })
}

function registerUnset(group: Command, cli: Cli): void {
  explain(withFields(named(group.command('unset <key>')), FIELDS), { examples: ['config unset backup.every'] })
    .description('Remove a setting from the configuration file')
    .option('--dry-run', 'say what would be removed, but change nothing')
    .action(async (name: string, _flags: unknown, command: Command) => {
      const key = settingNamed(name, cli.terminal)
      const config = await changeable(cli)
      const file = fileFor(config, key)
      const prepared = prepareWithout(file, key)
      if (!prepared) throw new NothingToDo(`${file} does not set ${key}. Its value comes from: ${config.origin(key)}.`)
      end(prepared, command)
      await done(cli, command, {
        key,
        file,
        said: isDry(command) ? `Would remove ${key} from ${file}.` : `Removed ${key} from ${file}.`,
        isSet: false,
      })
    })
}

function registerEdit(group: Command, cli: Cli): void {
  explain(withFields(group.command('edit'), FIELDS.slice(1)), {
    examples: ['config edit'],
    notes: ['The file is replaced only if what you saved is valid. Otherwise the text is kept in another file.'],
  })
    .description('Open the configuration file in an editor, and check it before it is saved')
    .action(async (_flags: unknown, command: Command) => {
      const { file } = await changeable(cli)
      const instead = { field: 'text', rule: 'feedbackctl config set KEY VALUE' }
      const before = textOf(file)
      const text = `${await editText(cli.terminal, before.replace(/\n$/, ''), instead, 'config.toml')}\n`
      try {
        await replaceByText(file, text, before)
      } catch (error) {
        const next = (saved: string) =>
          `Correct it, check it with "feedbackctl config validate --config ${saved}", and copy it to ${file}`
        keepText(cli.terminal, text.replace(/\n$/, ''), { ending: 'toml', next })
        throw error
      }
      const row = { file, restart: true }
      await print(cli.terminal, command.optsWithGlobals<OutputFlags>(), {
        ...printable(row),
        columns: columns.slice(1),
      })
      tell(cli.terminal, `Changed ${file}. ${restartFor(cli, file)}`)
    })
}

async function replaceByText(file: string, text: string, before: string): Promise<void> {
  const prepared = prepareText(file, text, before)
  try {
    await assertValidFile(prepared.temporary, file)
    prepared.commit()
  } finally {
    prepared.discard()
  }
}

function registerPath(group: Command, cli: Cli): void {
  explain(withFields(group.command('path'), ['file', 'exists']), { examples: ['config path'] })
    .description('Print the configuration file that set, unset and edit change')
    .action(async (_flags: unknown, command: Command) => {
      const flags = command.optsWithGlobals<OutputFlags>()
      const { file } = await cli.config({ lenient: true, newFile: true })
      const row = { file, exists: existsSync(file) }
      const shown: Column<typeof row>[] = [
        { head: 'FILE', text: (each) => each.file, drop: 0, whole: true },
        { head: 'EXISTS', text: (each) => (each.exists ? 'yes' : 'no'), drop: 0 },
      ]
      const plain = isMachineReadable(flags) ? flags : { ...flags, output: flags.output ?? 'name' }
      await print(cli.terminal, plain, {
        body: row,
        rows: [row],
        columns: shown,
        id: (each) => each.file,
        single: true,
      })
    })
}

/** A command whose first argument is the name of a setting. */
function named(command: Command): Command {
  setCompleted(command.registeredArguments[0], { words: keys })
  return command
}

export function settingNamed(name: string, { args }: Terminal): Key {
  const key = keys.find((known) => known === name)
  if (key !== undefined) return key
  const meant = likely(name, keys) ?? likely(name.split('.').at(-1) ?? name, keys) // of another table
  const corrected = meant === undefined ? ['config', 'list'] : args.map((arg) => (arg === name ? meant : arg))
  throw new Mistyped(`There is no setting ${quoted(name)}.${didYouMean(meant)}`, corrected)
}

/** The configuration as far as it can be read: a change may be what makes it valid. */
async function changeable(cli: Cli): Promise<Config> {
  const config = await cli.config({ lenient: true, newFile: true })
  if (config.origin('context') !== '--context') return config
  throw new Mistyped(
    'The settings of a context are changed in its table [contexts.NAME]. This command changes those for all sites.',
    ['config', 'edit'],
  )
}

function assertAcceptable(config: Config, key: Key, value: string): void {
  const refuse = (problem: string) => {
    const shown = isSecret(key) || value.length > 200 ? '' : `; ${JSON.stringify(value)} is not`
    return new AppError('CONFIG_INVALID', `${key} ${problem}${shown}. Nothing was changed.`)
  }
  if (value === '') throw new AppError('USAGE', `The value is empty. To remove ${key}, run "feedbackctl config unset ${key}".`) // prettier-ignore
  if (value.length > MOST_CHARACTERS) throw refuse(`must have at most ${MOST_CHARACTERS} characters`)
  if (/[\p{Cc}\p{Cs}]/u.test(value)) throw refuse('must be one line of text, without control characters')
  const problem = settings[key].check?.(value)
  if (problem !== undefined) throw refuse(problem)
  if (key === 'context' && !config.contexts.has(value)) throw refuse('must be the name of a context')
}

/** The file that has the setting now, or else the one for new settings. The folder of a command may be somebody else's. */
function fileFor(config: Config, key: Key, value?: string): string {
  const origin = config.origin(key)
  const file = path.isAbsolute(origin) && existsSync(origin) ? origin : config.file
  const isRefused = file === config.fileHere && !config.isChosen && value !== undefined && settings[key].notFromHere?.(value) // prettier-ignore
  return isRefused ? path.join(config.directory, 'config.toml') : file
}

/** Throws CONFIG_INVALID with the first problem of a file, under the name that it will have. */
async function assertValidFile(temporary: string, file: string): Promise<void> {
  const { problems } = await loadConfig({
    flags: { config: temporary },
    env: {},
    cwd: path.dirname(file),
    lenient: true,
  })
  // A context may be in another file
  const problem = problems.find(({ code }) => code === 'CONFIG_INVALID')
  if (problem === undefined) return
  const renamed = (text: string) => text.replaceAll(temporary, file)
  throw new AppError('CONFIG_INVALID', `${renamed(problem.message)} Nothing was changed.`)
}

const printable = (row: Change) => ({ body: row, rows: [row], columns, id: ({ file }: Change) => file, single: true })

const isDry = (command: Command): boolean => command.opts<{ dryRun?: boolean }>().dryRun ?? false

/** A dry run has checked everything until here. */
function end({ commit, discard }: PreparedSettings, command: Command): void {
  if (isDry(command)) discard()
  else commit()
}

interface Done {
  key: Key
  file: string
  said: string
  isSet: boolean
}

/** Prints what was changed, and whether something else decides. */
async function done(cli: Cli, command: Command, { key, file, said, isSet }: Done): Promise<void> {
  const restart = needsRestart(key)
  await print(cli.terminal, command.optsWithGlobals<OutputFlags>(), printable({ key, file, restart }))
  if (isDry(command)) return tell(cli.terminal, said)
  const { env, cwd } = cli.terminal
  const now = await loadConfig({ flags: settingFlags(rootOf(command)), env, cwd, lenient: true })
  const origin = now.origin(key)
  const chosenFile = optionValue(cli.terminal.args, '--config')
  const chosen = chosenFile === undefined ? [] : ['--config', chosenFile]
  const isNone = origin === 'default' || origin === 'not set'
  const decides =
    origin === file || (isNone && !isSet)
      ? ''
      : isNone
        ? ` Commands of this user do not read the file: "${commandLine(['doctor', 'config', ...chosen])}" says why.`
        : isSet
          ? ` It has no effect: ${origin} sets it too.`
          : ` ${origin} still sets it.`
  const next = restart && decides === '' ? ` ${restartFor(cli, file, key)}` : ''
  tell(cli.terminal, `${said}${decides}${next}`)
}

const rootOf = (command: Command): Command => (command.parent ? rootOf(command.parent) : command)
