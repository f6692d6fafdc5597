import type { Command } from 'commander'
import { counted, printable } from '../core/text.js'
import { decideMany } from '../service/moderationmany.js'
import * as moderation from '../service/moderation.js'
import type { Item } from '../service/moderation.js'
import { bulkView, registerUndo, saidOfMany } from './lib/command/bulk.js'
import { command } from './lib/command/command.js'
import { withAs } from './lib/command/declaration.js'
import type { Cli } from './lib/connection/session.js'
import { isMachineReadable, type OutputFlags } from './lib/output/output.js'
import { nameOf } from './lib/output/person.js'
import type { Column } from './lib/output/table.js'
import { canPrompt } from './lib/terminal/terminal.js'
import { ago } from './lib/texts/age.js'

const columns: Column<Item>[] = [
  {
    head: 'NUMBER',
    text: (item) => String(item.post.number),
    shown: (item) => `#${item.post.number}`,
    drop: 0,
    whole: true,
  },
  { head: 'WHY', text: (item) => item.reasons.join(', '), drop: 0 },
  { head: 'KIND', text: (item) => item.kind, drop: 0, whole: true },
  { head: 'TEXT', text: (item) => (item.kind === 'post' ? item.post.title : (item.text ?? '')), drop: 0 },
  { head: 'AUTHOR', text: (item) => nameOf(item.author), drop: 1 },
  {
    head: 'REPEATS',
    field: 'repeats.number',
    text: ({ repeats }) => (repeats ? String(repeats.number) : ''),
    shown: ({ repeats }) => (repeats ? `#${repeats.number} ${repeats.title}` : ''),
    drop: 1,
  },
  { head: 'AGE', text: (item) => item.created_at, shown: (item, _paint, now) => ago(item.created_at, now), drop: 2 },
  { head: 'UNTIL', field: 'snoozed.until', text: ({ snoozed }) => snoozed?.until ?? '', drop: 1, ifAny: true },
  { head: 'REPORTS', text: (item) => String(item.reports.length), right: true, drop: 2 },
  { head: 'ID', text: (item) => item.id, drop: 0, short: true },
]
interface Counted {
  reason: string
  count: number
}
const countColumns: Column<Counted>[] = [
  { head: 'WHY', text: ({ reason }) => reason, drop: 0 },
  { head: 'WAIT', text: ({ count }) => String(count), right: true, drop: 0 },
]
interface Decided {
  id: string
  kind: string
  title: string
  number: number
  is_spam: boolean
}
const decided: Column<Decided>[] = [
  { head: 'NUMBER', text: (item) => String(item.number), shown: (item) => `#${item.number}`, drop: 0, whole: true },
  { head: 'KIND', text: (item) => item.kind, drop: 0 },
  { head: 'POST', text: (item) => item.title, drop: 0 },
  { head: 'ID', text: (item) => item.id, drop: 0, short: true },
]
const id = (row: { id: string }) => row.id

const DECISIONS = [
  { decision: 'keep', summary: 'Keep a post or comment, and close its reports', done: 'Kept' },
  { decision: 'spam', summary: 'Hide a post or comment as spam', done: 'Marked' },
  { decision: 'reopen', summary: 'Show a post or comment again, and put it back in the queue', done: 'Reopened' },
  { decision: 'snooze', summary: 'Snooze a post or comment, for the whole team', done: 'Snoozed' },
  { decision: 'wake', summary: 'Wake a snoozed post or comment: it waits again', done: 'Woke' },
] as const

const DONE = { keep: 'Kept', spam: 'Hid', delete: 'Deleted', snooze: 'Snoozed', wake: 'Woke' } as const

const HIDDEN = {
  keep: ['decision', 'is_spam', 'is_held', 'block', 'until'],
  spam: ['decision', 'is_spam', 'is_held', 'until'],
  reopen: ['decision', 'block', 'until'],
  snooze: ['decision', 'is_spam', 'is_held', 'block'],
  wake: ['decision', 'is_spam', 'is_held', 'block', 'until'],
} as const

export function register(group: Command, cli: Cli): void {
  withAs(group)
    .description(
      'Decide about new, edited, reported or spam posts and comments, and those of blocked users, one by one',
    )
    .action(async () => {
      const flags = group.optsWithGlobals<OutputFlags & { input?: boolean; as?: string }>()
      const { as } = flags
      if (!canPrompt(cli.terminal, flags) || isMachineReadable(flags))
        return list.parseAsync(as === undefined ? [] : ['--as', as], { from: 'user' }).then(() => undefined)
      const { moderate } = await import('./moderator.js')
      await moderate(cli.terminal, flags, await cli.connect({ as }))
    })
  command(
    group,
    moderation.list,
    {
      usage: 'list',
      examples: [
        'moderate list',
        'moderate list --reasons reported --all',
        'moderate list --since 7d --json',
        'moderate list --snoozed',
      ],
      output: { columns, id, rows: (answer): readonly Item[] => answer.items, list: 'items' },
      input: { flags: { boardId: 'board' } },
    },
    cli,
  )
  command(
    group,
    moderation.count,
    {
      usage: 'count',
      examples: ['moderate count', 'moderate count --json'],
      output: {
        columns: countColumns,
        id: ({ reason }) => reason,
        rows: ({ total, reasons, snoozed }): readonly Counted[] => [
          ...Object.entries(reasons).map(([reason, count]) => ({ reason, count })),
          { reason: 'in all', count: total },
          ...(snoozed === undefined ? [] : [{ reason: 'snoozed', count: snoozed }]),
        ],
      },
    },
    cli,
  )
  command(
    group,
    moderation.show,
    {
      usage: 'show <id:item>',
      examples: ['moderate show 12', 'moderate show 12 --json'],
      output: { columns, id, rows: ({ item }): readonly Item[] => [item] },
    },
    cli,
  )
  const list = group.commands.find((each) => each.name() === 'list') as Command
  registerDecisions(group, cli)
  registerUndo(group, cli)
}

/** Registers a command for each decision, and one that decides about many items. */
function registerDecisions(group: Command, cli: Cli): void {
  for (const { decision, summary, done } of DECISIONS)
    command(
      group,
      { ...moderation.decide, summary },
      {
        usage: `${decision} <id:item...>`,
        examples: [decision === 'snooze' ? 'moderate snooze 12 --until 1w' : `moderate ${decision} 12`],
        output: { columns: decided, id, rows: (answer): readonly Decided[] => [answer.decided] },
        input: {
          hidden: HIDDEN[decision],
          defaults: { decision },
          flags: { is_spam: 'spam', is_held: 'held' },
          switches: {
            is_spam: { word: 'spam', description: 'keep it hidden as spam' },
            is_held: { word: 'held', description: 'hold it until it is kept' },
          },
        },
        done: ({ decided: item }) =>
          `${done} ${item.kind === 'post' ? 'post' : 'a comment on'} #${item.number} "${printable(item.title)}"${decision === 'spam' ? ' as spam' : item.snoozed_until ? ` until ${item.snoozed_until}` : ''}.`,
      },
      cli,
    )
  command(
    group,
    decideMany,
    {
      ...bulkView,
      usage: 'decide <decision> <ids:item...>',
      summary:
        'Keep, hide as spam, snooze or delete up to 100 posts and comments in one change; all but a deletion can be undone for ten minutes',
      examples: [
        'moderate decide spam 12 15',
        'moderate list --reasons spam -q --limit 100 | feedbackctl moderate decide spam -',
        'moderate decide snooze 12 15 --until 1w',
        'moderate decide delete 12 15 --yes',
      ],
      input: { joined: 'ids', hidden: ['if_updated_at', 'decisions', 'roadmapIds'] },
      confirm: async (_call, { decision, ids }) =>
        decision === 'delete'
          ? `Delete ${counted((ids as string[]).length, 'item')}? Posts take their votes and comments with them; --dry-run shows how many.`
          : undefined,
      done: (answer, { decision }) =>
        `${DONE[decision as keyof typeof DONE]} ${saidOfMany(answer, 'moderate', 'item')}`,
    },
    cli,
  )
}
