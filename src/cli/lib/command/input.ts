import { coerce } from '../../../core/fields.js'
import type { Call } from '../../../service/lib/operation.js'
import type { Values } from '../flags/fieldoption.js'
import { nothingToChange } from '../flags/given.js'
import { withTimes } from '../flags/times.js'
import type { Gathered } from '../prompts/inputs.js'
import { canPrompt } from '../terminal/terminal.js'
import { promptedArguments } from './declaration.js'
import type { Invocation } from './invocation.js'

/** Refuses a command without a change, unless the change can be written in the editor. */
export function assertChange<Out, Row>(
  { cli, view, shape, flags }: Invocation<Out, Row>,
  given: Values,
  isSeveral: boolean,
): void {
  const { prompts = [], finds, editor } = view.input ?? {}
  const identifying: readonly string[] = [
    ...shape.positional,
    ...prompts,
    ...(finds?.fields ?? []),
    ...shape.fields.filter(({ condition }) => condition).map(({ name }) => name),
  ]
  if (Object.keys(given).some((name) => !identifying.includes(name))) return
  if (editor && !isSeveral && canPrompt(cli.terminal, flags)) return
  throw nothingToChange(shape.options, identifying)
}

/** Refuses a command that lacks an argument which only a terminal could prompt for. */
export async function assertComplete<Out, Row>(
  { cli, leaf, view, shape, flags }: Invocation<Out, Row>,
  given: Values,
): Promise<void> {
  const { prompts = [] } = view.input ?? {}
  const isLacking = (name: string) => given[name] === undefined
  // What a prompt or a file may give is missed later
  const lacksOption = shape.options.some(({ long, field, secret }) => shape.required.includes(long ?? '') && !secret && !prompts.includes(field) && field !== view.input?.text && isLacking(field)) // prettier-ignore
  const lacksArgument = !canPrompt(cli.terminal, flags) && Object.values(promptedArguments(leaf, view, shape)).some(isLacking) // prettier-ignore
  if (!lacksOption && !lacksArgument) return
  const { missingArguments } = await import('../flags/missing.js')
  throw missingArguments(leaf, cli.terminal.args, false)
}

/**
 * Adds what files, stdin, prompts and the editor have to the values of the flags. Loads the code for that only if the
 * command may need it. The editor is for one thing alone.
 */
export async function complete<Out, Row>(
  invocation: Invocation<Out, Row>,
  given: Values,
  { isSeveral = false } = {},
): Promise<Gathered> {
  const { cli, view, flags, shape, connect } = invocation
  const { text, texts, editor, unless = {}, generated } = view.input ?? {}
  const prompts = (view.input?.prompts ?? []).filter((name) => given[unless[name] ?? ''] === undefined)
  const { fields, options } = shape
  if (!text && !texts && prompts.length === 0 && !options.some(({ secret }) => secret)) return { values: given }
  const { gather } = await import('../prompts/inputs.js')
  return gather(cli.terminal, flags, {
    given,
    fields,
    options,
    prompts,
    newPassword: generated,
    text,
    initialText: async (values) => {
      if (isSeveral || !editor) return undefined
      const call = await connect()
      await assertSignedIn(invocation, call)
      return editor(call, values)
    },
  })
}

/** Nobody should write a text that a server then refuses. */
export async function assertSignedIn<Out, Row>({ op, cli }: Invocation<Out, Row>, call: Call): Promise<void> {
  if (op.access === 'public' || (await cli.config()).get('server') === undefined) return
  const { profile } = await import('../../../service/profile.js')
  await call(profile, {})
}

/** The input of the operation: the values with defaults, as the schema has them, and with the fields that find the row. */
export async function inputOf<Out, Row>(invocation: Invocation<Out, Row>, values: Values): Promise<Values> {
  const { op, view, cli } = invocation
  const input = coerce(op.input, { ...view.input?.defaults, ...values, ...(await located(invocation, values)) })
  return withTimes(op.input, input, cli.terminal.now())
}

/** The fields that say where the row is, unless all of them were given. */
async function located<Out, Row>({ view, connect }: Invocation<Out, Row>, values: Values): Promise<Values> {
  const finds = view.input?.finds
  if (!finds || finds.fields.every((name) => values[name] !== undefined)) return {}
  return finds.from(await connect(), values)
}
