import type { Command } from 'commander'
import type { Balance } from '../backup/copy.js'
import { redactedUrl } from '../core/addresses.js'
import { AppError } from '../core/errors.js'
import { counted } from '../core/text.js'
import { assertLocal, type Cli } from './lib/connection/session.js'
import { setTarget } from './lib/connection/target.js'
import { explain } from './lib/flags/helptext.js'
import { addressOf, PLACE, placeOf } from './lib/flags/place.js'
import { isMachineReadable, print, type OutputFlags } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import type { Column } from './lib/output/table.js'
import { interruptible } from './lib/terminal/interruptible.js'
import { progressBar } from './lib/terminal/progress.js'
import { say, tell } from './lib/terminal/terminal.js'

const short = (hash: string): string => hash.slice(0, 12)

const BALANCE: (keyof Balance)[] = ['table', 'from', 'there', 'equal']

const columns: Column<Balance>[] = [
  { head: 'TABLE', text: ({ table }) => table, whole: true, drop: 0 },
  { head: 'ROWS', text: ({ from }) => String(from.rows), right: true, drop: 0 },
  { head: 'THERE', text: ({ there }) => String(there?.rows ?? ''), right: true, ifAny: true, drop: 0 },
  { head: 'HASH', text: ({ from }) => from.sha256, shown: ({ from }) => short(from.sha256), drop: 1 },
  { head: 'HASH THERE', text: ({ there }) => there?.sha256 ?? '', shown: ({ there }) => short(there?.sha256 ?? ''), ifAny: true, drop: 2 }, // prettier-ignore
  { head: 'EQUAL', text: ({ equal }) => (equal === null ? '' : equal ? 'yes' : 'NO'), ifAny: true, drop: 0 },
]

export function register(group: Command, cli: Cli): void {
  const copy = group.command('copy')
  setTarget(copy, async (terminal, { args: [, to = ''] }) => {
    const database = await addressOf(terminal, to, 'TO').catch(() => undefined) // the command says what is wrong with it
    return { database }
  })
  explain(withFields(copy, BALANCE), {
    local: true,
    examples: [
      'db copy sqlite:feedback.db postgres://USER@HOST/feedback --verify',
      'db copy /var/lib/feedbackctl env:NEW_DATABASE --verify',
      'db copy config.toml sqlite:/srv/feedback/feedback.db --verify',
    ],
    notes: [
      `FROM and TO are ${PLACE}.`,
      'Copies every table that a backup has into an empty database of either engine. Stop "feedbackctl serve" first. The database that is copied stays as it is, and so does the secret in the data folder.',
      'With --verify both sides are counted and hashed row by row. Exits with 9 if they differ.',
      'All users of the machine can see arguments: put an address with a password into a variable, and write env:NAME. PGPASSWORD and ~/.pgpass work too.',
    ],
  })
    .description('Copy a database into another, of the same engine or the other')
    .argument('<from>', PLACE)
    .argument('<to>', 'the same, of an empty database')
    .option('--verify', 'read the copy back, and compare the rows and hashes of all tables')
    .option('--dry-run', 'check both databases, but copy nothing')
    .action(async (from: string, to: string, given: { verify?: boolean }, command: Command) => {
      const flags = command.optsWithGlobals<OutputFlags & { dryRun?: boolean }>()
      assertLocal(await cli.config(), 'db copy')
      const { terminal } = cli
      const [source, target] = [await placeOf(terminal, from, 'FROM'), await placeOf(terminal, to, 'TO')]
      if (source === target) throw new AppError('USAGE', 'FROM and TO are the same database.')
      const { copyDatabase } = await import('../backup/copy.js')
      const { report, end } = progressBar(terminal)
      let isCopied = false
      const { check, undo } = interruptible(() => isCopied ? `Interrupted. The copy is complete, but was not compared: ${redactedUrl(target)}` : 'Interrupted. The copy was removed.') // prettier-ignore
      const { verify = false } = given
      const { dryRun = false } = flags
      const steps = { copy: 'Copying', index: 'Indexing', compare: 'Comparing' } as const
      const done = await copyDatabase(source, target, {
        verify,
        dryRun,
        onProgress(step, table, rows, all) {
          isCopied ||= step === 'compare'
          check()
          report(steps[step], table, rows, all)
        },
      }).finally(() => {
        end()
        undo()
      })
      if (!dryRun || isMachineReadable(flags))
        await print(terminal, flags, {
          body: done,
          rows: done.tables,
          columns,
          id: ({ table }) => table,
          single: false,
        })
      if (dryRun) return say(terminal, 'Would copy the database. Both sides fit.')
      const rows = counted(done.tables.reduce((sum, each) => sum + each.from.rows, 0).toLocaleString('en'), 'row')
      const what = `${rows} of ${counted(done.tables.length, 'table')}`
      if (done.differ.length > 0)
        throw new AppError(
          'COPY_DIFFERS',
          `The copy is there, but differs in ${done.differ.join(', ')}. Do not use it.`,
        )
      tell(terminal, verify ? `Copied ${what}. Both sides are equal.` : `Copied ${what}. Add --verify to compare both sides.`) // prettier-ignore
      tell(terminal, `Set database.url to ${redactedUrl(target)}, then start "feedbackctl serve".`)
    })
}
