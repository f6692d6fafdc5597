import type { Command } from 'commander'
import type { RolledBack } from '../backup/rollback.js'
import { assertLocal, type Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { print, type OutputFlags } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import type { Column } from './lib/output/table.js'
import { tellPlan } from './lib/prompts/dryrun.js'
import { confirm } from './lib/prompts/prompts.js'
import { steps } from './lib/terminal/steps.js'
import { tell } from './lib/terminal/terminal.js'
import { version } from './version.js'

const ROLLED_BACK: (keyof RolledBack)[] = ['file', 'schema', 'createdAt', 'from', 'kept']

const columns: Column<RolledBack>[] = [
  { head: 'PUT BACK', field: 'file', text: ({ file }) => file, drop: 0 },
  { head: 'FROM', field: 'createdAt', text: ({ createdAt }) => createdAt, drop: 0 },
  { head: 'SCHEMA', text: ({ schema }) => schema, drop: 0 },
  { head: 'INSTEAD OF', field: 'from', text: ({ from }) => from, drop: 0 },
  { head: 'KEPT', text: ({ kept }) => kept ?? '', drop: 0 },
]

export function register(command: Command, cli: Cli): void {
  explain(withFields(command, ROLLED_BACK), {
    local: true,
    examples: ['rollback --dry-run', 'rollback'],
    notes: [
      'Before the schema of a database is updated, it is kept as it is: a SQLite file beside itself (before-upgrade-…), a PostgreSQL database as a backup in backup.dir. This command puts that back. What was written since then stays in the database that it replaces, which is kept too.',
      'Stop "feedbackctl serve" first, and install the earlier version afterwards: on SQLite the next command of this version updates the schema again.',
    ],
  })
    .option('--dry-run', 'show what would be put back, but change nothing')
    .option('-y, --yes', 'skip the confirmation prompt')
    .action(async () => {
      const flags = command.optsWithGlobals<OutputFlags & { dryRun?: boolean; yes?: boolean; input?: boolean }>()
      const config = await cli.config()
      assertLocal(config, 'rollback')
      const { terminal } = cli
      const { rollBack } = await import('../backup/rollback.js')
      const { dryRun = false } = flags
      const run = (isDry: boolean) => {
        const { report, end } = steps(terminal, 'Interrupted. Nothing was changed.')
        return rollBack(config, { version, now: terminal.now(), dryRun: isDry, onProgress: report }).finally(end)
      }
      if (!dryRun && !flags.yes) {
        const { createdAt } = await run(true) // no question about what cannot be done
        await confirm(terminal, flags, `Put back the database of ${createdAt}? The site loses what was written since.`)
      }
      const done = await run(dryRun)
      await print(terminal, flags, { body: done, rows: [done], columns, id: ({ file }) => file, single: true })
      if (dryRun)
        return tellPlan(terminal, [
          done.kept === null
            ? 'keep the present database as a backup in backup.dir'
            : `keep the present database: ${done.kept}`,
          `put back the database of ${done.createdAt}, with schema ${done.schema} in place of ${done.from}`,
        ])
      tell(terminal, 'The upgrade is taken back. Install the earlier version of feedbackctl, then start "feedbackctl serve".') // prettier-ignore
    })
}
