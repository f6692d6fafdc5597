import { setTimeout as pause } from 'node:timers/promises'
import type { Command } from 'commander'
import { AppError } from '../core/errors.js'
import { counted, printable } from '../core/text.js'
import * as events from '../service/events.js'
import type { Event } from '../service/events.js'
import type { Call } from '../service/lib/operation.js'
import { ago } from './lib/age.js'
import { formatOf, print, type Format, type OutputFlags } from './lib/output.js'
import type { Cli } from './lib/session.js'
import type { Column } from './lib/table.js'
import { say, write, type Terminal } from './lib/terminal.js'
import { commandLine, withOptions, withoutOption } from './lib/commandline.js'

const whoDid = ({ actor, via, operator }: Event): string => {
  const person = actor?.username ?? (via === 'http' ? 'a visitor' : '')
  return via === 'http' ? person : [person, `cli:${operator}`].filter(Boolean).join(' by ')
}

const columns: Column<Event>[] = [
  { head: 'ID', text: (event) => String(event.id), right: true, drop: 0, whole: true },
  { head: 'WHAT', text: (event) => event.action, drop: 0 },
  { head: 'TO', text: (event) => event.subject ?? event.subject_id, drop: 0 },
  { head: 'PERSON', text: (event) => event.person?.username ?? '', drop: 3 },
  { head: 'WHO', text: whoDid, drop: 1 },
  {
    head: 'WHEN',
    text: (event) => event.created_at,
    shown: (event, _paint, now) => ago(event.created_at, now),
    drop: 1,
  },
  { head: 'TO ID', text: (event) => event.subject_id },
  { head: 'VIA', text: (event) => event.via },
]

interface Flags extends OutputFlags {
  follow?: boolean
  limit?: string
  after?: string
  created?: string
}

/** How often --follow asks, in milliseconds. */
const POLL = 1000

export function register(group: Command, cli: Cli): void {
  const made = group
    .command('list')
    .alias('ls')
    .description('List what was changed and by whom, newest first')
    .option('--follow', 'go on showing what happens, until Ctrl-C')
    .option('--limit <n>', 'events on a page, up to 100 (default: 10)')
    .option('--after <n>', 'the id of the event that the page comes after')
    .option('--created <text>', 'oldest or newest first (asc, desc) (default: desc)')
    .addHelpText(
      'before',
      'Examples:\n  $ feedbackctl events list\n  $ feedbackctl events list --follow\n  $ feedbackctl events list --created asc --after 120 -o jsonl\n',
    )
  made.action(async () => {
    const flags = made.optsWithGlobals<Flags>()
    const format = formatOf(cli.terminal, flags)
    if (flags.follow && (format === 'json' || format === 'yaml' || flags.created !== undefined))
      throw new AppError(
        'USAGE',
        '--follow prints one event after the other as they happen: use -o jsonl for machines, and leave --created out.',
      )
    const call = await cli.connect()
    if (flags.follow) return follow(cli.terminal, flags, call, format)
    const answer = await call(events.list, asked(flags, { created: flags.created ?? 'desc' }))
    await print(cli.terminal, flags, {
      body: answer,
      rows: answer.events,
      columns,
      id: (event) => String(event.id),
      single: false,
    })
    if (format !== 'table' && format !== 'wide') return
    if (answer.events.length === 0) say(cli.terminal, 'Nothing has happened there.')
    else if (cli.terminal.stderr.isTTY)
      say(
        cli.terminal,
        `${counted(answer.events.length, 'event')} · next: ${nextCommand(cli.terminal.args, answer.next)}`,
      )
  })
}

/** What was typed, as numbers where it is one; the operation refuses the rest. */
function asked({ limit, after }: Flags, order: { created: string }): object {
  const number = (text: string | undefined) => (text !== undefined && /^\d+$/.test(text) ? Number(text) : text)
  return {
    ...order,
    ...(limit !== undefined && { limit: number(limit) }),
    ...(after !== undefined && { after: number(after) }),
  }
}

const nextCommand = (args: readonly string[], next: number | null): string =>
  commandLine(withOptions(withoutOption(args, '--after'), '--after', String(next)))

/** The last few events, or those after one, and then each as it happens. A server that is away is asked again. */
async function follow(terminal: Terminal, flags: Flags, call: Call, format: Format): Promise<void> {
  const stopped = new AbortController()
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    // prettier-ignore
    process.once(signal, () => {
      process.exitCode = code
      stopped.abort()
    })
  let after =
    flags.after === undefined
      ? await showLast(terminal, flags, call, format)
      : (asked(flags, { created: 'asc' }) as { after: number }).after
  let away = false
  while (!stopped.signal.aborted) {
    try {
      const answer = await call(events.list, { created: 'asc', after, limit: 100 })
      await show(terminal, flags, answer.events, format)
      after = answer.next ?? after
      away = false
      if (answer.events.length === 100) continue
    } catch (error) {
      if (!(error instanceof AppError) || error.exit !== 6) throw error
      if (!away) say(terminal, `${error.message} Asking again until it answers.`)
      away = true
    }
    await pause(POLL, undefined, { signal: stopped.signal }).catch(() => {}) // aborted: the loop ends by itself
  }
}

async function showLast(terminal: Terminal, flags: Flags, call: Call, format: Format): Promise<number> {
  const answer = await call(events.list, asked(flags, { created: 'desc' }))
  await show(terminal, flags, answer.events.toReversed(), format)
  return answer.events[0]?.id ?? 0
}

/** On a terminal a line each: a table could not grow. */
async function show(terminal: Terminal, flags: Flags, rows: readonly Event[], format: Format): Promise<void> {
  if (rows.length === 0) return
  if (format !== 'table' && format !== 'wide')
    return print(terminal, flags, { body: rows, rows, columns, id: (event) => String(event.id), single: false })
  const line = (event: Event) =>
    [
      new Date(event.created_at).toLocaleTimeString('en-GB'),
      event.action.padEnd(20),
      printable(
        [event.subject ?? event.subject_id, event.person && `for ${event.person.username}`].filter(Boolean).join(' '),
      ),
      `(${printable(whoDid(event))})`,
    ].join('  ')
  await write(terminal, `${rows.map(line).join('\n')}\n`)
}
