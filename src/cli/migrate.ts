import type { Command } from 'commander'
import { explain } from './lib/helptext.js'
import { isMachineReadable, print, type OutputFlags } from './lib/output.js'
import { assertLocal, type Cli } from './lib/session.js'
import { write } from './lib/terminal.js'

export function register(command: Command, cli: Cli): void {
  explain(command, { examples: ['migrate --dry-run', 'migrate'] })
    .option('--dry-run', 'show what would be applied, but change nothing')
    .action(async () => {
      const flags = command.optsWithGlobals<OutputFlags & { dryRun?: boolean }>()
      const config = await cli.config()
      assertLocal(config, 'migrate')
      const { migrateDatabase, pendingMigrations } = await import('../app.js')
      const applied = await (flags.dryRun ? pendingMigrations : migrateDatabase)(config)
      const columns = [{ head: 'APPLIED', text: (name: string) => name, drop: 0 }]
      if (isMachineReadable(flags))
        return print(cli.terminal, flags, {
          body: { applied },
          rows: applied,
          columns,
          id: (name) => name,
          single: false,
        })
      await write(
        cli.terminal,
        applied.length === 0
          ? 'The database is up to date.\n'
          : applied.map((name) => `${flags.dryRun ? 'Would apply' : 'Applied'} ${name}\n`).join(''),
      )
    })
}
