import type { Command } from 'commander'
import type { Made } from '../backup/create.js'
import type { Listed, Verified } from '../backup/verify.js'
import { AppError } from '../core/errors.js'
import { counted } from '../core/text.js'
import { ago } from './lib/age.js'
import { explain } from './lib/helptext.js'
import { print, type OutputFlags } from './lib/output.js'
import { progress } from './lib/progress.js'
import { assertLocal, type Cli } from './lib/session.js'
import type { Column } from './lib/table.js'
import { say } from './lib/terminal.js'
import { version } from './version.js'

/** Bytes as people say them: 1.2 MB. */
export function sizeOf(bytes: number): string {
  const power = Math.min(4, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  return power === 0 ? `${bytes} B` : `${(bytes / 1000 ** power).toFixed(1)} ${' kMGT'[power]}B`
}

const rowsIn = (tables: Record<string, { rows: number }>): number =>
  Object.values(tables).reduce((sum, { rows }) => sum + rows, 0)

const NOTE =
  'The backup has everything of the site, its secret too: keep it where nobody else reads it. With the setting backup.passphrase it is encrypted. The file of the configuration is not part of it.'

const madeColumns: Column<Made>[] = [
  { head: 'FILE', text: ({ file }) => file ?? '', whole: true, drop: 0 },
  { head: 'SIZE', text: ({ bytes }) => String(bytes ?? ''), shown: ({ bytes }) => (bytes === null ? '' : sizeOf(bytes)), drop: 0 }, // prettier-ignore
  { head: 'ROWS', text: ({ tables }) => String(rowsIn(tables)), drop: 0 },
  { head: 'SCHEMA', text: ({ schema }) => schema, drop: 0 },
  { head: 'ENCRYPTED', text: ({ encrypted }) => (encrypted ? 'yes' : 'no'), drop: 0 },
]

const listColumns: Column<Listed>[] = [
  { head: 'FILE', text: ({ file }) => file, whole: true, drop: 0 },
  { head: 'SIZE', field: 'bytes', text: ({ bytes }) => String(bytes), shown: ({ bytes }) => sizeOf(bytes), right: true, drop: 1 }, // prettier-ignore
  { head: 'CREATED', field: 'createdAt', text: ({ createdAt }) => createdAt, shown: ({ createdAt }, _paint, now) => ago(createdAt, now), drop: 0 }, // prettier-ignore
  { head: 'SCHEMA', text: ({ schema }) => schema, drop: 2 },
  { head: 'VERSION', text: ({ version: made }) => made },
  { head: 'ENCRYPTED', text: ({ encrypted }) => (encrypted ? 'yes' : ''), ifAny: true, drop: 3 },
  { head: 'REDACTED', text: ({ redacted }) => (redacted ? 'yes' : ''), ifAny: true, drop: 1 },
]

const verifiedColumns: Column<Verified>[] = [
  ...listColumns.slice(0, 3),
  { head: 'ROWS', text: ({ tables }) => String(rowsIn(tables)), drop: 0 },
  { head: 'SCHEMA', text: ({ schema }) => schema, drop: 0 },
]

export function register(group: Command, cli: Cli): void {
  registerCreate(group, cli)
  explain(group.command('list'), { examples: ['backup list', 'backup list --json'] })
    .description('List the backups in a folder')
    .argument('[folder]', 'folder (default: backup.dir)')
    .action(async (folder: string | undefined, _flags: unknown, command: Command) => {
      const flags = command.optsWithGlobals<OutputFlags>()
      const config = await cli.config()
      assertLocal(config, 'backup list')
      const { listBackups } = await import('../backup/verify.js')
      const backups = await listBackups(config, folder)
      await print(cli.terminal, flags, {
        body: { backups },
        rows: backups,
        columns: listColumns,
        id: ({ file }) => file,
        single: false,
      })
      if (backups.length === 0) say(cli.terminal, `There is no backup in ${folder ?? config.get('backup.dir')}.`)
    })
  explain(group.command('verify'), {
    examples: ['backup verify feedback-20261122T230102Z.backup'],
    notes: ['Reads all of the backup: its hash, its rows and their counts. Exits with 9 if anything was changed.'],
  })
    .description('Check that a backup is whole')
    .argument('<file>', 'backup')
    .action(async (file: string, _flags: unknown, command: Command) => {
      const flags = command.optsWithGlobals<OutputFlags>()
      const config = await cli.config()
      assertLocal(config, 'backup verify')
      const { verifyBackup } = await import('../backup/verify.js')
      const { told, end } = progress(cli.terminal)
      const { verified } = await verifyBackup(config, file, told).finally(end)
      await print(cli.terminal, flags, {
        body: verified,
        rows: [verified],
        columns: verifiedColumns,
        id: (row) => row.file,
        single: true,
      })
      say(cli.terminal, 'The backup is whole.')
    })
}

function registerCreate(group: Command, cli: Cli): void {
  explain(group.command('create'), {
    examples: ['backup create', 'backup create /mnt/backups/', 'backup create - | ssh host "cat > site.backup"'],
    notes: [NOTE],
  })
    .description('Back up the site, while it is served too')
    .argument('[to]', 'file, folder, or - for stdout (default: backup.dir)')
    .option('--dry-run', 'check whether it would work, but write nothing')
    .option('--redact', 'leave out the secret, passwords, sessions, keys, second factors and mails')
    .action(async (to: string | undefined, _flags: unknown, command: Command) => {
      const flags = command.optsWithGlobals<OutputFlags & { dryRun?: boolean; redact?: boolean }>()
      const config = await cli.config()
      assertLocal(config, 'backup create')
      const { terminal } = cli
      const isStream = to === '-'
      if (isStream && terminal.stdout.isTTY)
        throw new AppError('USAGE', 'A backup is not text for a terminal. Redirect stdout, or give a file.')
      const { createBackup } = await import('../backup/create.js')
      const { told, end } = progress(terminal)
      const { redact = false, dryRun = false } = flags
      const made = await createBackup(config, {
        to: isStream ? terminal.stdout : to,
        version,
        now: terminal.now(),
        redact,
        dryRun,
        told,
      }).finally(end)
      const what = counted(rowsIn(made.tables).toLocaleString('en'), 'row')
      if (isStream) return say(terminal, dryRun ? 'Dry run, nothing was written.' : `Wrote a backup of ${what}.`)
      await print(terminal, flags, { body: made, rows: [made], columns: madeColumns, id: ({ file }) => file ?? '', single: true }) // prettier-ignore
      say(terminal, dryRun ? 'Dry run, nothing was written.' : `Backed up ${what}.`)
    })
}
