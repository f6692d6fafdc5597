import { printableLines } from '../../../core/text.js'
import type { Values } from '../flags/fieldoption.js'
import { formatOf, isStructured, print } from '../output/output.js'
import { footer, nothingFound } from '../output/pages.js'
import { wouldHave, wouldLose } from '../prompts/dryrun.js'
import { tell } from '../terminal/terminal.js'
import type { Invocation } from './invocation.js'

/** The answer of an operation, and what else its command shows of it. */
export interface Answered<Out, Row> {
  answer: Out
  input: Values
  /** The row that a deletion removed. */
  removed: Row | undefined
  /** A generated password, which is in the output where a program reads that. */
  password?: string | undefined
}

/** Prints the answer as rows, and on stderr what was done. */
export async function show<Out, Row>(invocation: Invocation<Out, Row>, answered: Answered<Out, Row>): Promise<void> {
  const { cli, view, shape } = invocation
  const { answer, input } = answered
  const rows = await printAnswer(invocation, answered)
  const verdict = view.verdict?.(answer, input)
  if (verdict) process.exitCode = verdict.exit
  if (view.exit) process.exitCode = view.exit(answer)
  if (!saysDone(invocation)) return
  if (verdict) return tell(cli.terminal, printableLines(verdict.said))
  const note = view.note?.(answer)
  if (note !== undefined) tell(cli.terminal, note)
  const empty = emptyOf(invocation, input)
  if (shape.list !== undefined) {
    const numbered = shape.fields.some(({ name }) => name === 'page')
    return footer(cli.terminal, answer, { list: shape.list, shown: rows.length, numbered, empty })
  }
  if (rows.length === 0 && view.output.list) return nothingFound(cli.terminal, empty)
  const said = await saidOf(invocation, answered)
  if (said !== undefined) tell(cli.terminal, printableLines(said))
}

async function printAnswer<Out, Row>(
  invocation: Invocation<Out, Row>,
  answered: Answered<Out, Row>,
): Promise<readonly Row[]> {
  const { cli, flags, view } = invocation
  const { answer, removed, password } = answered
  const { columns, id, list } = view.output
  const secret = password === undefined ? {} : { password }
  const whole = resultOf(invocation, answer, removed)
  const rows = whole.rows.map((each) => (isStructured(formatOf(cli.terminal, flags)) ? { ...each, ...secret } : each))
  const body = password === undefined ? whole.body : { ...answer, ...secret }
  await print(cli.terminal, flags, { body, rows, columns, id, single: !list })
  return rows
}

/** A program gets what was deleted; for people it is named in what is said. */
export function resultOf<Out, Row>(
  { cli, flags, view }: Invocation<Out, Row>,
  answer: Out,
  removed: Row | undefined,
): { body: unknown; rows: readonly Row[] } {
  const isRead = isStructured(formatOf(cli.terminal, flags)) || flags.quiet || flags.fields !== undefined
  return removed === undefined || !isRead
    ? { body: answer, rows: view.output.rows(answer) }
    : { body: { deleted: removed }, rows: [removed] }
}

/** Whether the command says on stderr what it did. */
const saysDone = <Out, Row>({ cli, flags }: Invocation<Out, Row>): boolean =>
  !flags.quiet && !isStructured(formatOf(cli.terminal, flags))

/** The message for a list without rows. */
export const emptyOf = <Out, Row>({ view }: Invocation<Out, Row>, input: Values): string | undefined =>
  view.output.empty && printableLines(view.output.empty(input))

/** The message about a change, or about what a dry run would change or lose; undefined for no message. */
export async function saidOf<Out, Row>(
  invocation: Invocation<Out, Row>,
  { answer, input, removed }: Answered<Out, Row>,
): Promise<string | undefined> {
  const { cli, flags, view, connect, present } = invocation
  if (!saysDone(invocation)) return undefined
  if (present.has(answer)) return `${view.existing?.said(answer)} exists already. Nothing was changed.`
  if (!view.done) return undefined
  const loss = flags.dryRun ? await view.confirm?.(await connect(), input) : undefined
  if (loss !== undefined) return wouldLose(loss)
  const named = (await view.names?.(await connect(), input)) ?? ''
  const done = view.done(answer, input, { server: (await cli.config()).get('server'), removed, named })
  if (!flags.dryRun || done === undefined) return done
  const foretold = await view.foretells?.(await connect(), input)
  return foretold === undefined ? wouldHave(done) : `${wouldHave(done)}\n${foretold}`
}
