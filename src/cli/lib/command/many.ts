import { AppError } from '../../../core/errors.js'
import type { Values } from '../flags/fieldoption.js'
import { isSource } from '../flags/options.js'
import { resultOf, saidOf } from './answer.js'
import { atomically, callOperation, createOnce, mustLock } from './call.js'
import { complete, inputOf } from './input.js'
import { connectionOf, type Invocation } from './invocation.js'
import type { CreateGroup } from './linegroups.js'

/** Does the same to each of several things, whose names are arguments or lines of stdin. */
export async function actOnEach<Out, Row>(
  invocation: Invocation<Out, Row>,
  given: Values,
  typed: readonly string[],
): Promise<void> {
  const { cli, leaf, view, shape, flags, connect } = invocation
  const { actOnAll, fixesAfter, namesGiven } = await import('./several.js')
  assertSources(given, typed)
  const names = await namesGiven(cli.terminal, typed)
  const { values } = await complete(invocation, given, { isSeveral: true })
  const field = shape.positional.at(-1) ?? ''
  const inputFor = (name: string) => inputOf(invocation, { ...values, [field]: name })
  const { confirm } = view
  return actOnAll(cli.terminal, flags, {
    names,
    verb: leaf.name().replaceAll('-', ' '),
    noun: /(\w+)\.\.\./.exec(view.usage)?.[1] ?? field,
    columns: view.output.columns,
    id: view.output.id,
    fixesFor: fixesAfter(leaf, cli.terminal.args, names),
    question: confirm && (async (name) => confirm(await connect(), await inputFor(name))),
    async act(name) {
      const input = await inputFor(name)
      const removed = await view.deletes?.(await connect(), input)
      const answer = await callOperation(invocation, input)
      const said = await saidOf(invocation, { answer, input, removed })
      return { ...resultOf(invocation, answer, removed), said }
    },
  })
}

function assertSources(given: Values, typed: readonly string[]): void {
  const sources = Object.values(given).filter(isSource)
  if (typed.includes('-') && sources.some(({ kind, value }) => kind === 'file' && value === '-'))
    throw new AppError('USAGE', 'The names and a text cannot both be read from stdin. Use a file for the text.')
  if (sources.some(({ kind }) => kind === 'random'))
    throw new AppError('USAGE', 'One password for several users is not safe. Generate one for each of them.')
}

/** Creates what the lines of stdin say. The flags are for all of them; the cells of a line win. */
export async function createEach<Out, Row>(
  invocation: Invocation<Out, Row>,
  noun: string,
  given: Values,
): Promise<void> {
  const { cli, leaf, view, shape, flags } = invocation
  const { createLines } = await import('./createlines.js')
  const { fixesAfter } = await import('./several.js')
  await createLines(cli, flags, {
    noun,
    main: shape.main,
    given,
    options: shape.options,
    view,
    columns: shape.columns,
    complete: async (forAll) => (await complete(invocation, forAll, { isSeveral: true })).values,
    create: await groupsOf(invocation),
    fixesFor: fixesAfter(leaf, cli.terminal.args, ['-']),
  })
}

/** How a group of lines is created. */
async function groupsOf<Out, Row>(invocation: Invocation<Out, Row>): Promise<CreateGroup<Row>> {
  const { cli, op, view, flags, connect } = invocation
  const outcomeOf = (answer: Out) => ({ ...resultOf(invocation, answer, undefined), said: undefined })
  const inputFor = (values: Values) => inputOf(invocation, values)
  const { lines } = view
  if (typeof lines === 'object') {
    const { createByUpload } = await import('./uploadlines.js')
    return createByUpload({ op, upload: lines, ifNotExists: flags.ifNotExists === true, connect, inputOf: inputFor, outcomeOf }) // prettier-ignore
  }
  const { createTogether } = await import('./linegroups.js')
  const connection = { ...connectionOf(invocation), looks: mustLock(invocation) }
  return createTogether({
    together: lines === 'together' ? (work) => cli.together(connection, work) : undefined,
    alone: (work) => atomically(invocation, work),
    inputOf: inputFor,
    async create(call, input) {
      const { answer, wasThere } =
        flags.ifNotExists && view.existing
          ? await createOnce(invocation, call, input, view.existing)
          : { answer: await call(op, input), wasThere: false }
      return { outcome: outcomeOf(answer), wasThere }
    },
  })
}
