import type { Command } from 'commander'
import * as identities from '../service/identities.js'
import type { Identity } from '../service/lib/identities.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import type { Column } from './lib/output/table.js'
import { ago, lastUse } from './lib/texts/age.js'

const columns: Column<Identity>[] = [
  { head: 'WAY', field: 'provider', text: ({ provider }) => provider, drop: 0 },
  { head: 'EMAIL', field: 'email', text: ({ email }) => email ?? '', drop: 1 },
  {
    head: 'LAST USED',
    field: 'lastUsedAt',
    text: ({ lastUsedAt }) => lastUsedAt ?? '',
    shown: ({ lastUsedAt }, _paint, now) => lastUse(lastUsedAt, now),
    drop: 0,
  },
  {
    head: 'LINKED',
    field: 'createdAt',
    text: ({ createdAt }) => createdAt ?? '',
    shown: ({ createdAt }, _paint, now) => (createdAt === null ? '' : ago(createdAt, now)),
    drop: 2,
  },
  { head: 'SUBJECT', field: 'subject', text: ({ subject }) => subject ?? '' },
  { head: 'ID', field: 'identityId', text: ({ identityId }) => identityId, drop: 0, short: true },
]

const id = ({ identityId }: Identity) => identityId

export function register(group: Command, cli: Cli): void {
  command(
    group,
    identities.list,
    {
      usage: 'list',
      examples: ['identities list --server https://feedback.example.org', 'identities list --as eve@example.org'],
      output: { columns, id, rows: (answer) => answer.identities, list: 'identities' },
    },
    cli,
  )
  command(
    group,
    identities.unlink,
    {
      usage: 'unlink <identityId:identity...>',
      formerly: ['delete', 'rm'],
      examples: ['identities unlink 01a202e3 --server https://feedback.example.org', 'identities unlink password'],
      output: { columns, id, rows: () => [] },
      deletes: async (call, { identityId }) =>
        (await call(identities.list, {})).identities.find((each) => each.identityId === identityId),
      confirm: async (_call, { identityId }) =>
        `Remove ${String(identityId)} as a way to sign in? All other sessions of the account end.`,
      done: (_, given, { removed }) => `Removed ${removed?.provider ?? String(given.identityId)} as a way to sign in.`,
    },
    cli,
  )
}
