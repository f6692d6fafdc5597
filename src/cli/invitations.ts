import type { Command } from 'commander'
import { counted, printable } from '../core/text.js'
import * as invitations from '../service/invitations.js'
import type { Invitation, Outcome } from '../service/invitations.js'
import { nameOf } from '../service/lib/cells.js'
import { command } from './lib/command/command.js'
import { exitOf } from './lib/command/several.js'
import type { Cli } from './lib/connection/session.js'
import type { Column } from './lib/output/table.js'
import { ago } from './lib/texts/age.js'

const columns: Column<Invitation>[] = [
  { head: 'NAME', field: 'name', text: (row) => row.name, shown: (row) => nameOf(row), drop: 1 },
  { head: 'EMAIL', field: 'email', text: (row) => row.email, id: (row) => row.userId, drop: 0, whole: true },
  {
    head: 'STATE',
    field: 'state',
    text: (row) => row.state,
    shown: (row, paint) => (row.state === 'expired' ? paint.red(row.state) : row.state),
    drop: 0,
  },
  { head: 'BY', text: ({ invitedBy }) => (invitedBy ? nameOf(invitedBy) : ''), drop: 3 },
  { head: 'SENT', field: 'sentAt', text: (row) => row.sentAt, shown: (row, _paint, now) => ago(row.sentAt, now), drop: 2 }, // prettier-ignore
  { head: 'EXPIRES', field: 'expiresAt', text: (row) => row.expiresAt, drop: 4 },
  { head: 'ACCEPTED', field: 'acceptedAt', text: (row) => row.acceptedAt ?? '' },
  { head: 'CREATED', field: 'createdAt', text: (row) => row.createdAt },
  { head: 'USER NAME', field: 'username', text: (row) => row.username },
  { head: 'ID', field: 'userId', text: (row) => row.userId },
]

const outcomes: Column<Outcome>[] = [
  { head: 'EMAIL', field: 'given', text: ({ given }) => given, drop: 0, whole: true },
  {
    head: 'OUTCOME',
    field: 'outcome',
    text: ({ outcome }) => outcome,
    shown: ({ outcome }, paint) => (outcome === 'failed' ? paint.red(outcome) : outcome),
    drop: 0,
  },
  { head: 'WHY', text: ({ error }) => error?.message ?? '', drop: 0, ifAny: true },
  { head: 'USER NAME', field: 'username', text: ({ username }) => username ?? '', drop: 1 },
]

const id = ({ userId }: { userId: string }) => userId
/** Without the address where the caller may not read it. */
const label = (row: Invitation) => printable(row.email || nameOf(row))

export function register(group: Command, cli: Cli): void {
  command(
    group,
    invitations.list,
    {
      usage: 'list',
      examples: [
        'invitations list',
        'invitations list --query example.com',
        'invitations list --state waiting,expired',
        'invitations list --all -o csv',
      ],
      output: { columns, id, rows: (answer) => answer.invitations, list: 'invitations' },
    },
    cli,
  )
  command(
    group,
    invitations.create,
    {
      usage: 'create <emails...>',
      examples: ['invitations create eve@example.org bob@example.org', 'invitations create - < addresses.txt'],
      input: { joined: 'emails' },
      output: {
        columns: outcomes,
        id: ({ userId, given }) => userId ?? given,
        rows: (answer) => answer.outcomes,
        list: true,
      },
      exit: ({ invited, failed }) => (failed === 0 ? 0 : exitOf(Array<number>(failed).fill(5), invited)),
      sendsMail: () => true,
      done: ({ invited, failed }) =>
        `Invited ${counted(invited, 'user')}.${failed > 0 ? ` ${failed} of the addresses failed.` : ''}`,
    },
    cli,
  )
  command(
    group,
    invitations.resend,
    {
      usage: 'resend <user...>',
      examples: [
        'invitations resend eve@example.org',
        'invitations list --state expired -q | feedbackctl invitations resend -',
      ],
      output: { columns, id, rows: ({ invitation }) => [invitation] },
      sendsMail: () => true,
      done: ({ invitation }) => `Sent the invitation of ${label(invitation)} again.`,
    },
    cli,
  )
  command(
    group,
    invitations.revoke,
    {
      usage: 'revoke <user...>',
      formerly: ['delete', 'rm'],
      examples: ['invitations revoke eve@example.org'],
      output: { columns, id, rows: () => [] },
      confirm: async (_call, { user }) =>
        `Revoke the invitation of ${printable(String(user))}? The account, which nobody has used, is deleted.`,
      done: (_, { user }) => `Revoked the invitation of ${printable(String(user))}.`,
    },
    cli,
  )
}
