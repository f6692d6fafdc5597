import type { Command } from 'commander'
import { AppError } from '../../../core/errors.js'
import { coerce, fieldsOf } from '../../../core/fields.js'
import { printableLines } from '../../../core/text.js'
import type { AnyOperation, Call, Operation } from '../../../service/lib/operation.js'
import type { Cli } from '../connection/session.js'
import { setFixes } from '../errors/fixes.js'
import { lineColumns, linesNote } from '../flags/columns.js'
import type { Values } from '../flags/fieldoption.js'
import { givenValues, nothingToChange } from '../flags/given.js'
import { explain } from '../flags/helptext.js'
import { flagNames, isSource, optionsOf } from '../flags/options.js'
import { takeSwitchValues } from '../flags/switches.js'
import { withTimes } from '../flags/times.js'
import { formatOf, hasWholeBody, isStructured, print, type OutputFlags } from '../output/output.js'
import { allOption, assertAllPages, footer, nothingFound, streamAll } from '../output/pages.js'
import { withFields } from '../output/rowfields.js'
import { wouldHave, wouldLose } from '../prompts/dryrun.js'
import type { Gathered } from '../prompts/inputs.js'
import { confirm } from '../prompts/prompts.js'
import { canPrompt, tell } from '../terminal/terminal.js'
import type { Existing, View } from './view.js'

interface Flags extends OutputFlags {
  dryRun?: boolean
  everyPage?: boolean
  follow?: boolean
  yes?: boolean
  input?: boolean
  as?: string
  ifNotExists?: boolean
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
  const positional = [...view.usage.matchAll(/[<[](\w+)(?::\w+)?(?:\.\.\.)?[>\]]/g)].map(([, name]) => name as string)
  const [main = ''] = positional
  const isFlagged = (name: string): boolean =>
    (inputView.flagged as readonly string[] | undefined)?.includes(name) ?? false
  const leaf = parent.command(view.usage.replaceAll(/(\w+):(\w+)/g, '$2')).description(view.summary ?? op.summary)
  const flagFields = fieldsOf(op.input).filter(
    ({ name }) =>
      (!positional.includes(name) || isFlagged(name)) &&
      !inputView.hidden?.includes(name) &&
      (pages === undefined || name !== 'first'), // the same as limit
  )
  const options = optionsOf(flagFields, inputView)
  const joined = fieldsOf(op.input).find(({ name }) => name === inputView.joined)
  const lineFields = fieldsOf(op.input).filter((field) => field.name === main || flagFields.includes(field))
  const cells = view.lines ? lineColumns(lineFields, options, main) : []
  for (const option of options) leaf.addOption(isFlagged(option.field) ? option.hideHelp() : option)
  if (view.as !== false)
    leaf.option(
      '--as <user>',
      `act as this user: e-mail address, user name or id${typeof view.as === 'object' ? ` (${view.as.needs})` : ''}`,
    )
  if (pages !== undefined) leaf.addOption(allOption())
  if (view.follow) leaf.option('--follow', 'print new rows as they come, until Ctrl-C')
  if (view.existing) leaf.option('--if-not-exists', `succeed without a change if there is ${view.existing.by} already`)
  if (view.done) leaf.option('--dry-run', 'check the request and show the result, but change nothing')
  if (view.confirm) leaf.option('-y, --yes', 'skip the confirmation prompt')
  if (view.fixes) setFixes(leaf, view.fixes)
  takeSwitchValues(leaf)
  withFields(leaf, async () => (await import('../output/choice.js')).fieldsOfRows(op.output, output))
  explain(leaf, {
    examples: view.examples,
    required: requiredFlags(),
    asked: askedArguments(),
    ...(view.lines && { notes: [linesNote(parent.name(), cells)] }),
  })
  const verb = leaf.name()
  if (verb === 'list') leaf.alias('ls')
  if (verb === 'delete') leaf.alias('rm')
  for (const word of view.formerly ?? []) leaf.alias(word)

  leaf.action(async () => {
    const flags = leaf.optsWithGlobals<Flags>()
    formatOf(cli.terminal, flags) // refuses contradictory flags before anything is done
    const given = givenValues({ leaf, fields: flagFields, positional, joined })
    if (flags.everyPage) assertAllPages(given)
    if (view.follow && flags.follow) {
      if (flags.everyPage) throw new AppError('USAGE', 'Give either --all or --follow, not both.')
      const connect = await connector(flags)
      return view.follow(await connect(), await inputOf(given, connect), flags)
    }
    const typed = leaf.args.slice(positional.length - 1) // only the last can be several
    const names = isSeveral(typed) ? typed : undefined
    if (view.requiresChange) assertChange(flags, given, names !== undefined)
    if (!canPrompt(cli.terminal, flags) && Object.values(askedArguments()).some((name) => given[name] === undefined))
      throw (await import('../flags/missing.js')).missingArguments(leaf, cli.terminal.args, false)
    const connect = await connector(flags)
    if (view.lines && leaf.args[0] === '-') return createEach(flags, given, connect)
    if (names) return actOnEach(flags, given, names, connect)
    const { values, generated, edited } = await complete(flags, given, connect)
    const input = await inputOf(values, connect)
    if (pages !== undefined && flags.everyPage)
      return streamAll(cli.terminal, flags, {
        read: await pagesOf(input, connect),
        output,
        list: pages,
        empty: emptyOf(input),
      })
    const removed = await view.deletes?.(await connect(), input)
    const confirmation = flags.dryRun ? undefined : await view.confirm?.(await connect(), input)
    if (confirmation !== undefined) await confirm(cli.terminal, flags, confirmation)
    const answer = await run(flags, input, connect).catch(async (error: unknown) => {
      if (edited) (await import('../terminal/editor.js')).saveText(cli.terminal, edited)
      throw error
    })
    const password = flags.dryRun ? undefined : generated
    if (password !== undefined && !hasWholeBody(cli.terminal, flags))
      (await import('../prompts/inputs.js')).showPassword(cli.terminal, password)
    await show(flags, answer, input, { password, removed, connect })
    if (!flags.dryRun && !there.has(answer) && view.sendsMail?.(input))
      await (await import('../connection/delivery.js')).deliverLocally(cli)
  })

  async function pagesOf(input: Values, connect: () => Promise<Call>) {
    const call = await connect()
    return (page: object) => call(opFor(input), { ...input, ...page })
  }

  /** Whether a command that takes several names was given more than one, or is to read them from stdin. */
  function isSeveral(names: readonly string[]): boolean {
    return inputView.joined === undefined && view.usage.includes('...') && (names.length > 1 || names.includes('-'))
  }

  async function actOnEach(
    flags: Flags,
    given: Values,
    typed: readonly string[],
    connect: () => Promise<Call>,
  ): Promise<void> {
    const { actOnAll, namesGiven } = await import('./several.js')
    const readers = Object.values(given).filter((value) => isSource(value) && value.kind === 'file' && value.value === '-') // prettier-ignore
    if (typed.includes('-') && readers.length > 0)
      throw new AppError('USAGE', 'The names and a text cannot both be read from stdin. Use a file for the text.')
    if (Object.values(given).some((value) => isSource(value) && value.kind === 'random'))
      throw new AppError('USAGE', 'One password for several users is not safe. Generate one for each of them.')
    const names = await namesGiven(cli.terminal, typed)
    const { values } = await complete(flags, given, connect, names)
    const field = positional.at(-1) ?? ''
    const inputFor = (name: string) => inputOf({ ...values, [field]: name }, connect)
    const { columns, id } = output
    const { confirm: question } = view
    return actOnAll(cli.terminal, flags, {
      names,
      verb: leaf.name().replaceAll('-', ' '),
      noun: /(\w+)\.\.\./.exec(view.usage)?.[1] ?? field,
      columns,
      id,
      question: question && (async (name) => question(await connect(), await inputFor(name))),
      async act(name) {
        const input = await inputFor(name)
        const removed = await view.deletes?.(await connect(), input)
        const answer = await run(flags, input, connect)
        const { body, rows } = resultOf(flags, answer, removed)
        return {
          body,
          rows,
          said: saysDone(flags) ? await saidOf(flags, answer, { input, removed, connect }) : undefined,
        }
      },
    })
  }

  /** Creates what the lines of stdin say. The flags are for all of them; the cells of a line win. */
  async function createEach(flags: Flags, given: Values, connect: () => Promise<Call>): Promise<void> {
    const { createLines } = await import('./createlines.js')
    await createLines(cli, flags, {
      noun: parent.name().replace(/s$/, ''),
      main,
      given,
      options,
      view,
      columns: cells,
      together: view.lines === 'together' ? (work) => cli.together({ ...connectionOf(flags), looks: looks(flags) }, work) : undefined, // prettier-ignore
      alone: (work) => alone(flags, connect, work),
      complete: async (forAll) => (await complete(flags, forAll, connect, [])).values,
      inputOf: (values) => inputOf(values, connect),
      async create(call, input) {
        const { answer, wasThere } =
          flags.ifNotExists && view.existing
            ? await createOnce(call, input, view.existing)
            : { answer: await call(op, input), wasThere: false }
        return { outcome: { ...resultOf(flags, answer, undefined), said: undefined }, wasThere }
      },
    })
  }

  async function inputOf(values: Values, connect: () => Promise<Call>): Promise<Values> {
    const input = coerce(op.input, { ...inputView.defaults, ...values, ...(await find(values, connect)) })
    return withTimes(op.input, input, cli.terminal.now())
  }

  /** The fields that say where the row is, unless all of them were given. */
  async function find(values: Values, connect: () => Promise<Call>): Promise<Values> {
    const { finds } = inputView
    if (!finds || finds.fields.every((name) => values[name] !== undefined)) return {}
    return finds.from(await connect(), values)
  }

  /** One flag for each field without which the command asks or fails. */
  function requiredFlags(): string[] {
    const { required = [] } = op.input as { required?: string[] }
    const { prompts = [], defaults, finds } = inputView
    const optional = [
      ...flagFields.filter((field) => field.default !== undefined).map(({ name }) => name),
      ...Object.keys(defaults ?? {}),
      ...(finds?.fields ?? []),
    ]
    const names = [...required, ...prompts].filter((name) => !optional.includes(name))
    return flagNames(options.filter(({ field, hidden }) => !hidden && names.includes(field)))
  }

  /** Arguments, by their names in the usage line, whose fields have a prompt. */
  function askedArguments(): Record<string, string> {
    const { prompts = [] } = inputView
    const asked = positional.flatMap((name, index) => {
      const shown = leaf.registeredArguments[index]?.name()
      return shown !== undefined && isFlagged(name) && (prompts as readonly string[]).includes(name)
        ? [[shown, name]]
        : []
    })
    return Object.fromEntries(asked) as Record<string, string>
  }

  async function run(flags: Flags, input: Values, connect: () => Promise<Call>): Promise<Out> {
    const { existing } = view
    if (flags.ifNotExists && existing)
      return (await alone(flags, connect, (call) => createOnce(call, input, existing))).answer
    const call = await connect()
    if (flags.as === undefined || typeof view.as !== 'object') return call(opFor(input), input)
    const { op: onBehalf, fields } = view.as
    return (await call(onBehalf as AnyOperation, fields(input, flags.as))) as Out
  }

  /** Whether the existence check and the creation must be atomic. */
  const looks = ({ ifNotExists = false }: Flags): boolean => ifNotExists && view.existing?.unique !== true

  /** Runs calls: as one transaction if they look for what they create and the database is here, else each by itself. */
  async function alone<T extends object>(
    flags: Flags,
    connect: () => Promise<Call>,
    work: (call: Call) => Promise<T>,
  ): Promise<T> {
    const attempt = async () =>
      (looks(flags) ? await cli.together({ ...connectionOf(flags), looks: true }, work) : undefined) ??
      work(await connect())
    return attempt().catch((error: unknown) => {
      if (!flags.ifNotExists || !(error instanceof AppError) || error.exit !== 5) throw error
      return attempt() // someone who holds no lock created it meanwhile: now it is found
    })
  }

  async function createOnce(call: Call, input: Values, existing: Existing<Out>) {
    const { createUnlessThere } = await import('./existing.js')
    const once = await createUnlessThere(call, op, input, existing)
    if (once.wasThere) there.add(once.answer)
    return once
  }

  const opFor = (input: Values) => (view.instead?.(input) ?? op) as typeof op // by contract with the same output

  /** A program gets what was deleted; for people it is named in what is said. */
  function resultOf(flags: Flags, answer: Out, removed: Row | undefined): { body: unknown; rows: readonly Row[] } {
    const isRead = isStructured(formatOf(cli.terminal, flags)) || flags.quiet || flags.fields !== undefined
    return removed === undefined || !isRead
      ? { body: answer, rows: output.rows(answer) }
      : { body: { deleted: removed }, rows: [removed] }
  }

  /** Answers about what was there already, with --if-not-exists. */
  const there = new Set<Out>()

  const saysDone = (flags: Flags): boolean => !flags.quiet && !isStructured(formatOf(cli.terminal, flags))

  /** A generated password is in the output where a program reads that. */
  async function show(
    flags: Flags,
    answer: Out,
    input: Values,
    {
      password,
      removed,
      connect,
    }: { password: string | undefined; removed: Row | undefined; connect: () => Promise<Call> },
  ): Promise<void> {
    const { columns, id } = output
    const format = formatOf(cli.terminal, flags)
    const secret = password === undefined ? {} : { password }
    const whole = resultOf(flags, answer, removed)
    const rows = whole.rows.map((each) => (isStructured(format) ? { ...each, ...secret } : each))
    const body = password === undefined ? whole.body : { ...answer, ...secret }
    await print(cli.terminal, flags, { body, rows, columns, id, single: !output.list })
    const verdict = view.verdict?.(answer, input)
    if (verdict) process.exitCode = verdict.exit
    if (!saysDone(flags)) return
    if (verdict) return tell(cli.terminal, printableLines(verdict.said))
    if (pages !== undefined) {
      const numbered = flagFields.some(({ name }) => name === 'page')
      return footer(cli.terminal, answer, { list: pages, shown: rows.length, numbered, empty: emptyOf(input) })
    }
    if (rows.length === 0 && output.list) return nothingFound(cli.terminal, emptyOf(input))
    const said = await saidOf(flags, answer, { input, removed, connect })
    if (said !== undefined) tell(cli.terminal, printableLines(said))
  }

  const emptyOf = (input: Values): string | undefined => output.empty && printableLines(output.empty(input))

  /** What was done, or what a dry run would have done and lost. */
  async function saidOf(
    flags: Flags,
    answer: Out,
    { input, removed, connect }: { input: Values; removed: Row | undefined; connect: () => Promise<Call> },
  ): Promise<string | undefined> {
    if (there.has(answer)) return `${view.existing?.said(answer)} exists already. Nothing was changed.`
    if (!view.done) return undefined
    const loss = flags.dryRun ? await view.confirm?.(await connect(), input) : undefined
    if (loss !== undefined) return wouldLose(loss)
    const named = (await view.names?.(await connect(), input)) ?? ''
    const done = view.done(answer, input, { server: (await cli.config()).get('server'), removed, named })
    return flags.dryRun ? wouldHave(done) : done
  }

  /** Refuses a command without a change, unless the change can be written in the editor. */
  function assertChange(flags: Flags, given: Values, several: boolean): void {
    const identifying: readonly string[] = [
      ...positional,
      ...(inputView.prompts ?? []),
      ...(inputView.finds?.fields ?? []),
      ...flagFields.filter(({ condition }) => condition).map(({ name }) => name),
    ]
    if (Object.keys(given).some((name) => !identifying.includes(name))) return
    if (inputView.editor && !several && canPrompt(cli.terminal, flags)) return
    throw nothingToChange(options, identifying)
  }

  /** Connects late, so that missing input is reported first; but before any prompt if a server would refuse --as. */
  async function connector(flags: Flags): Promise<() => Promise<Call>> {
    const connection = connectionOf(flags)
    if (connection.as === undefined) return async () => cli.connect(connection)
    const call = await cli.connect(connection)
    return async () => call
  }

  const connectionOf = ({ dryRun = false, as }: Flags) => ({
    dryRun,
    creating: !dryRun && begins(op.http),
    as: typeof view.as === 'object' ? undefined : as,
  })

  /** Loads the code for files, prompts and the editor only if the command may need it. */
  async function complete(
    flags: Flags,
    given: Values,
    connect: () => Promise<Call>,
    names?: readonly string[],
  ): Promise<Gathered> {
    const { text, editor, prompts = [] } = inputView
    if (text === undefined && prompts.length === 0 && !options.some(({ secret }) => secret)) return { values: given }
    const { gather } = await import('../prompts/inputs.js')
    return gather(cli.terminal, flags, {
      given,
      fields: flagFields,
      options,
      prompts,
      newPassword: inputView.generated,
      text,
      initialText: async (values) => {
        if (names || !editor) return undefined
        const call = await connect()
        await assertSignedIn(call)
        return editor(call, values)
      },
    })
  }

  /** Nobody should write a text that a server then refuses. */
  async function assertSignedIn(call: Call): Promise<void> {
    if (op.access === 'public' || (await cli.config()).get('server') === undefined) return
    const { profile } = await import('../../../service/profile.js')
    await call(profile, {})
  }
}
