import type { Command } from 'commander'
import * as mails from '../service/mails.js'
import type { Suppressed } from '../service/mails.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import type { Column } from './lib/output/table.js'
import { ago } from './lib/texts/age.js'

const columns: Column<Suppressed>[] = [
  { head: 'ADDRESS', field: 'email', text: ({ email }) => email, drop: 0, whole: true },
  {
    head: 'SINCE',
    field: 'suppressedAt',
    text: ({ suppressedAt }) => suppressedAt,
    shown: ({ suppressedAt }, _paint, now) => ago(suppressedAt, now),
    drop: 0,
  },
  { head: 'REFUSED', field: 'bounces', text: ({ bounces }) => String(bounces), right: true, drop: 2 },
  { head: 'REASON', field: 'reason', text: ({ reason }) => reason, drop: 1 },
  { head: 'ID', field: 'userId', text: ({ userId }) => userId, drop: 3, short: true },
]

export function registerSuppressed(group: Command, cli: Cli): void {
  const suppressed = explain(
    group.command('suppressed').description('Show the addresses that the mail server refuses, and mail them again'),
    {
      examples: ['mail suppressed list', 'mail suppressed remove eve@example.org'],
      notes: [
        'After three refusals of an address, no notification is mailed to it. Mails that somebody waits for, as to sign in, are still tried. When the server accepts one, notifications begin again.',
      ],
    },
  )
  command(
    suppressed,
    mails.suppressed,
    {
      usage: 'list',
      examples: ['mail suppressed list', 'mail suppressed list --all -o csv'],
      output: {
        columns,
        id: ({ email }) => email,
        rows: (answer): readonly Suppressed[] => answer.suppressed,
        list: 'suppressed',
        empty: () => 'The mail server refuses no address.',
      },
    },
    cli,
  )
  command(
    suppressed,
    mails.unsuppress,
    {
      usage: 'remove <user...>',
      formerly: ['delete', 'rm'],
      examples: ['mail suppressed remove eve@example.org'],
      output: { columns: [], id: () => '', rows: () => [] },
      done: ({ email }) => `Removed ${email} from the list. Notifications are mailed to it again.`,
    },
    cli,
  )
}
