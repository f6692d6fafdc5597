import type { Command } from 'commander'
import { AppError } from '../core/errors.js'
import { coerce, fieldsOf } from '../core/fields.js'
import type { AnyOperation, Call, Operation } from '../service/operation.js'
import { confirm, type Loss } from './ask.js'
import { optionsOf } from './options.js'
import { formatOf, print, type OutputFlags } from './output.js'
import { footer, streamAll } from './pages.js'
import type { Cli } from './session.js'
import type { Column } from './table.js'
import { say } from './terminal.js'

type Values = Record<string, unknown>

/** What the command line adds to an operation: the words that are typed, and an answer as rows. */
export interface View<In, Out, Row> {
  words: string // with the field that is positional: 'create <name>', 'show <url:board>' (field, then the word to show)
  examples: readonly string[]
  columns: readonly Column<Row>[]
  rows(this: void, answer: Out): readonly Row[]
  id(this: void, row: Row): string
  list?: (keyof Out & string) | `${keyof Out & string}.results` // the key of the rows in the body, if they are a list that has pages
  many?: true // any number of rows, without pages
  hidden?: readonly string[] // fields that are not offered as flags
  flags?: Partial<Record<keyof In & string, string>> // the flag of a field, where another word is better: { boardId: 'board' }
  preset?: Partial<In> // what is sent when a flag is not given, where the operator's default differs from the visitor's
  text?: keyof In & string // a long text, that may come from a file as well
  edits?(this: void, call: Call, input: Values): Promise<string | undefined> // the text that the editor starts with; undefined: no editor
  asks?: readonly (keyof In & string)[] // asked for on a terminal when they are missing
  generates?: keyof In & string // a secret that --generate-… makes up
  as?: true | Behalf // --as: in whose name, here; or what does the same for somebody else, here and on a server
  loses?(this: void, call: Call, input: Values): Promise<Loss> // the question before something is lost
  done?(this: void, answer: Out, input: Values): string // said when a change was made
}

/** An operation that does for somebody else what another does for oneself, and answers alike. */
interface Behalf {
  op: unknown
  fields(this: void, input: Values, who: string): Values
}

interface Flags extends OutputFlags {
  dryRun?: boolean
  all?: boolean
  yes?: boolean
  input?: boolean
  as?: string
}

/** Makes a command of an operation: its schema gives the flags, its view gives the words and the table. */
export function command<In, Out, Row, Subject>(parent: Command, op: Operation<In, Out, Subject>, view: View<In, Out, Row>, cli: Cli): void {
  const positional = [...view.words.matchAll(/[<[](\w+)(?::\w+)?[>\]]/g)].map(([, name]) => name as string)
  const made = parent.command(view.words.replaceAll(/(\w+):(\w+)/g, '$2')).description(op.summary)
  const offered = fieldsOf(op.input).filter((field) => !positional.includes(field.name) && !view.hidden?.includes(field.name))
  const options = optionsOf(offered, view)
  for (const option of options) made.addOption(option)
  if (view.as) made.option('--as <user>', 'in the name of this account: e-mail address, user name or id')
  if (view.list) made.option('--all', 'every page, one after the other')
  if (view.done) made.option('--dry-run', 'check everything and show the answer, but change nothing')
  if (view.loses) made.option('-y, --yes', 'do not ask before something is lost')
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
    const reach = await inTheNameOf(flags)
    const { values, generated } = await complete(flags, given, reach)
    const call = await reach()
    const input = coerce(op.input, { ...view.preset, ...values })
    if (view.loses && !flags.dryRun) await confirm(cli.terminal, flags, await view.loses(call, input))
    if (view.list && flags.all) return streamAll(cli.terminal, flags, { call, op, input, view, list: view.list })
    const answer = (await onBehalf(call, flags, input)) ?? (await call(op, input))
    if (generated !== undefined && !flags.dryRun) (await import('./inputs.js')).showGenerated(cli.terminal, generated)
    const rows = view.rows(answer)
    await print(cli.terminal, flags, { body: answer, rows, columns: view.columns, id: view.id, single: !view.list && !view.many })
    if (flags.quiet || ['json', 'jsonl', 'yaml'].includes(formatOf(cli.terminal, flags))) return
    if (view.list) footer(cli.terminal, answer, { list: view.list, shown: rows.length, numbered: offered.some(({ name }) => name === 'page') })
    else if (view.done) say(cli.terminal, (flags.dryRun ? 'Dry run, nothing was changed: ' : '') + view.done(answer, input))
  })

  function typedValues(): Values {
    const local = made.opts<Values>()
    const all = [...offered.map(({ name }) => [name, local[name]]), ...positional.map((name, index) => [name, made.args[index]])]
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
  async function complete(flags: Flags, given: Values, reach: () => Promise<Call>): Promise<{ values: Values; generated?: string }> {
    const { text, edits, asks = [] } = view
    if (text === undefined && asks.length === 0 && !options.some(({ secret }) => secret)) return { values: given }
    const { gather } = await import('./inputs.js')
    const present = async (values: Values) => edits?.(await reach(), values)
    return gather(cli.terminal, flags, { what: `"${parent.name()} ${verb}"`, given, offered, options, asks, text, present })
  }
}
