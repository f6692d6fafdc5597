import { existsSync } from 'node:fs'
import { arch, release, type } from 'node:os'
import path from 'node:path'
import type { Command } from 'commander'
import type { Config } from '../config.js'
import { visitedUrlProblem } from '../core/addresses.js'
import { AppError } from '../core/errors.js'
import { whyNotWritten } from '../core/filecauses.js'
import { createFile } from '../core/files.js'
import { didYouMean, likely } from '../core/guesses.js'
import { keys } from '../core/settings.js'
import { counted } from '../core/text.js'
import type { Mend, Result } from '../doctor/index.js'
import { NAMES } from '../doctor/names.js'
import { assertLocal, type Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { formatOf, print, type OutputFlags } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import type { Column } from './lib/output/table.js'
import { drawn } from './lib/output/verdicts.js'
import { confirm } from './lib/prompts/prompts.js'
import { redacted } from './lib/settings/redacted.js'
import { stepBar } from './lib/terminal/progress.js'
import { say, tell, write, type Terminal } from './lib/terminal/terminal.js'
import { Mistyped } from './lib/texts/mistyped.js'
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

const ROW: (keyof Row)[] = ['id', 'title', 'severity', 'evidence', 'fix']

const rowOf = ({ id, title, severity, evidence, fix }: Result): Row => ({ id, title, severity, evidence, fix })

const isFinding = ({ severity }: Pick<Row, 'severity'>): boolean => severity === 'error' || severity === 'warning'

/** Names of the checks, for people. */
const OTHER_NAMES: ReadonlyMap<string, keyof typeof NAMES> = new Map([
  ['smtp', 'mail'],
  ['email', 'mail'],
  ['db', 'database'],
  ['sqlite', 'database'],
  ['postgres', 'database'],
  ['https', 'tls'],
  ['certificate', 'tls'],
  ['permissions', 'files'],
  ['owners', 'files'],
  ['space', 'disk'],
  ['time', 'clock'],
  ['events', 'audit'],
  ['settings', 'config'],
  ['node', 'runtime'],
  ['url', 'address'],
])

interface Flags extends OutputFlags {
  offline?: boolean
  deep?: boolean
  fix?: boolean
  dryRun?: boolean
  url?: string
  report?: string
  yes?: boolean
  input?: boolean
}

export function register(command: Command, cli: Cli): void {
  explain(withFields(command, ROW), {
    local: true,
    examples: [
      'doctor',
      'doctor files secret',
      'doctor --deep',
      'doctor --url https://feedback.example.org',
      'doctor --fix --dry-run',
      'doctor --report report.json',
      'doctor --json',
    ],
    lists: { 'Checks:': Object.entries(NAMES) },
    notes: [
      'Works whether or not the site is being served, and changes nothing without --fix. Exits with 9 if it finds problems. On a site with more than 10,000 posts the checks integrity, counters and search run only with --deep, or if they are named. --fix makes only repairs that lose nothing and are safe while a server runs; each other finding says what to do.',
    ],
  })
    .argument('[check...]', 'checks to run (default: all)')
    .option('--deep', 'read all rows of a large site too: damage, stored counts and the search index')
    .option('--offline', 'contact no machine except the database server')
    .option('--url <url>', 'check the site through its proxy, as visitors see it')
    .option('--report <file>', 'write the data for a bug report, without secrets, to a new file')
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
  const problem = flags.url === undefined ? undefined : visitedUrlProblem(flags.url)
  if (problem !== undefined) throw new AppError('USAGE', `--url ${problem}.`)
  const report = flags.report === undefined ? undefined : newFile(path.resolve(terminal.cwd, flags.report))
  const config = await cli.config({ lenient: true })
  assertLocal(config, 'doctor')
  const { checkIds, examine, isCheck, siteOf } = await import('../doctor/index.js')
  const unknown = names.find((name) => !isCheck(name))
  if (unknown !== undefined) {
    const meant = OTHER_NAMES.get(unknown) ?? likely(unknown, checkIds)
    throw new Mistyped(
      `There is no check ${JSON.stringify(unknown)}.${meant === undefined ? ` Checks: ${checkIds.join(', ')}.` : didYouMean(meant)}`,
      meant === undefined ? undefined : terminal.args.map((arg) => (arg === unknown ? meant : arg)),
    )
  }
  const urlOnly = names.find(
    (name) => flags.url === undefined && NAMES[name as keyof typeof NAMES].startsWith('with --url'),
  )
  if (urlOnly !== undefined) throw new AppError('USAGE', `The check "${urlOnly}" needs --url.`)
  const ids = names.length === 0 ? checkIds : names.filter(isCheck)
  const given = { now: terminal.now(), cwd: terminal.cwd, version, offline: flags.offline ?? false, deep: (flags.deep ?? false) || names.length > 0, url: flags.url } // prettier-ignore
  const { site, close } = siteOf(config, given)
  let results: Result[]
  let fixed: string[] = []
  try {
    const look = () => {
      const { report: onProgress, end } = stepBar(terminal)
      return examine(site, ids, onProgress).finally(end)
    }
    results = await look()
    const mends = mendsOf(results)
    if (flags.fix && !flags.dryRun && mends.length > 0) {
      fixed = await mendAll(terminal, flags, mends)
      results = await look()
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
  if (report !== undefined) writeReport(terminal, report, config, rows)
  if (flags.dryRun) for (const { does } of mendsOf(results)) tell(terminal, `Would ${does}.`)
  for (const does of fixed) tell(terminal, `Done: ${does}.`)
  if (found.length === 0) return say(terminal, 'No findings.')
  throw new AppError('DOCTOR_FINDINGS', `Found ${sumOf(found)}.`, {
    reason: mendsOf(results).length === 0 ? 'by-hand' : undefined,
  })
}

/** Refuses the name of a file that is there, or that cannot be made, before anything is examined. */
function newFile(file: string): string {
  if (existsSync(file)) throw new AppError('USAGE', `--report: ${file} exists. Name a new file.`)
  if (!existsSync(path.dirname(file)))
    throw new AppError('USAGE', `--report: there is no folder ${path.dirname(file)}.`)
  return file
}

/**
 * Writes a new file for its owner only. Its values are redacted as in "config list", and neither an address of a person
 * nor the user of the mail server, which often is one, is in it.
 */
function writeReport(terminal: Terminal, file: string, config: Config, checks: readonly Row[]): void {
  const { node, v8, modules } = process.versions
  const settings = Object.fromEntries(keys.flatMap((key) => (config.get(key) === undefined ? [] : [[key, { value: redacted(config, key), origin: config.origin(key) }]]))) // prettier-ignore
  const report = { version, time: terminal.now().toISOString(), node, v8, modules, system: `${type()} ${release()} ${arch()}`, settings, checks } // prettier-ignore
  const user = mailUser(config)
  const text = JSON.stringify(report, null, 2)
    .replaceAll(/\b(smtps?:\/\/)[^\s"'<>@/]*@/g, '$1***@')
    .replaceAll(user === '' ? /$^/g : new RegExp(String.raw`(?<![\w.-])${user}(?![\w.-])`, 'g'), '***')
    .replaceAll(/[^\s"'<>@=:/]+@(?=[^\s"'<>]+\.)/g, '***@')
  try {
    createFile(file, `${text}\n`)
  } catch (error) {
    throw new AppError('OUTPUT_FAILED', `Cannot write ${file}: ${whyNotWritten(error)}.`, { cause: error })
  }
  tell(terminal, `Wrote ${file}. Read it before you send it: it has names of hosts and folders.`)
}

/** The user of the mail server as a pattern, empty without one. */
function mailUser(config: Config): string {
  const url = config.get('mail.url') ?? ''
  const { username = '' } = URL.canParse(url) ? new URL(url) : {}
  return decoded(username).replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function sumOf(found: readonly Row[]): string {
  const errors = found.filter(({ severity }) => severity === 'error').length
  const parts = [errors > 0 && counted(errors, 'error'), found.length > errors && counted(found.length - errors, 'warning')] // prettier-ignore
  return parts.filter((part) => part !== false).join(' and ')
}

/** The fixes of the findings, each once. */
function mendsOf(results: readonly Result[]): Mend[] {
  const mends = results.flatMap((each) => ('mend' in each && each.mend ? [each.mend] : []))
  return mends.filter((mend, index) => mends.findIndex(({ id }) => id === mend.id) === index)
}

/** Asks, and fixes. What cannot be fixed stays a finding. Returns what was done. */
async function mendAll(terminal: Terminal, flags: Flags, mends: readonly Mend[]): Promise<string[]> {
  if (!flags.yes) for (const { does } of mends) tell(terminal, `Would ${does}.`)
  await confirm(terminal, flags, `Do ${mends.length === 1 ? 'this' : `these ${mends.length} things`}?`)
  const done: string[] = []
  const { report, end } = stepBar(terminal)
  for (const [at, { id, does, run }] of mends.entries()) {
    try {
      await Promise.resolve(run((part) => report(id, at + part, mends.length))).finally(end)
      done.push(does)
    } catch (error) {
      tell(terminal, `Could not ${does}: ${(error as Error).message}`)
    }
  }
  return done
}
