import type { Command } from 'commander'
import type { Balance } from '../backup/copy.js'
import { absoluteUrl, databaseUrlProblem, redactedUrl } from '../core/addresses.js'
import { AppError } from '../core/errors.js'
import { counted } from '../core/text.js'
import { explain } from './lib/helptext.js'
import { print, type OutputFlags } from './lib/output.js'
import { progressBar } from './lib/progress.js'
import { assertLocal, type Cli } from './lib/session.js'
import type { Column } from './lib/table.js'
import { say, tell } from './lib/terminal.js'

const short = (hash: string): string => hash.slice(0, 12)

const columns: Column<Balance>[] = [
  { head: 'TABLE', text: ({ table }) => table, whole: true, drop: 0 },
  { head: 'ROWS', text: ({ from }) => String(from.rows), right: true, drop: 0 },
  { head: 'THERE', text: ({ there }) => String(there?.rows ?? ''), right: true, ifAny: true, drop: 0 },
  { head: 'HASH', text: ({ from }) => from.sha256, shown: ({ from }) => short(from.sha256), drop: 1 },
  { head: 'HASH THERE', text: ({ there }) => there?.sha256 ?? '', shown: ({ there }) => short(there?.sha256 ?? ''), ifAny: true, drop: 2 }, // prettier-ignore
  { head: 'EQUAL', text: ({ equal }) => (equal === null ? '' : equal ? 'yes' : 'NO'), ifAny: true, drop: 0 },
]

export function register(group: Command, cli: Cli): void {
  explain(group.command('copy'), {
    examples: [
      'db copy sqlite:feedback.db postgres://USER@HOST/feedback --verify',
      'db copy postgres://USER@HOST/feedback sqlite:/srv/feedback/feedback.db --verify',
    ],
    notes: [
      'Copies every table that a backup has into an empty database of either engine. Stop "feedbackctl serve" first. The database that is copied stays as it is, and so does the secret in the data folder.',
      'With --verify both sides are counted and hashed row by row. Exits with 9 if they differ. Passwords of PostgreSQL can be in PGPASSWORD or ~/.pgpass rather than in the address.',
    ],
  })
    .description('Copy a database into another, of the same engine or the other')
    .argument('<from>', 'sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE')
    .argument('<to>', 'the same, of an empty database')
    .option('--verify', 'read the copy back, and compare the rows and hashes of all tables')
    .option('--dry-run', 'check both databases, but copy nothing')
    .action(async (from: string, to: string, given: { verify?: boolean }, command: Command) => {
      const flags = command.optsWithGlobals<OutputFlags & { dryRun?: boolean }>()
      assertLocal(await cli.config(), 'db copy')
      const { terminal } = cli
      const [source, target] = [from, to].map((url) => checked(url, terminal.cwd)) as [string, string]
      if (source === target) throw new AppError('USAGE', 'FROM and TO are the same database.')
      const { copyDatabase } = await import('../backup/copy.js')
      const { told, end } = progressBar(terminal)
      const { verify = false } = given
      const { dryRun = false } = flags
      const steps = { copy: 'Copying', compare: 'Comparing' } as const
      const done = await copyDatabase(source, target, {
        verify,
        dryRun,
        told: (step, table, rows) => told(steps[step], table, rows, undefined),
      }).finally(end)
      if (dryRun) return say(terminal, 'Dry run, nothing was copied.')
      await print(terminal, flags, { body: done, rows: done.tables, columns, id: ({ table }) => table, single: false })
      const rows = counted(done.tables.reduce((sum, each) => sum + each.from.rows, 0).toLocaleString('en'), 'row')
      const what = `${rows} of ${counted(done.tables.length, 'table')}`
      if (done.differ.length > 0)
        throw new AppError(
          'COPY_DIFFERS',
          `The copy is there, but differs in ${done.differ.join(', ')}. Do not use it.`,
        )
      tell(terminal, verify ? `Copied ${what}. Both sides are equal.` : `Copied ${what}. Add --verify to compare both sides.`) // prettier-ignore
      say(terminal, `Set database.url to ${redactedUrl(target)}, then start "feedbackctl serve".`)
    })
}

function checked(url: string, cwd: string): string {
  const problem = databaseUrlProblem(url)
  if (problem !== undefined) throw new AppError('USAGE', `A database ${problem}; ${JSON.stringify(redactedUrl(url))} is not.`) // prettier-ignore
  return absoluteUrl(url, cwd)
}
