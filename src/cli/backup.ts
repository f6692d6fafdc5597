import path from 'node:path'
import type { Command } from 'commander'
import type { Made } from '../backup/create.js'
import type { Rehearsed } from '../backup/rehearse.js'
import type { Verified } from '../backup/verify.js'
import { AppError } from '../core/errors.js'
import { settings } from '../core/settings.js'
import { counted, sizeText } from '../core/text.js'
import { fileColumn, LISTED, listColumns, registerList } from './backuplist.js'
import { assertLocal, type Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { print, type OutputFlags } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import type { Column } from './lib/output/table.js'
import { confirm } from './lib/prompts/prompts.js'
import { idle, interruptible } from './lib/terminal/interruptible.js'
import { progress } from './lib/terminal/progress.js'
import { steps } from './lib/terminal/steps.js'
import { tell } from './lib/terminal/terminal.js'
import { version } from './version.js'

const rowsIn = (tables: Record<string, { rows: number }>): number =>
  Object.values(tables).reduce((sum, { rows }) => sum + rows, 0)

const NOTE =
  'The backup has the whole site, including its secret and its configuration file: keep it where nobody else can read it. The setting backup.passphrase encrypts it.'

const MADE: (keyof Made)[] = ['file', 'schema', 'createdAt', 'encrypted', 'redacted', 'bytes', 'sha256', 'tables']
const VERIFIED: (keyof Verified)[] = [...LISTED, 'tables']
const REHEARSED: (keyof Rehearsed)[] = [...VERIFIED, 'sequences', 'migratedTo']

const madeColumns: Column<Made>[] = [
  { head: 'FILE', text: ({ file }) => file ?? '', whole: true, drop: 0 },
  { head: 'SIZE', text: ({ bytes }) => String(bytes ?? ''), shown: ({ bytes }) => (bytes === null ? '' : sizeText(bytes)), ifAny: true, drop: 0 }, // prettier-ignore
  { head: 'ROWS', text: ({ bytes, tables }) => (bytes === null ? '' : String(rowsIn(tables))), ifAny: true, drop: 0 },
  { head: 'SCHEMA', text: ({ schema }) => schema, drop: 0 },
  { head: 'ENCRYPTED', text: ({ encrypted }) => (encrypted ? 'yes' : 'no'), drop: 0 },
]

const verifiedColumns: Column<Verified>[] = [
  fileColumn,
  ...listColumns.slice(1, 3),
  { head: 'ROWS', text: ({ tables }) => String(rowsIn(tables)), drop: 0 },
  { head: 'SCHEMA', text: ({ schema }) => schema, drop: 0 },
]

export function register(group: Command, cli: Cli): void {
  registerCreate(group, cli)
  registerList(group, cli)
  explain(withFields(group.command('verify'), VERIFIED), {
    local: true,
    examples: ['backup verify feedback-20261122T230102Z.backup', 'backup verify /mnt/backups/site.backup'],
    notes: [
      'Reads all of the backup: its hash, its rows and their counts, and loads the rows into a temporary database in the data folder, as "restore" would. Exits with 9 if "restore" would refuse it.',
    ],
  })
    .description('Check that a backup is whole and can be restored')
    .argument('<file>', 'file, or the name of a backup in backup.dir')
    .action(async (file: string, _flags: unknown, command: Command) => {
      const flags = command.optsWithGlobals<OutputFlags>()
      const config = await cli.config()
      assertLocal(config, 'backup verify')
      const { verifyRestorable } = await import('../backup/rehearse.js')
      const { report, end } = steps(cli.terminal, 'Interrupted. The temporary copy was removed.')
      const verified = await verifyRestorable(config, file, report).finally(end)
      await print(cli.terminal, flags, {
        body: verified,
        rows: [verified],
        columns: verifiedColumns,
        id: (row) => row.file,
        single: true,
      })
      tell(cli.terminal, 'The backup is whole.')
    })
  registerRehearse(group, cli)
  registerPrune(group, cli)
}

const rehearsedColumns: Column<Rehearsed>[] = [
  fileColumn,
  ...listColumns.slice(1, 3),
  { head: 'TABLES', text: ({ tables }) => String(Object.keys(tables).length), drop: 0 },
  { head: 'ROWS', text: ({ tables }) => String(rowsIn(tables)), drop: 0 },
  { head: 'SCHEMA', text: ({ schema }) => schema, drop: 0 },
  { head: 'UPDATED TO', field: 'migratedTo', text: ({ migratedTo }) => migratedTo, drop: 0 },
]

function registerRehearse(group: Command, cli: Cli): void {
  explain(withFields(group.command('rehearse'), REHEARSED), {
    local: true,
    examples: ['backup rehearse', 'backup rehearse /mnt/backups/site.backup'],
    notes: [
      'Reads all of the backup, restores it into a temporary SQLite database, also where the site is on PostgreSQL, and reads that back. The count and the hash of the rows of each table must be those of the backup. Then it updates the copy to the schema of this program, and removes it. The site is not touched.',
      'The temporary database is in the data folder, and is about as large as that of the site. Exits with 9 if anything differs.',
    ],
  })
    .description('Restore a backup for a trial, and compare all of it')
    .argument('[file]', 'file, or the name of a backup in backup.dir (default: the newest there)')
    .action(async (file: string | undefined, _flags: unknown, command: Command) => {
      const flags = command.optsWithGlobals<OutputFlags>()
      const config = await cli.config()
      assertLocal(config, 'backup rehearse')
      const { rehearse } = await import('../backup/rehearse.js')
      const { report, end } = steps(cli.terminal, 'Interrupted. The temporary copy was removed.')
      const done = await rehearse(config, file, report).finally(end)
      await print(cli.terminal, flags, {
        body: done,
        rows: [done],
        columns: rehearsedColumns,
        id: (row) => row.file,
        single: true,
      })
      const tables = counted(Object.keys(done.tables).length, 'table')
      const rows = counted(rowsIn(done.tables).toLocaleString('en'), 'row')
      const keys = counted(Object.keys(done.sequences).length, 'counter')
      tell(
        cli.terminal,
        `Restored into a temporary SQLite database. The counts and hashes of ${tables} with ${rows}, and of ${keys}, match the backup.`,
      )
    })
}

function registerPrune(group: Command, cli: Cli): void {
  explain(withFields(group.command('prune'), LISTED), {
    local: true,
    examples: ['backup prune --dry-run', 'backup prune --keep 30 --yes'],
    notes: [
      'Keeps the newest intact backups of this site, by their time. Reads the newest backup completely first, and the one before it if that is damaged: the newest intact backup always stays. If none is intact, all stay.',
      'Other files, backups of other sites, redacted ones, and those that a restore or an upgrade has kept (before-…) are neither counted nor removed.',
    ],
  })
    .description('Remove the older backups of this site')
    .argument('[folder]', 'folder (default: backup.dir)')
    .option('--keep <n>', 'how many stay (default: backup.keep)')
    .option('--dry-run', 'show what would be removed, but remove nothing')
    .option('-y, --yes', 'skip the confirmation prompt')
    .action(async (folder: string | undefined, given: { keep?: string }, command: Command) => {
      const flags = command.optsWithGlobals<OutputFlags & { dryRun?: boolean; yes?: boolean; input?: boolean }>()
      const config = await cli.config()
      assertLocal(config, 'backup prune')
      const problem = given.keep === undefined ? undefined : settings['backup.keep'].check?.(given.keep)
      if (problem !== undefined) throw new AppError('USAGE', `--keep ${problem}; ${JSON.stringify(given.keep)} is not.`)
      const { planPrune, removePlanned } = await import('../backup/prune.js')
      const { terminal } = cli
      const { dryRun = false } = flags
      const keep = given.keep === undefined ? undefined : Number(given.keep)
      const { report, end } = progress(terminal)
      const done = await planPrune(config, { folder, keep, onProgress: report }).finally(end)
      if (!dryRun && done.removed.length > 0)
        await confirm(terminal, flags, `Remove ${counted(done.removed.length, 'backup')} from ${done.folder}?`)
      if (!dryRun) await removePlanned(done)
      await print(terminal, flags, {
        body: done,
        rows: done.removed,
        columns: listColumns,
        id: (row) => row.file,
        single: false,
      })
      for (const { file, why } of done.left) tell(terminal, `Left alone: ${path.basename(file)} (${why})`)
      const kept = `${dryRun ? 'keep' : 'kept'} ${done.kept.length}`
      if (done.removed.length === 0) return tell(terminal, `There is nothing to remove from ${done.folder}: ${counted(done.kept.length, 'backup')} of this site, and ${keep ?? config.get('backup.keep')} may stay.`) // prettier-ignore
      const what = `${counted(done.removed.length, 'backup')} of ${sizeText(done.removed.reduce((sum, each) => sum + each.bytes, 0))}`
      tell(terminal, `${dryRun ? 'Would remove' : 'Removed'} ${what} from ${done.folder}, and ${kept}.`)
    })
}

function registerCreate(group: Command, cli: Cli): void {
  explain(withFields(group.command('create'), MADE), {
    local: true,
    examples: ['backup create', 'backup create /mnt/backups/', 'backup create - | ssh host "cat > site.backup"'],
    notes: [NOTE],
  })
    .description('Back up the site, while it is served too')
    .argument('[to]', 'file, folder, or - for stdout (default: backup.dir)')
    .option('--dry-run', 'check whether the command would work, but write nothing')
    .option(
      '--redact',
      'leave out the secret, the configuration, passwords, sessions, keys, second factors and mails; names, e-mail and IP addresses stay',
    )
    .action(async (to: string | undefined, _flags: unknown, command: Command) => {
      const flags = command.optsWithGlobals<OutputFlags & { dryRun?: boolean; redact?: boolean }>()
      const config = await cli.config()
      assertLocal(config, 'backup create')
      const { terminal } = cli
      const isStream = to === '-'
      if (isStream && terminal.stdout.isTTY)
        throw new AppError('USAGE', 'A backup is not text for a terminal. Redirect stdout, or give a file.')
      const { createBackup } = await import('../backup/create.js')
      const { yieldToRequests } = await import('../backup/priority.js')
      const { report, end } = progress(terminal)
      // Only a file is left behind. A reader of a stream that stands still would keep Ctrl-C waiting.
      const { check, undo } = isStream ? idle : interruptible('Interrupted. There is no backup.')
      const { redact = false, dryRun = false } = flags
      yieldToRequests()
      const made = await createBackup(config, {
        to: isStream ? terminal.stdout : to,
        version,
        now: terminal.now(),
        redact,
        dryRun,
        numbered: true,
        onProgress(...rows) {
          check()
          report(...rows)
        },
      }).finally(() => {
        end()
        undo()
      })
      const what = counted(rowsIn(made.tables).toLocaleString('en'), 'row')
      if (isStream) return tell(terminal, dryRun ? 'Would write a backup.' : `Wrote a backup of ${what}.`)
      await print(terminal, flags, { body: made, rows: [made], columns: madeColumns, id: ({ file }) => file ?? '', single: true }) // prettier-ignore
      tell(terminal, dryRun ? 'Would back up the site.' : `Backed up ${what}.`)
    })
}
