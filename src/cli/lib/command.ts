import type { Command } from 'commander'
import { AppError } from '../../core/errors.js'
import { coerce, fieldsOf } from '../../core/fields.js'
import { printableLines } from '../../core/text.js'
import type { AnyOperation, Call, Operation } from '../../service/lib/operation.js'
import { setFixes } from './fixes.js'
import type { Gathered } from './inputs.js'
import { flagNames, optionsOf } from './options.js'
import { formatOf, isStructured, print, type OutputFlags } from './output.js'
import { footer, streamAll } from './pages.js'
import { confirm } from './prompts.js'
import type { Cli } from './session.js'
import { canPrompt, say } from './terminal.js'
import type { Values, View } from './view.js'

interface Flags extends OutputFlags {
  dryRun?: boolean
  all?: boolean
  yes?: boolean
  input?: boolean
  as?: string
}

/** Whether an operation can succeed on a site that does not exist yet: it creates something, or changes a setting. */
const begins = (http: string): boolean => http.endsWith(' 201') || /^P\w+ \/settings/.test(http)

/** Adds the command of an operation. Its schema defines the flags, its view the usage and the output. */
export function command<In, Out, Row, Subject>(
  parent: Command,
  op: Operation<In, Out, Subject>,
  view: View<In, Out, Row>,
  cli: Cli,
): void {
  const { output, input: inputView = {} } = view
  const pages = typeof output.list === 'string' ? output.list : undefined
  const positional = [...view.usage.matchAll(/[<[](\w+)(?::\w+)?[>\]]/g)].map(([, name]) => name as string)
  const leaf = parent.command(view.usage.replaceAll(/(\w+):(\w+)/g, '$2')).description(op.summary)
  const flagFields = fieldsOf(op.input).filter(
    ({ name }) => !positional.includes(name) && !inputView.hidden?.includes(name),
  )
  const options = optionsOf(flagFields, inputView)
  for (const option of options) leaf.addOption(option)
  if (view.as) leaf.option('--as <user>', 'act as this account: e-mail address, user name or id')
  if (pages !== undefined) leaf.option('--all', 'print all pages')
  if (view.done) leaf.option('--dry-run', 'check the request and show the result, but change nothing')
  if (view.confirm) leaf.option('-y, --yes', 'skip the confirmation prompt')
  if (view.fixes) setFixes(leaf, view.fixes)
  leaf.addHelpText('before', `Examples:\n${view.examples.map((line) => `  $ feedbackctl ${line}`).join('\n')}\n`)
  const verb = leaf.name()
  if (verb === 'list') leaf.alias('ls')
  if (verb === 'delete') leaf.alias('rm')

  leaf.action(async () => {
    const flags = leaf.optsWithGlobals<Flags>()
    formatOf(cli.terminal, flags) // refuses contradictory flags before anything is done
    const given = givenValues()
    if (pages !== undefined && flags.all && ['limit', 'page', 'after'].some((name) => given[name] !== undefined))
      throw new AppError('USAGE', '--all prints all pages. It cannot be combined with --limit, --page or --after.')
    if (view.requiresChange) assertChange(flags, given)
    const connect = await connector(flags)
    const { values, generated, edited } = await complete(flags, given, connect)
    const input = coerce(op.input, { ...inputView.defaults, ...values })
    if (pages !== undefined && flags.all)
      return streamAll(cli.terminal, flags, { call: await connect(), op, input, output, list: pages })
    const removed =
      isStructured(formatOf(cli.terminal, flags)) || flags.quiet
        ? await view.deletes?.(await connect(), input)
        : undefined
    const answer = await run(flags, input, connect).catch(async (error: unknown) => {
      if (edited) (await import('./editor.js')).saveText(cli.terminal, edited)
      throw error
    })
    const password = flags.dryRun ? undefined : generated
    if (password !== undefined && !isStructured(formatOf(cli.terminal, flags)))
      (await import('./inputs.js')).showPassword(cli.terminal, password)
    await show(flags, answer, input, { password, removed })
    if (!flags.dryRun && view.sendsMail?.(input)) await (await import('./mail.js')).deliverLocally(cli)
  })

  async function run(flags: Flags, input: Values, connect: () => Promise<Call>): Promise<Out> {
    const call = await connect()
    const confirmation = flags.dryRun ? undefined : await view.confirm?.(call, input)
    if (confirmation !== undefined) await confirm(cli.terminal, flags, confirmation)
    if (flags.as === undefined || typeof view.as !== 'object') return call(op, input)
    const { op: onBehalf, fields } = view.as
    return (await call(onBehalf as AnyOperation, fields(input, flags.as))) as Out
  }

  /** A generated password is in the output where a program reads that. */
  async function show(
    flags: Flags,
    answer: Out,
    input: Values,
    { password, removed }: { password: string | undefined; removed: Row | undefined },
  ): Promise<void> {
    const { columns, id } = output
    const format = formatOf(cli.terminal, flags)
    const secret = password === undefined ? {} : { password }
    const rows = (removed === undefined ? output.rows(answer) : [removed]).map((each) =>
      isStructured(format) ? { ...each, ...secret } : each,
    )
    const body =
      removed === undefined ? (password === undefined ? answer : { ...answer, ...secret }) : { deleted: removed }
    await print(cli.terminal, flags, { body, rows, columns, id, single: !output.list })
    if (flags.quiet || isStructured(format)) return
    if (pages !== undefined) {
      const numbered = flagFields.some(({ name }) => name === 'page')
      return footer(cli.terminal, answer, { list: pages, shown: rows.length, numbered })
    }
    if (rows.length === 0 && output.empty) return say(cli.terminal, printableLines(output.empty(input)))
    if (!view.done) return
    const done = printableLines(view.done(answer, input, (await cli.config()).get('server')))
    say(cli.terminal, (flags.dryRun ? 'Dry run, nothing was changed: ' : '') + done)
  }

  /** Refuses a command without a change, unless the change can be written in the editor. */
  function assertChange(flags: Flags, given: Values): void {
    const identifying: readonly string[] = [...positional, ...(inputView.prompts ?? [])]
    if (Object.keys(given).some((name) => !identifying.includes(name))) return
    if (inputView.editor && canPrompt(cli.terminal, flags)) return
    const names = flagNames(options.filter(({ field }) => !identifying.includes(field)))
    const list = new Intl.ListFormat('en', { type: 'disjunction' }).format(names)
    throw new AppError('USAGE', `Nothing to change. Give ${list}.`)
  }

  function givenValues(): Values {
    const opts = leaf.opts<Values>()
    const all = [
      ...flagFields.map(({ name }) => [name, opts[name]]),
      ...positional.map((name, index) => [name, leaf.args[index]]),
    ]
    return Object.fromEntries(all.filter(([, value]) => value !== undefined))
  }

  /** Connects late, so that missing input is reported first; but before any prompt if a server would refuse --as. */
  async function connector({ dryRun = false, as }: Flags): Promise<() => Promise<Call>> {
    const creating = !dryRun && begins(op.http)
    if (as === undefined || view.as !== true) return async () => cli.connect({ dryRun, creating })
    const call = await cli.connect({ dryRun, creating, as })
    return async () => call
  }

  /** Loads the code for files, prompts and the editor only if the command may need it. */
  async function complete(flags: Flags, given: Values, connect: () => Promise<Call>): Promise<Gathered> {
    const { text, editor, prompts = [] } = inputView
    if (text === undefined && prompts.length === 0 && !options.some(({ secret }) => secret)) return { values: given }
    const { gather } = await import('./inputs.js')
    return gather(cli.terminal, flags, {
      given,
      fields: flagFields,
      options,
      prompts,
      newPassword: inputView.generated,
      text,
      initialText: async (values) => editor?.(await connect(), values),
    })
  }
}
