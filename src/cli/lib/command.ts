import type { Command } from 'commander'
import { AppError } from '../../core/errors.js'
import { coerce, fieldsOf } from '../../core/fields.js'
import type { AnyOperation, Call, Operation } from '../../service/lib/operation.js'
import { confirm } from './ask.js'
import { setFixes } from './fixes.js'
import { flagsOf, optionsOf } from './options.js'
import { formatOf, print, type OutputFlags } from './output.js'
import { footer, streamAll } from './pages.js'
import type { Gathered } from './inputs.js'
import type { Cli } from './session.js'
import { canAsk, say } from './terminal.js'
import type { Values, View } from './view.js'

interface Flags extends OutputFlags {
  dryRun?: boolean
  all?: boolean
  yes?: boolean
  input?: boolean
  as?: string
}

/** Makes a command of an operation: its schema gives the flags, its view gives the words and the table. */
export function command<In, Out, Row, Subject>(
  parent: Command,
  op: Operation<In, Out, Subject>,
  view: View<In, Out, Row>,
  cli: Cli,
): void {
  const positional = [...view.words.matchAll(/[<[](\w+)(?::\w+)?[>\]]/g)].map(([, name]) => name as string)
  const made = parent.command(view.words.replaceAll(/(\w+):(\w+)/g, '$2')).description(op.summary)
  const offered = fieldsOf(op.input).filter(
    (field) => !positional.includes(field.name) && !view.hidden?.includes(field.name),
  )
  const options = optionsOf(offered, view)
  for (const option of options) made.addOption(option)
  if (view.as) made.option('--as <user>', 'in the name of this account: e-mail address, user name or id')
  if (view.list) made.option('--all', 'every page, one after the other')
  if (view.done) made.option('--dry-run', 'check everything and show the answer, but change nothing')
  if (view.loses) made.option('-y, --yes', 'do not ask before something is lost')
  if (view.fixes) setFixes(made, view.fixes)
  made.addHelpText('before', `Examples:\n${view.examples.map((line) => `  $ feedbackctl ${line}`).join('\n')}\n`)
  const verb = made.name()
  if (verb === 'list') made.alias('ls')
  if (verb === 'delete') made.alias('rm')

  made.action(async () => {
    const flags = made.optsWithGlobals<Flags>()
    formatOf(cli.terminal, flags) // a contradiction is said before anything is done
    const given = typedValues()
    if (view.list && flags.all && ['limit', 'page', 'after'].some((name) => given[name] !== undefined))
      throw new AppError('USAGE', '--all prints every page: leave --limit, --page and --after out.')
    assertChange(flags, given)
    const reach = await inTheNameOf(flags)
    const { values, generated, written } = await complete(flags, given, reach)
    const input = coerce(op.input, { ...view.preset, ...values })
    if (view.list && flags.all)
      return streamAll(cli.terminal, flags, { call: await reach(), op, input, view, list: view.list })
    const answer = await answerTo(flags, input, reach).catch(async (error: unknown) => {
      if (written) (await import('./editor.js')).keep(cli.terminal, written)
      throw error
    })
    if (generated !== undefined && !flags.dryRun) (await import('./inputs.js')).showGenerated(cli.terminal, generated)
    await show(flags, answer, input)
    if (!flags.dryRun && view.mails?.(input)) await (await import('./mail.js')).deliverHere(cli)
  })

  async function answerTo(flags: Flags, input: Values, reach: () => Promise<Call>): Promise<Out> {
    const call = await reach()
    const loss = flags.dryRun ? undefined : await view.loses?.(call, input)
    if (loss !== undefined) await confirm(cli.terminal, flags, loss)
    return (await onBehalf(call, flags, input)) ?? call(op, input)
  }

  async function show(flags: Flags, answer: Out, input: Values): Promise<void> {
    const rows = view.rows(answer)
    await print(cli.terminal, flags, {
      body: answer,
      rows,
      columns: view.columns,
      id: view.id,
      single: !view.list && !view.many,
    })
    if (flags.quiet || ['json', 'jsonl', 'yaml'].includes(formatOf(cli.terminal, flags))) return
    if (view.list)
      return footer(cli.terminal, answer, {
        list: view.list,
        shown: rows.length,
        numbered: offered.some(({ name }) => name === 'page'),
      })
    if (!view.done) return
    const done = view.done(answer, input, (await cli.config()).get('server'))
    say(cli.terminal, (flags.dryRun ? 'Dry run, nothing was changed: ' : '') + done)
  }

  /** To change nothing is a mistake, unless the change is going to be written in the editor. */
  function assertChange(flags: Flags, given: Values): void {
    const about: readonly string[] = [...positional, ...(view.asks ?? [])]
    if (!view.changes || Object.keys(given).some((name) => !about.includes(name))) return
    if (view.edits && canAsk(cli.terminal, flags)) return
    const ways = flagsOf(options.filter(({ field }) => !about.includes(field)))
    throw new AppError(
      'USAGE',
      `What should be changed? Give ${new Intl.ListFormat('en', { type: 'disjunction' }).format(ways)}.`,
    )
  }

  function typedValues(): Values {
    const local = made.opts<Values>()
    const all = [
      ...offered.map(({ name }) => [name, local[name]]),
      ...positional.map((name, index) => [name, made.args[index]]),
    ]
    return Object.fromEntries(all.filter(([, value]) => value !== undefined))
  }

  /** How the operations are reached. A name that a server would not take is refused before anything is asked. */
  async function inTheNameOf({ dryRun = false, as }: Flags): Promise<() => Promise<Call>> {
    if (as === undefined || view.as !== true) return async () => cli.connect({ dryRun })
    const call = await cli.connect({ dryRun, as })
    return async () => call
  }

  /** The operation that does the same for somebody else, if that is asked for. */
  async function onBehalf(call: Call, { as }: Flags, input: Values): Promise<Out | undefined> {
    if (as === undefined || typeof view.as !== 'object') return undefined
    const { op: other, fields } = view.as
    return (await call(other as AnyOperation, fields(input, as))) as Out
  }

  /** Most commands take words only, and load nothing for this. */
  async function complete(flags: Flags, given: Values, reach: () => Promise<Call>): Promise<Gathered> {
    const { text, edits, asks = [] } = view
    if (text === undefined && asks.length === 0 && !options.some(({ secret }) => secret)) return { values: given }
    const { gather } = await import('./inputs.js')
    const present = async (values: Values) => edits?.(await reach(), values)
    return gather(cli.terminal, flags, {
      what: `"${parent.name()} ${verb}"`,
      given,
      offered,
      options,
      asks,
      text,
      present,
    })
  }
}
