import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { AppError } from '../core/errors.js'
import { coerce, fieldsOf } from '../core/fields.js'
import { counted, printable } from '../core/text.js'
import * as events from '../service/events.js'
import type { Event } from '../service/events.js'
import type { Call } from '../service/lib/operation.js'
import { ago } from './lib/age.js'
import { explain } from './lib/helptext.js'
import { optionsOf } from './lib/options.js'
import { nothingFound } from './lib/pages.js'
import { formatOf, print, type Format, type OutputFlags } from './lib/output.js'
import { withFields } from './lib/rowfields.js'
import type { Cli } from './lib/session.js'
import type { Column } from './lib/table.js'
import { withTimes } from './lib/times.js'
import { say, tell, write, type Terminal } from './lib/terminal.js'
import { commandLine, withOptions, withoutOption } from './lib/commandline.js'

const actorName = ({ actor, via, operator }: Event): string => {
  const person = actor?.username ?? (via === 'http' ? 'a visitor' : '')
  return via === 'http' ? person : [person, `cli:${operator}`].filter(Boolean).join(' by ')
}

const columns: Column<Event>[] = [
  { head: 'ID', field: 'id', text: (event) => String(event.id), right: true, drop: 0, whole: true },
  { head: 'ACTION', field: 'action', text: (event) => event.action, drop: 0 },
  { head: 'SUBJECT', text: (event) => event.subject ?? event.subject_id, drop: 0 },
  { head: 'PERSON', field: 'person.username', text: (event) => event.person?.username ?? '', drop: 3 },
  { head: 'ACTOR', text: actorName, drop: 1 },
  {
    head: 'TIME',
    field: 'created_at',
    text: (event) => event.created_at,
    shown: (event, _paint, now) => ago(event.created_at, now),
    drop: 1,
  },
  { head: 'SUBJECT ID', field: 'subject_id', text: (event) => event.subject_id },
  { head: 'VIA', field: 'via', text: (event) => event.via },
  { head: 'ADDRESS', field: 'address', text: (event) => event.address ?? '' },
]

const eventsOf = (answer: { events: Event[] }): readonly Event[] => answer.events
const fields = async () =>
  (await import('./lib/choice.js')).fieldsOfRows(events.list.output, { rows: eventsOf, columns })

interface Flags extends OutputFlags {
  created?: string
}

const POLL_INTERVAL_MS = 1000
const defaults = { created: 'desc' } as const

export function register(group: Command, cli: Cli): void {
  const list = explain(withFields(group.command('list'), fields), {
    examples: [
      'events list',
      'events list --follow',
      'events list --sort oldest --after 120 -o jsonl',
      'events list --action user.sign_in_failed --since 2026-03-01',
      'events list --person eve@example.org',
    ],
  })
    .alias('ls')
    .description('List changes and who made them, newest first')
    .option('--follow', 'print new events as they happen, until Ctrl-C')
  for (const option of optionsOf(fieldsOf(events.list.input), { defaults })) list.addOption(option)
  list.action(async () => {
    const flags = list.optsWithGlobals<Flags>()
    const { follow: following, ...given } = list.opts<Record<string, unknown>>()
    const input = withTimes(events.list.input, coerce(events.list.input, given), cli.terminal.now())
    const format = formatOf(cli.terminal, flags)
    if (following && (format === 'json' || format === 'yaml' || flags.created !== undefined))
      throw new AppError(
        'USAGE',
        '--follow prints events as they happen. Use -o jsonl instead of JSON or YAML, and leave --sort out.',
      )
    const call = await cli.connect()
    if (following) return follow({ terminal: cli.terminal, flags, format }, call, input)
    const answer = await call(events.list, { ...defaults, ...input })
    await print(cli.terminal, flags, {
      body: answer,
      rows: eventsOf(answer),
      columns,
      id: (event) => String(event.id),
      single: false,
    })
    if (format !== 'table' && format !== 'wide') return
    if (answer.events.length === 0) nothingFound(cli.terminal)
    else if (cli.terminal.stderr.isTTY)
      say(
        cli.terminal,
        `${counted(answer.events.length, 'event')} · next: ${nextCommand(cli.terminal.args, answer.next)}`,
      )
  })
}

const nextCommand = (args: readonly string[], next: number | null): string =>
  commandLine(withOptions(withoutOption(args, '--after'), '--after', String(next)))

interface Printer {
  terminal: Terminal
  flags: Flags
  format: Format
}

/**
 * Prints the last events, or those after --after, and then new ones as they happen. Retries while a server is
 * unreachable.
 */
async function follow(printer: Printer, call: Call, input: Record<string, unknown>): Promise<void> {
  const stopped = new AbortController()
  const stop = (exitCode: number) => () => {
    process.exitCode = exitCode
    stopped.abort()
  }
  process.once('SIGINT', stop(130))
  process.once('SIGTERM', stop(143))
  let after = input.after ?? (await printLast(printer, call, input))
  let unreachable = false
  while (!stopped.signal.aborted) {
    try {
      const answer = await call(events.list, { ...input, created: 'asc', after, limit: 100 })
      await printEvents(printer, answer.events)
      after = answer.next ?? after
      unreachable = false
      if (answer.events.length === 100) continue
    } catch (error) {
      if (!(error instanceof AppError) || error.exit !== 6) throw error
      if (!unreachable) tell(printer.terminal, `${error.message} Retrying until it responds.`)
      unreachable = true
    }
    await sleep(POLL_INTERVAL_MS, undefined, { signal: stopped.signal }).catch(() => {}) // rejects when stopped
  }
}

/** Prints the newest events, oldest first, and returns the id of the last one. */
async function printLast(printer: Printer, call: Call, input: Record<string, unknown>): Promise<number> {
  const answer = await call(events.list, { ...input, created: 'desc' })
  await printEvents(printer, answer.events.toReversed())
  return answer.events[0]?.id ?? 0
}

/** Prints one line per event on a terminal, as the columns of a growing table cannot be fitted. */
async function printEvents({ terminal, flags, format }: Printer, rows: readonly Event[]): Promise<void> {
  if (rows.length === 0) return
  if (format !== 'table' && format !== 'wide')
    return print(terminal, flags, { body: rows, rows, columns, id: (event) => String(event.id), single: false })
  const line = (event: Event) => {
    const subject = [event.subject ?? event.subject_id, event.person && `for ${event.person.username}`]
    return [
      new Date(event.created_at).toLocaleTimeString('en-GB'),
      event.action.padEnd(20),
      printable(subject.filter(Boolean).join(' ')),
      `(${printable(actorName(event))})`,
    ].join('  ')
  }
  await write(terminal, `${rows.map(line).join('\n')}\n`)
}
