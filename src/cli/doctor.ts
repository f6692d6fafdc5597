import type { Command } from 'commander'
import { AppError } from '../core/errors.js'
import { counted } from '../core/text.js'
import type { Mend, Result } from '../doctor/index.js'
import { NAMES } from '../doctor/names.js'
import { explain } from './lib/helptext.js'
import { formatOf, print, type OutputFlags } from './lib/output.js'
import { confirm } from './lib/prompts.js'
import { assertLocal, type Cli } from './lib/session.js'
import type { Column } from './lib/table.js'
import { say, write, type Terminal } from './lib/terminal.js'
import { drawn } from './lib/verdicts.js'
import { version } from './version.js'

const columns: Column<Row>[] = [
  { head: 'CHECK', field: 'id', text: ({ id }) => id, drop: 0 },
  { head: 'SEVERITY', text: ({ severity }) => severity, drop: 0 },
  { head: 'EVIDENCE', text: ({ evidence }) => evidence, drop: 0 },
  { head: 'FIX', text: ({ fix }) => fix ?? '', drop: 0 },
]

/** A line of the result, as programs read it. */
interface Row {
  id: string
  title: string
  severity: Result['severity']
  evidence: string
  fix: string | null
}

const rowOf = ({ id, title, severity, evidence, fix }: Result): Row => ({ id, title, severity, evidence, fix })

const isFinding = ({ severity }: Pick<Row, 'severity'>): boolean => severity === 'error' || severity === 'warning'

interface Flags extends OutputFlags {
  offline?: boolean
  fix?: boolean
  dryRun?: boolean
  yes?: boolean
  input?: boolean
}

export function register(command: Command, cli: Cli): void {
  explain(command, {
    examples: ['doctor', 'doctor files secret', 'doctor --fix --dry-run', 'doctor --json'],
    notes: [
      `Checks: ${Object.entries(NAMES)
        .map(([id, title]) => `${id} (${title})`)
        .join(', ')}.`,
      'Looks while the site is served and while it is not, and changes nothing without --fix. Exits with 9 where it finds something. --fix does only what loses nothing and may be done beside a server that runs; for the rest each finding says what to do.',
    ],
  })
    .argument('[check...]', 'checks to run (default: all)')
    .option('--offline', 'ask no other machine than that of the database')
    .option('--fix', 'fix what can be fixed safely')
    .option('--dry-run', 'with --fix: show what would be fixed, but change nothing')
    .option('-y, --yes', 'with --fix: skip the confirmation prompt')
    .action((names: string[]) => examineSite(cli, names, command.optsWithGlobals<Flags>()))
}

async function examineSite(cli: Cli, names: readonly string[], flags: Flags): Promise<void> {
  const { terminal } = cli
  const format = formatOf(terminal, flags) // refuses contradictory flags before anything is done
  if (flags.dryRun && !flags.fix)
    throw new AppError('USAGE', '--dry-run goes with --fix. Without it nothing is changed.')
  const config = await cli.config({ lenient: true })
  assertLocal(config, 'doctor')
  const { checkIds, examine, isCheck, siteOf } = await import('../doctor/index.js')
  const unknown = names.find((name) => !isCheck(name))
  if (unknown !== undefined)
    throw new AppError('USAGE', `There is no check "${unknown}". Checks are ${checkIds.join(', ')}.`)
  const ids = names.length === 0 ? checkIds : names.filter(isCheck)
  const given = { now: terminal.now(), version, offline: flags.offline ?? false, url: undefined }
  const { site, close } = siteOf(config, given)
  let results: Result[]
  let fixed: string[] = []
  try {
    results = await examine(site, ids)
    const mends = mendsOf(results)
    if (flags.fix && !flags.dryRun && mends.length > 0) {
      fixed = await mendAll(terminal, flags, mends)
      results = await examine(site, ids)
    }
  } finally {
    await close()
  }
  const rows = results.map(rowOf)
  const found = rows.filter(isFinding)
  const body = { checks: rows, findings: found.length, fixed }
  if (flags.fields === undefined && (format === 'table' || format === 'wide'))
    await write(terminal, drawn(terminal, flags, rows))
  else await print(terminal, flags, { body, rows, columns, id: ({ id }) => id, single: false })
  if (flags.dryRun) for (const { does } of mendsOf(results)) say(terminal, `Would ${does}.`)
  for (const does of fixed) say(terminal, `Done: ${does}.`)
  if (found.length === 0) return say(terminal, 'No findings.')
  throw new AppError('DOCTOR_FINDINGS', `Found ${sumOf(found)}.`)
}

function sumOf(found: readonly Row[]): string {
  const errors = found.filter(({ severity }) => severity === 'error').length
  const parts = [errors > 0 && counted(errors, 'error'), found.length > errors && counted(found.length - errors, 'warning')] // prettier-ignore
  return parts.filter((part) => part !== false).join(' and ')
}

/** What can be fixed, each once. */
function mendsOf(results: readonly Result[]): Mend[] {
  const mends = results.flatMap((each) => ('mend' in each && each.mend ? [each.mend] : []))
  return mends.filter((mend, index) => mends.findIndex(({ id }) => id === mend.id) === index)
}

/** Asks, and fixes. What cannot be fixed stays a finding. Returns what was done. */
async function mendAll(terminal: Terminal, flags: Flags, mends: readonly Mend[]): Promise<string[]> {
  if (!flags.yes) for (const { does } of mends) say(terminal, `Would ${does}.`)
  await confirm(terminal, flags, `Do ${mends.length === 1 ? 'this' : `these ${mends.length} things`}?`)
  const done: string[] = []
  for (const { does, run } of mends) {
    try {
      await run()
      done.push(does)
    } catch (error) {
      say(terminal, `Could not ${does}: ${(error as Error).message}`)
    }
  }
  return done
}
