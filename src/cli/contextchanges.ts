import path from 'node:path'
import type { Command } from 'commander'
import type { Config } from '../config.js'
import { PROTECTED } from '../core/configfiles.js'
import { AppError } from '../core/errors.js'
import { settings } from '../core/settings.js'
import { quoted } from '../core/text.js'
import { FIELDS, naming, one, rowOf, type Row } from './contextrows.js'
import { savedToken, saveToken } from './lib/connection/credentials.js'
import { assertConfirmed } from './lib/connection/protection.js'
import type { Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { print, type OutputFlags } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import { hasSetting, prepareSettings, prepareWithout } from './lib/settings/configfile.js'
import { prepareContext, prepareProtection, prepareWithoutContext } from './lib/settings/contextfile.js'
import { end, ownFile, readable } from './lib/connection/ownfile.js'
import { NothingToDo } from './lib/terminal/nothingtodo.js'
import { tell } from './lib/terminal/terminal.js'
import { readText } from './lib/terminal/textfile.js'

interface Flags extends OutputFlags {
  dryRun?: boolean
  confirm?: string
  input?: boolean
  /** Options of the program. */
  server?: string
  dataDir?: string
  databaseUrl?: string
  databaseUrlFile?: string
  tokenFile?: string
  use?: boolean
  protect?: boolean
  none?: boolean
  off?: boolean
}

/** A context name. It needs no quoting in a shell and no escaping in TOML. */
const NAME = /^[A-Za-z0-9][\w.@-]{0,63}$/

export function registerChanges(group: Command, cli: Cli): void {
  registerAdd(group, cli)
  registerUse(group, cli)
  registerProtect(group, cli)
  registerRemove(group, cli)
}

function registerAdd(group: Command, cli: Cli): void {
  const command = group.command('add <name>').description('Give a site a name')
  explain(withFields(command, FIELDS), {
    examples: [
      'context add prod --server https://feedback.example.org --protect',
      'context add prod --server https://feedback.example.org --token-file - < key',
      'context add local --data-dir ~/feedback --use',
    ],
    notes: [
      'The name and the address are kept in your configuration file, whose other lines stay as they are. The token of --token-file (- for stdin) is kept where "feedbackctl login" keeps tokens, in a file that only you can read, and never in the configuration.',
      'A name has letters, digits and . _ @ -, and begins with a letter or a digit.',
    ],
  })
    .option('--use', 'make it the current context')
    .option('--protect', 'ask for the name before a command changes the site')
    .option('--dry-run', 'check it, but change nothing')
    .action(async (name: string) => {
      const flags = command.optsWithGlobals<Flags>()
      const place = placeGiven(cli, flags)
      const config = await readable(cli)
      assertFree(config, name)
      const token = flags.tokenFile === undefined ? undefined : await tokenOf(cli, flags)
      if (token !== undefined && place.server !== undefined) savedToken(config, place.server) // throws before anything changes
      const file = ownFile(config)
      end(prepareContext(file, name, { ...place, ...(flags.protect && { [PROTECTED]: true }) }), flags)
      const row: Row = { name, current: flags.use === true, server: place.server ?? null, dataDir: place['data.dir'] ?? null, protected: flags.protect === true, signedIn: token !== undefined, file } // prettier-ignore
      if (flags.dryRun) {
        await print(cli.terminal, flags, one(row))
        return tell(cli.terminal, `Would add context ${quoted(name)} to ${file}.`)
      }
      const saved =
        token !== undefined && place.server !== undefined ? saveToken(config, place.server, token) : undefined
      if (flags.use) prepareSettings(file, { context: name }).commit()
      const now = await cli.reload({ lenient: true, newFile: true, flags: WITHOUT_PLACE })
      await print(cli.terminal, flags, one(rowOf(now, name)))
      tell(
        cli.terminal,
        `Added context ${quoted(name)} to ${file}.${saved === undefined ? '' : ` The token is in ${saved}.`}`,
      )
      if (flags.use) tellEffect(cli, now, name)
    })
}

/** The flags of `add` say what the context has, not which site this command is about. */
const WITHOUT_PLACE = { server: undefined, 'data-dir': undefined, 'token-file': undefined, context: undefined }

function placeGiven({ terminal }: Cli, flags: Flags): { server?: string; 'data.dir'?: string } {
  const { server, dataDir, databaseUrl, databaseUrlFile } = flags
  if (databaseUrl !== undefined || databaseUrlFile !== undefined)
    throw new AppError('USAGE', 'The address of a database can have a password, which a context does not keep. Give --data-dir, or write database.url into the table with "feedbackctl config edit".') // prettier-ignore
  if ((server === undefined) === (dataDir === undefined))
    throw new AppError('USAGE', `Give ${server === undefined ? '' : 'either '}--server URL or --data-dir FOLDER${server === undefined ? '' : ', not both'}: the site that gets the name.`) // prettier-ignore
  if (server === undefined) {
    const folder = path.resolve(terminal.cwd, dataDir ?? '')
    if (dataDir === '' || /[\p{Cc}\p{Cs}]/u.test(folder)) throw new AppError('USAGE', '--data-dir must be a folder, without control characters.') // prettier-ignore
    if (flags.tokenFile !== undefined) throw new AppError('USAGE', '--token-file is for --server. A data folder needs no token.') // prettier-ignore
    return { 'data.dir': folder }
  }
  const problem = /[\p{Cc}\p{Cs}\s]/u.test(server) ? 'must not contain spaces' : settings.server.check?.(server)
  if (problem !== undefined) throw new AppError('USAGE', `--server ${problem}. Nothing was changed.`)
  return { server }
}

function assertFree(config: Config, name: string): void {
  if (!NAME.test(name))
    throw new AppError('USAGE', `${quoted(name)} cannot be the name of a context. It has up to 64 letters, digits and . _ @ -, and begins with a letter or a digit.`) // prettier-ignore
  const taken = config.contexts.get(name)
  if (taken) throw new AppError('USAGE', `There is a context ${quoted(name)} in ${taken.file} already. Remove it first, or choose another name.`) // prettier-ignore
}

async function tokenOf({ terminal }: Cli, { tokenFile = '' }: Flags): Promise<string> {
  const token = (await readText(terminal, tokenFile, '--token-file')).trim()
  if (!/^[\w.~+/=-]+$/.test(token)) throw new AppError('USAGE', 'What --token-file names is no token. Nothing was changed.') // prettier-ignore
  return token
}

function registerUse(group: Command, cli: Cli): void {
  const command = naming(group.command('use [name]').description('Choose the site that commands use'))
  explain(withFields(command, FIELDS), {
    examples: ['context use prod', 'context use --none'],
    notes: ['--context, --server, --data-dir and their variables win over it.'],
  })
    .option('--none', 'use no context, but the other settings')
    .option('--dry-run', 'check it, but change nothing')
    .action(async (name: string | undefined) => {
      const flags = command.optsWithGlobals<Flags>()
      if ((name === undefined) === (flags.none !== true)) throw new AppError('USAGE', 'Give the name of a context, or --none.') // prettier-ignore
      const config = await readable(cli)
      if (name === undefined) return useNone(cli, config, flags)
      const row = { ...rowOf(config, name), current: true }
      const file = ownFile(config)
      end(prepareSettings(file, { context: name }), flags)
      await print(cli.terminal, flags, one(row))
      if (flags.dryRun) return tell(cli.terminal, `Would use context ${quoted(name)}.`)
      tell(cli.terminal, `Commands now use ${quoted(name)}: ${row.server ?? row.dataDir ?? 'its settings'}.`)
      tellEffect(cli, await cli.reload({ lenient: true, newFile: true }), name)
    })
}

async function useNone(cli: Cli, config: Config, flags: Flags): Promise<void> {
  const file = ownFile(config)
  const prepared = prepareWithout(file, 'context')
  if (!prepared) throw new NothingToDo(`${file} chooses no context.`)
  end(prepared, flags)
  await print(cli.terminal, flags, { body: { current: null }, rows: [], columns: [], id: String, single: true })
  if (flags.dryRun) return tell(cli.terminal, 'Would use no context.')
  const left = (await cli.reload({ lenient: true, newFile: true })).get('context')
  tell(cli.terminal, left === undefined ? 'Commands now use no context.' : `Removed the choice from ${file}, but ${quoted(left)} is still chosen elsewhere.`) // prettier-ignore
}

/** Warns if a flag, a variable or another file overrides the chosen context. */
function tellEffect({ terminal }: Cli, now: Config, name: string): void {
  const used = now.get('context')
  if (used === name) return
  const by = used === undefined ? now.origin(now.get('server') === undefined ? 'data.dir' : 'server') : now.origin('context') // prettier-ignore
  tell(terminal, `It has no effect yet: ${by} says which site is used.`)
}

function registerProtect(group: Command, cli: Cli): void {
  const command = naming(group.command('protect <name>').description('Have commands ask for the name of a site before they change it')) // prettier-ignore
  explain(withFields(command, FIELDS), {
    examples: [
      'context protect prod',
      'posts delete 12 --context prod --yes --confirm prod',
      'context protect prod --off',
    ],
    notes: [
      '--yes is then not enough: a script gives --confirm NAME too. It also holds where --server or --data-dir names the same site. Whoever can write the configuration file can end it: it guards against mistakes.',
    ],
  })
    .option('--off', 'end the protection')
    .option('--dry-run', 'check it, but change nothing')
    .action(async (name: string) => {
      const flags = command.optsWithGlobals<Flags>()
      const config = await readable(cli)
      const row = rowOf(config, name)
      const isOn = flags.off !== true
      if (row.protected === isOn) throw new NothingToDo(`${quoted(name)} is ${isOn ? 'protected already' : 'not protected'}.`) // prettier-ignore
      if (!isOn && !flags.dryRun) await assertConfirmed(cli.terminal, flags, { name, isProtected: true })
      end(prepareProtection(row.file, name, isOn), flags)
      await print(cli.terminal, flags, one({ ...row, protected: isOn }))
      const would = isOn ? 'protect' : 'end the protection of'
      const did = isOn ? 'Protected' : 'Ended the protection of'
      tell(cli.terminal, `${flags.dryRun ? `Would ${would}` : did} context ${quoted(name)} in ${row.file}.`)
    })
}

function registerRemove(group: Command, cli: Cli): void {
  const command = naming(group.command('remove <name>').description('Remove a context; the site itself stays'))
  explain(withFields(command, FIELDS), { examples: ['context remove old'] })
    .alias('rm')
    .option('--dry-run', 'check it, but change nothing')
    .action(async (name: string) => {
      const flags = command.optsWithGlobals<Flags>()
      const config = await readable(cli)
      const row = rowOf(config, name)
      if (!flags.dryRun) await assertConfirmed(cli.terminal, flags, { name, isProtected: row.protected })
      end(prepareWithoutContext(row.file, name), flags)
      const now = await cli.reload({ lenient: true, newFile: true })
      const own = ownFile(config)
      if (!flags.dryRun && now.get('context') === name && hasSetting(own, 'context'))
        prepareWithout(own, 'context')?.commit() // of another file than the table
      await print(cli.terminal, flags, one(row))
      if (flags.dryRun) return tell(cli.terminal, `Would remove context ${quoted(name)} from ${row.file}.`)
      tell(cli.terminal, `Removed context ${quoted(name)} from ${row.file}.${row.current ? ' There is no current context now.' : ''}`) // prettier-ignore
      if (row.server !== null && row.signedIn) tell(cli.terminal, `You are still signed in there. To sign out: feedbackctl logout --server ${row.server}`) // prettier-ignore
    })
}
