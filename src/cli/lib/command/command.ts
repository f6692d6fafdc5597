import type { Command } from 'commander'
import { AppError } from '../../../core/errors.js'
import type { Field } from '../../../core/fields.js'
import { printableLines } from '../../../core/text.js'
import type { Operation } from '../../../service/lib/operation.js'
import type { Cli } from '../connection/session.js'
import type { Values } from '../flags/fieldoption.js'
import { givenValues } from '../flags/given.js'
import { formatOf, hasWholeBody, isMachineReadable } from '../output/output.js'
import { assertAllPages, streamAll } from '../output/pages.js'
import { confirm } from '../prompts/prompts.js'
import type { Gathered } from '../prompts/inputs.js'
import { emptyOf, show } from './answer.js'
import { callOperation, operationFor } from './call.js'
import { declare } from './declaration.js'
import { assertChange, assertComplete, assertSignedIn, complete, inputOf } from './input.js'
import { assertActingAs, invocationOf, type Invocation, type Kind } from './invocation.js'
import { actOnEach, createEach } from './many.js'
import { shapeOf } from './shape.js'
import { canPrompt, tell } from '../terminal/terminal.js'
import type { Grouping, View } from './view.js'

/** Adds the command of an operation. Its schema defines the flags, its view the usage and the output. */
export function command<In, Out, Row, Subject>(
  parent: Command,
  op: Operation<In, Out, Subject>,
  view: View<In, Out, Row>,
  cli: Cli,
): void {
  const kind = kindOf(op as Kind<Out, Row>['op'], view as View<Values, Out, Row>) // by name, not by type
  const leaf = declare(parent, kind)
  leaf.action(async () => {
    if (kind.view.file && leaf.getOptionValue(kind.view.file.flag) !== undefined)
      return (await import('./files.js')).runFile(invocationOf(cli, leaf, kind))
    const grouping = groupingOf(leaf, kind)
    await (grouping
      ? run(invocationOf(cli, leaf, grouping), parent.name())
      : run(invocationOf(cli, leaf, kind), parent.name()))
  })
}

const kindOf = <Out, Row>(op: Kind<Out, Row>['op'], view: View<Values, Out, Row>): Kind<Out, Row> => ({
  op,
  view,
  shape: shapeOf(op, view),
})

/** For the view of a list: groups of its rows. */
export const groupedBy = <In, Out, Row, Subject>(
  op: Operation<In, Out, Subject>,
  view: View<In, Out, Row>,
): Grouping => ({ op, view })

/** What --by asks for. Refuses flags that are about rows alone. */
function groupingOf<Out, Row>(leaf: Command, { view, shape }: Kind<Out, Row>): Kind<unknown, unknown> | undefined {
  const { by, everyPage } = leaf.opts<{ by?: string; everyPage?: boolean }>()
  if (by === undefined || !view.by) return undefined
  const words = Object.keys(view.by)
  const found = Object.hasOwn(view.by, by) ? view.by[by] : undefined
  if (!found) throw new AppError('USAGE', `--by must be ${words.join(' or ')}; ${JSON.stringify(by)} is not.`)
  const kind = kindOf(found.op as Kind<unknown, unknown>['op'], found.view as View<Values, unknown, unknown>)
  const taken = kind.shape.fields.map(({ name }) => name)
  const other = shape.options.find(
    (option) => !taken.includes(option.field) && leaf.getOptionValueSource(option.attributeName()) === 'cli',
  )
  const flag = other?.long ?? (everyPage ? '--all' : undefined)
  if (flag !== undefined) throw new AppError('USAGE', `${flag} and --by ${by} contradict each other. Give only one.`)
  return kind
}

/** Refuses what is contradictory or missing, and then runs the command in the way that its arguments and flags say. */
async function run<Out, Row>(invocation: Invocation<Out, Row>, branch: string): Promise<void> {
  const { cli, leaf, view, shape, flags } = invocation
  formatOf(cli.terminal, flags) // refuses contradictory flags before anything is done
  await takeStdin(invocation)
  const given = givenValues({ leaf, ...shape })
  if (flags.asCurl) return (await import('./ascurl.js')).showRequests(invocation, given, severalNames(invocation))
  if (flags.everyPage) assertAllPages(given)
  if (view.follow && flags.follow) return follow(invocation, given)
  const names = severalNames(invocation)
  if (view.requiresChange) assertChange(invocation, given, names !== undefined)
  await assertComplete(invocation, given)
  await assertActingAs(invocation)
  if (view.lines && leaf.args[0] === '-') return createEach(invocation, branch.replace(/s$/, ''), given)
  if (names) return actOnEach(invocation, given, names)
  await askAboutSimilar(invocation, given)
  const gathered = await complete(invocation, given)
  const input = await inputOf(invocation, gathered.values)
  if (shape.list !== undefined && flags.everyPage) return printAllPages(invocation, shape.list, input)
  return runOnce(invocation, input, gathered)
}

/** Puts the lines of stdin in place of `-` in a list of arguments. */
async function takeStdin<Out, Row>({ cli, leaf, shape }: Invocation<Out, Row>): Promise<void> {
  if (shape.joined?.type !== 'array' || !leaf.args.includes('-')) return
  const { namesGiven } = await import('./several.js')
  const first = shape.positional.length - 1
  leaf.args.splice(first, leaf.args.length, ...(await namesGiven(cli.terminal, leaf.args.slice(first))))
}

async function follow<Out, Row>(invocation: Invocation<Out, Row>, given: Values): Promise<void> {
  const { view, flags, connect } = invocation
  if (flags.everyPage) throw new AppError('USAGE', 'Give either --all or --follow, not both.')
  const call = await connect()
  return view.follow?.(call, await inputOf(invocation, given), flags)
}

/** The names, if a command that takes several was given more than one, or is to read them from stdin. */
function severalNames<Out, Row>({ leaf, view, shape }: Invocation<Out, Row>): readonly string[] | undefined {
  const names = leaf.args.slice(shape.positional.length - 1) // only the last can be several
  const takesSeveral = shape.joined === undefined && view.usage.includes('...')
  return takesSeveral && (names.length > 1 || names.includes('-')) ? names : undefined
}

/** Before anything is written in an editor. Scripts are not asked, nor are those who say --if-not-exists. */
async function askAboutSimilar<Out, Row>(invocation: Invocation<Out, Row>, given: Values): Promise<void> {
  const { cli, view, flags, connect } = invocation
  if (!view.similar || flags.yes || flags.dryRun || flags.ifNotExists) return
  if (!canPrompt(cli.terminal, flags) || !cli.terminal.stdout.isTTY || isMachineReadable(flags)) return
  const call = await connect()
  await assertSignedIn(invocation, call)
  const similar = await view.similar(call, given)
  if (similar.length === 0) return
  tell(cli.terminal, printableLines(['There are similar ones:', ...similar.map((line) => `  ${line}`)].join('\n')))
  await confirm(cli.terminal, flags, 'Create another?')
}

async function printAllPages<Out, Row>(invocation: Invocation<Out, Row>, list: string, input: Values): Promise<void> {
  const { cli, view, flags, connect, shape } = invocation
  const call = await connect()
  const op = operationFor(invocation, input)
  const order = steadyOrder(shape.fields, input)
  return streamAll(cli.terminal, flags, {
    read: (page: object) => call(op, { ...input, ...page }),
    ...(order && { steadily: (page: object) => call(op, { ...input, ...view.input?.steadily?.(input), ...order, ...page }) }), // prettier-ignore
    output: view.output,
    list,
    empty: emptyOf(invocation, input),
  })
}

/** A steady order for a list that was asked for in another. */
function steadyOrder(fields: readonly Field[], input: Values): Values | undefined {
  const moving = fields.find(({ name, steady }) => steady && input[name] !== undefined && !steady.includes(input[name] as string)) // prettier-ignore
  return moving && { [moving.name]: moving.steady?.[0] }
}

/** Asks for confirmation, calls the operation, and shows its answer. */
async function runOnce<Out, Row>(
  invocation: Invocation<Out, Row>,
  input: Values,
  { generated, edited }: Gathered,
): Promise<void> {
  const { cli, view, flags, connect, present } = invocation
  const removed = await view.deletes?.(await connect(), input)
  const confirmation = flags.dryRun ? undefined : await view.confirm?.(await connect(), input)
  if (confirmation !== undefined) await confirm(cli.terminal, flags, confirmation)
  const answer = await callOperation(invocation, input).catch(async (error: unknown) => {
    if (edited) (await import('../terminal/editor.js')).saveText(cli.terminal, edited)
    throw error
  })
  const password = flags.dryRun ? undefined : generated
  if (password !== undefined && !hasWholeBody(cli.terminal, flags))
    (await import('../prompts/inputs.js')).showPassword(cli.terminal, password)
  const saved = view.saves && (await (await import('./files.js')).saveFile(invocation, answer))
  if (saved !== 'stdout') await show(invocation, { answer, input, removed, password })
  if (!flags.dryRun && !present.has(answer) && view.sendsMail?.(input))
    await (await import('../connection/delivery.js')).deliverLocally(cli)
}
