import { createReadStream } from 'node:fs'
import path from 'node:path'
import { AppError, serverError } from '../core/errors.js'
import { whyNotRead } from '../core/filecauses.js'
import { textLines } from '../core/records.js'
import { counted, printable } from '../core/text.js'
import { audienceOf } from './audience.js'
import { MOST_AT_ONCE, type Outcome } from '../service/lib/bulk.js'
import type { Call } from '../service/lib/operation.js'
import { merge } from '../service/merges.js'
import { outcomeColumns } from './lib/command/bulk.js'
import { exitOf, UNREACHABLE } from './lib/command/several.js'
import type { FileRun } from './lib/command/view.js'
import { formatOf, isMachineReadable, isStructured, print } from './lib/output/output.js'
import type { Column } from './lib/output/table.js'
import { wouldHave } from './lib/prompts/dryrun.js'
import { confirm } from './lib/prompts/prompts.js'
import { canPrompt, colors, hasColor, tell, type Terminal } from './lib/terminal/terminal.js'
import { planIn, type Planned } from './mergeplan.js'

/** What became of a line. */
type Row = Outcome & Pick<Planned, 'line' | 'into'>

const columns: Column<Row>[] = [
  { head: 'LINE', field: 'line', text: ({ line }) => String(line), right: true, drop: 0, whole: true },
  ...outcomeColumns.flatMap<Column<Row>>((column) =>
    column.head === 'OUTCOME' ? [{ head: 'INTO', field: 'into', text: ({ into }) => into, drop: 0 }, column] : [column],
  ),
]

interface Result {
  rows: Row[]
  undos: { undo_id: string; expires_at: string; into: string }[]
  /** Exit codes of what failed. */
  failures: number[]
  /** Lines that were not tried, as the server cannot be reached. */
  untried: number
}

const countOf = (rows: readonly Row[], wanted: Outcome['outcome']) =>
  rows.filter(({ outcome }) => outcome === wanted).length

/** Merges as a plan says. A line that fails is said, and the others are done. */
export async function mergePlanned({ cli, file, flags, given, connect }: FileRun): Promise<void> {
  const { terminal } = cli
  const plan = await readPlan(terminal, file)
  const quiet = given.quiet !== false
  const merging = (call: Call) => mergeGroups(call, plan, quiet)
  const isAsked = !flags.yes && !flags.dryRun && plan.length > 0 && canPrompt(terminal, flags) && terminal.stdout.isTTY && !isMachineReadable(flags) // prettier-ignore
  if (isAsked) {
    const trial = await merging(await connect({ trial: true }))
    const count = countOf(trial.rows, 'changed')
    if (count > 0) {
      await show(terminal, flags, trial)
      await confirm(terminal, flags, `Merge ${counted(count, 'post')}?`)
    }
  }
  const call = await connect()
  const result = await merging(call)
  await show(terminal, flags, result)
  if (result.failures.length > 0) process.exitCode = exitOf(result.failures, countOf(result.rows, 'changed'))
  if (isStructured(formatOf(terminal, flags))) return
  if (flags.quiet) return sayFailures(terminal, flags, result.rows)
  if (plan.length === 0) return tell(terminal, `${printable(file)} has no merges. Nothing was changed.`)
  const done = saidOf(result)
  if (!flags.dryRun) return tell(terminal, [done, ...undoOf(result)].join('\n'))
  tell(terminal, `${wouldHave(done)}\nWould tell ${quiet ? 'nobody' : await toldOf(call, result.rows)}.`)
}

function saidOf({ rows, untried }: Result): `Merged ${string}` {
  const [unchanged, failed] = [countOf(rows, 'unchanged'), countOf(rows, 'failed')]
  return `Merged ${counted(countOf(rows, 'changed'), 'post')}.${unchanged > 0 ? ` ${unchanged} had nothing to change.` : ''}${failed > 0 ? ` ${failed} failed.` : ''}${untried > 0 ? ` ${untried} more were not tried.` : ''}` // prettier-ignore
}

/** Each merge can be taken back by itself, at any time. */
function undoOf({ rows }: Result): string[] {
  const changed = rows.find(({ outcome }) => outcome === 'changed')
  return changed ? [`To take one back: feedbackctl posts unmerge ${changed.number}`] : []
}

/** Merges posts that follow each other and have the same target together, in the order of the plan. */
async function mergeGroups(call: Call, plan: readonly Planned[], quiet: boolean): Promise<Result> {
  const result: Result = { rows: [], undos: [], failures: [], untried: 0 }
  for (const [at, group] of groupsOf(plan).entries()) {
    const [{ into } = { into: '' }] = group
    if (result.untried > 0) {
      result.untried += group.length
      continue
    }
    try {
      const ids = [...new Set(group.map(({ post }) => post))]
      const { outcomes, undo } = await call(merge, { ids, into, quiet })
      for (const [place, { line, post }] of group.entries()) {
        const outcome = outcomes[ids.indexOf(post)]
        if (!outcome) continue
        const isAgain = outcome.outcome === 'changed' && group.findIndex((each) => each.post === post) < place
        result.rows.push({ ...outcome, line, into, ...(isAgain && { outcome: 'unchanged' as const }) })
        if (outcome.outcome === 'failed') result.failures.push(5)
      }
      if (undo) result.undos.push({ ...undo, into })
    } catch (thrown) {
      const error = thrown instanceof AppError ? thrown : serverError(thrown)
      // An error of the first merge stops the run, as later ones would fail too. A missing post concerns only its own line.
      if (error.exit === 130 || (at === 0 && error.code !== 'POST_NOT_FOUND')) throw error
      result.failures.push(error.exit)
      if (error.exit === UNREACHABLE) result.untried += group.length
      else result.rows.push(...group.map((each) => failedRow(each, error)))
    }
  }
  return result
}

const failedRow = ({ line, post, into }: Planned, { code, message }: AppError): Row => ({
  line,
  into,
  given: post,
  id: null,
  kind: null,
  number: null,
  title: null,
  outcome: 'failed',
  error: { code, message },
})

function groupsOf(plan: readonly Planned[]): Planned[][] {
  const groups: Planned[][] = []
  for (const each of plan) {
    const last = groups.at(-1)
    if (last?.[0]?.into === each.into && last.length < MOST_AT_ONCE) last.push(each)
    else groups.push([each])
  }
  return groups
}

/** How many would be told. Whoever follows posts of several targets is told of each. */
async function toldOf(call: Call, rows: readonly Row[]): Promise<string> {
  let people = 0
  const changed = rows.flatMap(({ line, id, into, outcome }) => (outcome === 'changed' && id !== null ? [{ line, post: id, into }] : [])) // prettier-ignore
  for (const group of groupsOf(changed)) {
    const [post_id = '', ...also] = group.map(({ post }) => post)
    const found = await audienceOf(call, { post_id, message: false, into: group[0]?.into, ...(also.length > 0 && { also }) }) // prettier-ignore
    if (!found) return 'those who follow them'
    people += found.people
  }
  return people === 0 ? 'nobody' : people === 1 ? '1 person' : `${people} people`
}

const show = (terminal: Terminal, flags: FileRun['flags'], { rows, undos, untried }: Result) =>
  print(terminal, flags, {
    body: {
      merges: rows,
      changed: countOf(rows, 'changed'),
      failed: countOf(rows, 'failed'),
      ...(untried > 0 && { untried }),
      undos,
    },
    rows,
    columns,
    id: ({ id, given }) => id ?? given,
    single: false,
  })

/** Prints the failed lines to stderr, because -q prints only ids. */
function sayFailures(terminal: Terminal, flags: FileRun['flags'], rows: readonly Row[]): void {
  const { red } = colors(hasColor(terminal, terminal.stderr, flags))
  for (const { line, error } of rows)
    if (error) tell(terminal, printable(`Line ${line}: ${error.message} (${error.code})`), { start: `${red('✗')} ` })
}

/** Characters of a line of a plan. */
const LONGEST = 10_000
/** Merges of a plan. */
const MOST = 10_000

async function readPlan(terminal: Terminal, file: string): Promise<Planned[]> {
  const name = file === '-' ? 'stdin' : printable(file)
  const wrong = (why: string) => new AppError('USAGE', `${why} Nothing was changed.`)
  const bytes = file === '-' ? terminal.stdin : createReadStream(path.resolve(terminal.cwd, file))
  const lines = textLines(
    bytes as AsyncIterable<Uint8Array>,
    {
      notUtf8: () => wrong(`${name} is not UTF-8 text. Save it as UTF-8.`),
      tooLong: (line) => wrong(`Line ${line} of ${name} has more than ${LONGEST} characters.`),
    },
    LONGEST,
  )
  let plan: Planned[]
  try {
    plan = await planIn(lines, name)
  } catch (error) {
    if (error instanceof AppError) throw error
    throw wrong(`Cannot read ${name}: ${whyNotRead(error)}.`)
  }
  if (plan.length > MOST) throw wrong(`${name} has ${plan.length} merges. A plan may have ${MOST}: divide it.`)
  return plan
}
