import path from 'node:path'
import type { Command } from 'commander'
import type { Restored } from '../backup/restore.js'
import { listed } from '../core/text.js'
import { assertLocal, type Cli } from './lib/connection/session.js'
import { databaseIn, setTarget } from './lib/connection/target.js'
import { explain } from './lib/flags/helptext.js'
import { print, type OutputFlags } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import type { Column } from './lib/output/table.js'
import { tellPlan } from './lib/prompts/dryrun.js'
import { confirm } from './lib/prompts/prompts.js'
import { steps } from './lib/terminal/steps.js'
import { tell } from './lib/terminal/terminal.js'
import { commandLine } from './lib/texts/commandline.js'
import { version } from './version.js'

const SECRETS: Record<Restored['secret'], string> = {
  same: 'as before',
  restored: 'from the backup',
  differs: 'the setting "secret", which is not that of the backup',
  none: 'not in the backup',
}

const RESTORED: (keyof Restored)[] = ['file', 'kept', 'createdAt', 'schema', 'secret', 'config', 'served', 'tables']

const columns: Column<Restored>[] = [
  { head: 'DATABASE', text: ({ file }) => file ?? 'PostgreSQL', drop: 0 },
  { head: 'KEPT', text: ({ kept }) => kept ?? '', drop: 0, ifAny: true },
  { head: 'FROM', text: ({ createdAt }) => createdAt, drop: 0 },
  { head: 'SCHEMA', text: ({ schema }) => schema, drop: 0 },
  { head: 'SECRET', text: ({ secret }) => SECRETS[secret], drop: 0 },
  { head: 'CONFIG', text: ({ config }) => config ?? '', drop: 0, ifAny: true },
]

/** The steps of a restore, for a dry run. */
function planOf({ file, served, kept, createdAt, tables, secret, config }: Restored, into: string | undefined) {
  const rows = (table: string): number => tables[table]?.rows ?? 0
  const content = listed({ user: rows('users'), board: rows('boards'), post: rows('posts'), comment: rows('comments') })
  const keptAsBackup = file === null ? 'keep what the database has as a backup in backup.dir' : undefined
  const what = `the backup of ${createdAt}${content && `: ${content}`}`
  return [
    served ? 'make the server stand aside meanwhile' : undefined,
    kept === null ? keptAsBackup : `keep the present database: ${kept}`,
    into === undefined ? `replace the site with ${what}` : `restore into ${path.resolve(into)} ${what}`,
    secret === 'restored' ? 'write the secret of the backup' : undefined,
    config === null ? undefined : `write the configuration of the backup: ${config}`,
  ]
}

export function register(command: Command, cli: Cli): void {
  setTarget(command, async () => {
    const { into } = command.opts<{ into?: string }>()
    if (into === undefined) return undefined
    const folder = path.resolve(into)
    return { folder, database: databaseIn(folder) }
  })
  explain(withFields(command, RESTORED), {
    local: true,
    examples: ['restore site.backup --dry-run', 'restore site.backup', 'restore site.backup --into /srv/feedback'],
    notes: [
      'Reads the whole backup before anything changes. What was there is kept: a SQLite file beside the new one, a PostgreSQL database as a backup in backup.dir.',
      'A server that runs stands aside: it closes the database, answers with 503, and goes on with the restored site.',
      'A backup of SQLite restores into PostgreSQL, and the other way round. Mail that was waiting when the backup was made is sent again.',
    ],
  })
    .argument('<file>', 'file, or the name of a backup in backup.dir')
    .option('--dry-run', 'check the backup and the database, but change nothing')
    .option('--into <folder>', 'new data folder, with a SQLite database, in place of the configured database')
    .option('-y, --yes', 'skip the confirmation prompt')
    .action(async (file: string, given: { into?: string }) => {
      const flags = command.optsWithGlobals<OutputFlags & { dryRun?: boolean; yes?: boolean; input?: boolean }>()
      const config = await cli.config()
      assertLocal(config, 'restore')
      const { terminal } = cli
      const { restoreBackup } = await import('../backup/restore.js')
      const { dryRun = false } = flags
      const run = (isDry: boolean) => {
        const { report, end } = steps(terminal, 'Interrupted. Nothing was changed.')
        const options = { into: given.into, version, now: terminal.now(), dryRun: isDry, onProgress: report }
        return restoreBackup(config, file, options).finally(end)
      }
      if (!dryRun && given.into === undefined && !flags.yes) {
        const { served } = await run(true) // no question about what cannot be done
        const aside = served ? ' The server stands aside meanwhile.' : ''
        await confirm(terminal, flags, `Replace the site with the backup ${file}?${aside}`)
      }
      const done = await run(dryRun)
      await print(terminal, flags, { body: done, rows: [done], columns, id: () => done.file ?? '', single: true })
      if (dryRun) return tellPlan(terminal, planOf(done, given.into))
      const where = given.into === undefined ? [] : ['--data-dir', path.resolve(given.into)]
      const next = done.served ? 'The server goes on with it.' : `Start "${commandLine(['serve', ...where])}".`
      tell(terminal, `The site is restored. ${next}`)
      if (done.config !== null)
        tell(terminal, `The configuration of the backup is in the file named CONFIG. Copy what still holds to ${config.file}.`) // prettier-ignore
      if (done.secret === 'differs' || done.secret === 'none')
        tell(terminal, `Run "${commandLine(['secret', 'new', ...where])}" before that: everyone has to sign in again.`)
    })
}
