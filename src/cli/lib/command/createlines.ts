import { AppError } from '../../../core/errors.js'
import { counted, escaped, printable, quoted } from '../../../core/text.js'
import type { Cli } from '../connection/session.js'
import { withFlagNames } from '../errors/report.js'
import type { LineColumn } from '../flags/columns.js'
import type { Values } from '../flags/fieldoption.js'
import { linesGiven, type Line } from '../flags/lines.js'
import { isSource, type FieldOption } from '../flags/options.js'
import { formatOf, isStructured } from '../output/output.js'
import { wouldHave, type Done as Said } from '../prompts/dryrun.js'
import { readsStdin } from '../prompts/inputs.js'
import { counter } from '../terminal/progress.js'
import { colors, hasColor, say, tell, type Terminal } from '../terminal/terminal.js'
import type { CreateGroup } from './linegroups.js'
import { exitOf, resultsOf, sayFixes, type FixesFor, type Flags } from './several.js'
import type { View } from './view.js'

/** Lines that are created in one transaction, and whose answers are held in memory. */
const TOGETHER = 100
/** Characters of such lines, before the last of them: proxies bound the bodies of requests, some to 1 MB. */
const MOST = 300_000

interface CreateLines<In, Out, Row> {
  noun: string
  /** The field that a line sets without a header. */
  main: string
  /** The columns that CSV may have. */
  columns: readonly LineColumn[]
  options: readonly FieldOption[]
  /** The values of the flags, for all lines. */
  given: Values
  view: View<In, Out, Row>
  /** Reads the files that flags name. */
  complete(this: void, given: Values): Promise<Values>
  create: CreateGroup<Row>
  fixesFor: FixesFor
}

/** Creates what stdin lists, in its order. What fails is said, and the rest is created. */
export async function createLines<In, Out, Row>(
  cli: Cli,
  flags: Flags,
  creation: CreateLines<In, Out, Row>,
): Promise<void> {
  const { terminal } = cli
  const { noun, main, columns, options, view } = creation
  const forAll = await valuesForAll(creation)
  const results = resultsOf(terminal, flags, view.output)
  const failures: number[] = []
  const errors = new Map<string, AppError>()
  const count = { created: 0, there: 0, tried: 0 }
  const isForPrograms = isStructured(formatOf(terminal, flags))
  const progress = counter(terminal, !isForPrograms)
  let stopped: Line | undefined
  let sendsMail = false
  for await (const lines of inGroups(linesGiven(terminal, columns, main))) {
    for (const result of await creation.create(lines, forAll)) {
      count.tried += 1
      if ('error' in result) {
        progress.end()
        if (count.tried === 1 && isOfAll(result, forAll)) throw result.error
        failures.push(result.error.exit)
        errors.set(`${result.error.code} ${result.error.unknown}`, result.error)
        sayFailure(terminal, flags, result, options)
        if (result.ends) stopped = result.line
        continue
      }
      count[result.wasThere ? 'there' : 'created'] += 1
      sendsMail ||= !result.wasThere && (view.sendsMail?.(result.input) ?? false)
      await results.add(result.outcome)
    }
    if (stopped) break
    progress.report(`${count.tried} ${noun}s`)
  }
  progress.end()
  await results.end()
  if (failures.length > 0) process.exitCode = exitOf(failures, count.created + count.there)
  if (!isForPrograms && !(flags.quiet && failures.length === 0)) {
    for (const sentence of summary(flags, noun, count, failures.length)) tell(terminal, sentence)
    if (stopped) tell(terminal, `The lines after ${stopped.number} were not tried.`)
    if (failures.length > 0) sayFixes(terminal, flags, await creation.fixesFor([...errors.values()]))
  }
  if (sendsMail && !flags.dryRun) await (await import('../connection/delivery.js')).deliverLocally(cli)
}

async function valuesForAll<In, Out, Row>({ given, main, complete }: CreateLines<In, Out, Row>): Promise<Values> {
  const { [main]: _, ...forAll } = given
  const sources = Object.values(forAll).filter(isSource)
  if (sources.some((source) => source.kind === 'random' || readsStdin(source)))
    throw new AppError('USAGE', 'The lines come from stdin. Give no option that reads stdin or generates a password.')
  return complete(forAll)
}

function summary(
  { dryRun = false }: Flags,
  noun: string,
  { created, there, tried }: { created: number; there: number; tried: number },
  failed: number,
): string[] {
  if (tried === 0) return ['No lines were given. Nothing was changed.']
  const done: Said = `Created ${counted(created, noun)}.`
  return [
    ...(created > 0 ? [dryRun ? wouldHave(done) : done] : []),
    ...(there > 0 ? [`${counted(there, noun)} existed already.`] : []),
    ...(failed > 0 ? [`${failed} of ${counted(tried, noun)} failed.`] : []),
  ]
}

/**
 * Whether every line would fail the same way: the caller lacks the permission, the account of --as does not exist, or a
 * flag names what does not exist.
 */
function isOfAll({ error, line }: { error: AppError; line: Line }, forAll: Values): boolean {
  const { exit, code, unknown, errors = [] } = error
  const isOfFlag = (field: string) => Object.hasOwn(forAll, field) && !Object.hasOwn(line.values, field)
  return (
    exit === 4 || code === 'USER_NOT_FOUND' || (unknown !== undefined && errors.every(({ field }) => isOfFlag(field)))
  )
}

async function* inGroups(lines: AsyncIterable<Line>): AsyncGenerator<Line[]> {
  let group: Line[] = []
  let size = 0
  for await (const line of lines) {
    group.push(line)
    size += line.size
    if (group.length < TOGETHER && size < MOST) continue
    yield group
    group = []
    size = 0
  }
  if (group.length > 0) yield group
}

function sayFailure(
  terminal: Terminal,
  flags: Flags,
  { line: { number, name }, error }: { line: Line; error: AppError },
  options: readonly FieldOption[],
): void {
  if (formatOf(terminal, flags) === 'json')
    return say(terminal, escaped(JSON.stringify({ line: number, name, ...error.body, exit: error.exit })))
  const { red } = colors(hasColor(terminal, terminal.stderr, flags))
  const what = name === '' ? `line ${number}` : `line ${number}, ${quoted(name)}`
  const message = withFlagNames(error, options)
  tell(terminal, printable(`${what}: ${message} (${error.code})`), { start: `${red('✗')} ` })
}
