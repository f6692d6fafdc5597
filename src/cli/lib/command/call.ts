import { AppError } from '../../../core/errors.js'
import type { AnyOperation, Call } from '../../../service/lib/operation.js'
import type { Values } from '../flags/fieldoption.js'
import { connectionOf, type Invocation } from './invocation.js'
import type { Existing } from './view.js'

/** Calls the operation, or what the view and the flags put in its place. */
export async function callOperation<Out, Row>(invocation: Invocation<Out, Row>, input: Values): Promise<Out> {
  const { view, flags, connect } = invocation
  const { existing } = view
  if (flags.ifNotExists && existing)
    return (await atomically(invocation, (call) => createOnce(invocation, call, input, existing))).answer
  const call = await connect()
  if (flags.as === undefined || typeof view.as !== 'object') return call(operationFor(invocation, input), input)
  const { op, fields } = view.as
  return (await call(op as AnyOperation, fields(input, flags.as))) as Out
}

/** The operation for this input: by contract with the same output. */
export const operationFor = <Out, Row>({ op, view }: Invocation<Out, Row>, input: Values) =>
  (view.instead?.(input) ?? op) as typeof op

/** Whether the existence check and the creation must be atomic. */
export const mustLock = <Out, Row>({ flags, view }: Invocation<Out, Row>): boolean =>
  flags.ifNotExists === true && view.existing?.unique !== true

/** Runs calls: as one transaction if they look for what they create and the database is here, else each by itself. */
export async function atomically<Out, Row, T extends object>(
  invocation: Invocation<Out, Row>,
  work: (call: Call) => Promise<T>,
): Promise<T> {
  const { cli, flags, connect } = invocation
  const attempt = async () =>
    (mustLock(invocation) ? await cli.together({ ...connectionOf(invocation), looks: true }, work) : undefined) ??
    work(await connect())
  return attempt().catch((error: unknown) => {
    if (!flags.ifNotExists || !(error instanceof AppError) || error.exit !== 5) throw error
    return attempt() // someone who holds no lock created it meanwhile: now it is found
  })
}

/** Creates a thing unless it exists, with --if-not-exists. */
export async function createOnce<Out, Row>(
  { op, present }: Invocation<Out, Row>,
  call: Call,
  input: Values,
  existing: Existing<Out>,
): Promise<{ answer: Out; wasThere: boolean }> {
  const { createUnlessThere } = await import('./existing.js')
  const once = await createUnlessThere(call, op, input, existing)
  if (once.wasThere) present.add(once.answer)
  return once
}
