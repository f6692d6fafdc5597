import type { Command } from 'commander'
import { assertLocal, type Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { isMachineReadable, print, type OutputFlags } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import { tellPlan } from './lib/prompts/dryrun.js'
import { tell, write } from './lib/terminal/terminal.js'
import { version } from './version.js'

export function register(command: Command, cli: Cli): void {
  explain(withFields(command, []), {
    local: true,
    examples: ['migrate --dry-run', 'migrate'],
    notes: [
      'The database is kept as it was: a SQLite file beside itself, a PostgreSQL database as a backup in backup.dir. The last three are kept. "feedbackctl rollback" puts the last one back.',
    ],
  })
    .option('--dry-run', 'show what would be applied, but change nothing')
    .option('--no-backup', 'keep no copy of the database as it was')
    .action(async () => {
      const flags = command.optsWithGlobals<OutputFlags & { dryRun?: boolean; backup?: boolean }>()
      const config = await cli.config()
      assertLocal(config, 'migrate')
      const { migrateDatabase, pendingMigrations } = await import('../app/schema.js')
      const done = await (flags.dryRun ? pendingMigrations : migrateDatabase)(config, {
        version,
        keep: flags.backup ?? true,
      })
      const { applied, kept } = done
      const columns = [{ head: 'APPLIED', text: (name: string) => name, drop: 0 }]
      if (isMachineReadable(flags))
        return print(cli.terminal, flags, {
          body: done,
          rows: applied,
          columns,
          id: (name) => name,
          single: false,
        })
      if (applied.length === 0) return write(cli.terminal, 'The database is up to date.\n')
      if (flags.dryRun)
        return tellPlan(cli.terminal, [
          kept === null ? undefined : `keep the database as it is: ${kept}`,
          ...applied.map((name) => `apply ${name}`),
        ])
      await write(cli.terminal, applied.map((name) => `Applied ${name}\n`).join(''))
      if (kept !== null) tell(cli.terminal, `Kept the database as it was: ${kept}`)
    })
}
