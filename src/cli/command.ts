import { Option, type Command } from 'commander'
import { AppError } from '../core/errors.js'
import { coerce, fieldsOf, type Field } from '../core/fields.js'
import type { PageInfo } from '../core/pages.js'
import type { Call, Operation } from '../service/operation.js'
import { confirm } from './ask.js'
import { formatOf, print, type OutputFlags } from './output.js'
import { streamAll } from './pages.js'
import type { Cli } from './session.js'
import type { Column } from './table.js'
import { say } from './terminal.js'
import { typed, withOptions, withoutOption } from './typed.js'

/** What the command line adds to an operation: the words that are typed, and an answer as rows. */
export interface View<In, Out, Row> {
  words: string // with the field that is positional: 'create <name>', 'show <url:board>' (field, then the word to show)
  examples: readonly string[]
  columns: readonly Column<Row>[]
  rows(this: void, answer: Out): readonly Row[]
  id(this: void, row: Row): string
  list?: keyof Out & string // the key of the rows in the body, if they are a list that has pages
  hidden?: readonly string[] // fields that are not offered as flags
  preset?: Partial<In> // what is sent when a flag is not given, where the operator's default differs from the visitor's
  loses?(this: void, call: Call, input: Record<string, unknown>): Promise<string> // the question before something is lost
  done?(this: void, answer: Out, input: Record<string, unknown>): string // said when a change was made
}

interface Flags extends OutputFlags {
  dryRun?: boolean
  all?: boolean
  yes?: boolean
  input?: boolean
}

/** Makes a command of an operation: its schema gives the flags, its view gives the words and the table. */
export function command<In, Out, Row, Subject>(parent: Command, op: Operation<In, Out, Subject>, view: View<In, Out, Row>, cli: Cli): void {
  const positional = [...view.words.matchAll(/[<[](\w+)(?::\w+)?[>\]]/g)].map(([, name]) => name as string)
  const writes = !op.http.startsWith('GET')
  const made = parent.command(view.words.replaceAll(/(\w+):(\w+)/g, '$2')).description(op.summary)
  const offered = fieldsOf(op.input).filter((field) => !positional.includes(field.name) && !view.hidden?.includes(field.name))
  for (const field of offered) made.addOption(optionOf(field, view.preset?.[field.name as keyof In] ?? field.default))
  if (view.list) made.option('--all', 'every page, one after the other')
  if (writes) made.option('--dry-run', 'check everything and show the answer, but change nothing')
  if (view.loses) made.option('-y, --yes', 'do not ask before something is lost')
  made.addHelpText('before', `Examples:\n${view.examples.map((line) => `  $ feedbackctl ${line}`).join('\n')}\n`)
  const verb = made.name()
  if (verb === 'list') made.alias('ls')
  if (verb === 'delete') made.alias('rm')

  made.action(async () => {
    const flags = made.optsWithGlobals<Flags>()
    formatOf(cli.terminal, flags) // a contradiction is said before anything is done
    const call = await cli.connect({ dryRun: flags.dryRun ?? false })
    const local = made.opts<Record<string, unknown>>()
    const given = Object.fromEntries(
      [...offered.map(({ name }) => [name, local[name]]), ...positional.map((name, index) => [name, made.args[index]])].filter(
        ([, value]) => value !== undefined,
      ),
    )
    const input = coerce(op.input, { ...view.preset, ...given })
    if (view.loses && !flags.dryRun) await confirm(cli.terminal, flags, await view.loses(call, input))
    if (view.list && flags.all && ['limit', 'page', 'after'].some((name) => given[name] !== undefined)) {
      throw new AppError('USAGE', '--all prints every page: leave --limit, --page and --after out.')
    }
    if (view.list && flags.all) return streamAll(cli.terminal, flags, { call, op, input, view, list: view.list })
    const answer = await call(op, input)
    await print(cli.terminal, flags, {
      body: answer,
      rows: view.rows(answer),
      columns: view.columns,
      id: view.id,
      single: !view.list && op.id.split('.')[1] !== 'search',
    })
    const human = !['json', 'jsonl', 'yaml'].includes(formatOf(cli.terminal, flags)) && !flags.quiet
    if (view.list) footer(cli, view.rows(answer).length, answer as Paged, human)
    else if (view.done && human) say(cli.terminal, (flags.dryRun ? 'Dry run, nothing was changed: ' : '') + view.done(answer, input))
  })
}

function optionOf(field: Field, preset: unknown): Option {
  const kebab = field.name.replaceAll('_', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const otherwise = preset === undefined ? '' : ` (default: ${[preset].flat().map(String).join(',')})`
  const choices = field.choices ? ` (${field.choices.join(', ')})` : ''
  const placeholder = { string: 'text', integer: 'n', boolean: 'true|false', array: 'list' }[field.type]
  const option = new Option(`--${kebab} <${placeholder}>`, field.description + choices + otherwise)
  option.attributeName = () => field.name
  return option
}

interface Paged {
  page_info: PageInfo
  total_count: number
  total_pages: number
}

/** Where one is and the command for the next page, on stderr. */
function footer({ terminal }: Cli, shown: number, { page_info: page, total_count: total, total_pages: pages }: Paged, human: boolean): void {
  if (!human) return
  if (total === 0) return say(terminal, 'There is nothing yet.')
  if (shown === 0)
    return say(terminal, `Page ${page.current_page} is past the end: there ${pages === 1 ? 'is 1 page' : `are ${pages} pages`}, of ${total} in all.`)
  if (!terminal.stderr.isTTY) return
  say(
    terminal,
    `${page.current_page === null ? '' : `Page ${page.current_page} of ${pages} · `}${shown} of ${total}${page.has_next_page ? ` · next: ${nextCommand(terminal.args, page)}` : ''}`,
  )
}

function nextCommand(args: readonly string[], page: PageInfo): string {
  const byCursor = args.some((arg) => arg === '--after' || arg.startsWith('--after='))
  const rest = withoutOption(withoutOption(args, '--after'), '--page')
  return typed(withOptions(rest, ...(byCursor ? ['--after', page.end_cursor ?? ''] : ['--page', String((page.current_page ?? 1) + 1)])))
}
