import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { AppError } from '../core/errors.js'
import { printable } from '../core/text.js'
import * as events from '../service/events.js'
import type { Event } from '../service/events.js'
import type { Call } from '../service/lib/operation.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import { formatOf, print, type Format, type OutputFlags } from './lib/output/output.js'
import type { Column } from './lib/output/table.js'
import { register as registerTold } from './toldpeople.js'
import { tell, write, type Terminal } from './lib/terminal/terminal.js'
import { ago } from './lib/texts/age.js'

const actorName = ({ actor, via, operator }: Event): string => {
  const person = actor?.username ?? (via === 'http' ? 'a visitor' : '')
  return via === 'http' ? person : [person, `cli:${operator}`].filter(Boolean).join(' by ')
}

export const columns: Column<Event>[] = [
  { head: 'ID', field: 'id', text: (event) => String(event.id), right: true, drop: 0, whole: true },
  { head: 'ACTION', field: 'action', text: (event) => event.action, drop: 0 },
  { head: 'SUBJECT', text: (event) => event.subject ?? event.subject_id, drop: 0 },
  { head: 'USER', field: 'person.username', text: (event) => event.person?.username ?? '', drop: 3 },
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

type Shown = Event & { told: Counts | null }
type Counts = Record<'people' | 'page' | 'mail' | 'digest' | 'mailed' | 'read', number>

/** What commands call the fields whose values have names. */
const FIELDS: Readonly<Record<string, string>> = { boardId: 'board', roadmap_id: 'roadmap' }

/** What changed, as a diff: a field, and below it what it was and what it became. */
const diffOf = ({ details }: Event, line: (sign: '-' | '+', text: string) => string): string =>
  (details ?? [])
    .flatMap(({ field, before, after, before_name: was = before, after_name: is = after }) => [
      FIELDS[field] ?? field,
      ...(was === null ? [] : linesOf(was).map((text) => line('-', text))),
      ...(is === null ? [] : linesOf(is).map((text) => line('+', text))),
    ])
    .join('\n')
const linesOf = (text: string) => text.split(/\r?\n/)

const shownColumns: Column<Shown>[] = [
  ...(columns as Column<Shown>[]),
  {
    head: 'CHANGES',
    field: 'details',
    text: (event) => diffOf(event, (sign, text) => `${sign} ${text}`),
    shown: (event, paint) => diffOf(event, (sign, text) => paint[sign === '-' ? 'red' : 'green'](`${sign} ${text}`)),
    ifAny: true,
    drop: 1,
  },
  { head: 'TOLD', field: 'told.people', text: ({ told }) => String(told?.people ?? ''), drop: 0 },
  { head: 'MAILED', field: 'told.mailed', text: ({ told }) => String(told?.mailed ?? ''), drop: 2 },
  { head: 'READ', field: 'told.read', text: ({ told }) => String(told?.read ?? ''), drop: 2 },
]

/** Fields that the table of a list names; of more, it says how many. */
const MOST_FIELDS = 2

const changedFields = ({ details }: Event): string[] => (details ?? []).map(({ field }) => FIELDS[field] ?? field)

const listColumns: Column<Event>[] = [
  ...columns,
  {
    head: 'CHANGED',
    text: (event) => changedFields(event).join(', '),
    shown(event) {
      const names = changedFields(event)
      const more = names.length - MOST_FIELDS
      return names.slice(0, MOST_FIELDS).join(', ') + (more > 0 ? ` +${more}` : '')
    },
    ifAny: true,
    drop: 1,
  },
]

export const id = (event: Event) => String(event.id)
const defaults = { created: 'desc' } as const

const POLL_INTERVAL_MS = 1000

export function register(group: Command, cli: Cli): void {
  command(
    group,
    { ...events.list, summary: 'List changes and who made them, newest first' },
    {
      usage: 'list',
      examples: [
        'events list',
        'events list --follow',
        'events list --sort oldest --after 120 -o jsonl',
        'events list --action user.sign_in_failed --since 7d',
        'events list --query "dark mode" --all',
        'events list --user eve@example.org',
      ],
      output: { columns: listColumns, id, rows: (answer): readonly Event[] => answer.events, list: 'events' },
      input: { defaults, flags: { person: 'user' }, formerly: { person: 'person' } },
      async follow(call, input, flags) {
        const format = formatOf(cli.terminal, flags)
        if (format === 'json' || format === 'yaml' || input.created !== defaults.created || input.page !== undefined)
          throw new AppError(
            'USAGE',
            '--follow prints events as they happen. Use -o jsonl instead of JSON or YAML, and leave --sort and --page out.',
          )
        return follow({ terminal: cli.terminal, flags, format }, call, input)
      },
    },
    cli,
  )
  command(
    group,
    events.show,
    {
      usage: 'show <id>',
      examples: ['events show 812'],
      output: { columns: shownColumns, id, rows: ({ event, told }): readonly Shown[] => [{ ...event, told }] },
    },
    cli,
  )
  registerTold(group, cli)
}

interface Printer {
  terminal: Terminal
  flags: OutputFlags
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
    return print(terminal, flags, { body: rows, rows, columns: listColumns, id, single: false })
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
