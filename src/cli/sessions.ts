import type { Command } from 'commander'
import * as sessions from '../service/sessions.js'
import type { Session } from '../service/sessions.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import { NO_OUTPUT } from './lib/output/none.js'
import type { Column } from './lib/output/table.js'
import { ago, lastUse } from './lib/texts/age.js'

const columns: Column<Session>[] = [
  { head: 'PROGRAM', field: 'userAgent', text: ({ userAgent }) => userAgent, drop: 1 },
  { head: 'ADDRESS', field: 'address', text: ({ address }) => address ?? '', drop: 2 },
  { head: 'CURRENT', text: ({ isCurrent }) => (isCurrent ? 'current' : ''), drop: 0, ifAny: true },
  {
    head: 'LAST USED',
    field: 'lastUsedAt',
    text: ({ lastUsedAt }) => lastUsedAt ?? '',
    shown: ({ lastUsedAt }, _paint, now) => lastUse(lastUsedAt, now),
    drop: 0,
  },
  {
    head: 'SIGNED IN',
    field: 'createdAt',
    text: ({ createdAt }) => createdAt,
    shown: ({ createdAt }, _paint, now) => ago(createdAt, now),
    drop: 4,
  },
  {
    head: 'EXPIRES',
    field: 'expiresAt',
    text: ({ expiresAt }) => expiresAt,
    shown: ({ expiresAt }, _paint, now) => ago(expiresAt, now),
  },
  { head: 'ID', field: 'sessionId', text: ({ sessionId }) => sessionId, drop: 0, short: true },
]

const id = ({ sessionId }: Session) => sessionId

/** At the command line no session is the current one. */
const isRemote = async (cli: Cli): Promise<boolean> => (await cli.config()).get('server') !== undefined

export function register(group: Command, cli: Cli): void {
  command(
    group,
    sessions.list,
    {
      usage: 'list',
      examples: ['sessions list --server https://feedback.example.org', 'sessions list --as eve@example.org'],
      output: { columns, id, rows: (answer) => answer.sessions, list: 'sessions' },
    },
    cli,
  )
  command(
    group,
    sessions.show,
    {
      usage: 'show <sessionId:session>',
      examples: ['sessions show 01a202e3', 'sessions show current --server https://feedback.example.org'],
      output: { columns, id, rows: ({ session }) => [session] },
    },
    cli,
  )
  command(
    group,
    sessions.revoke,
    {
      usage: 'end <sessionId:session...>',
      formerly: ['delete', 'rm'],
      examples: ['sessions end 01a202e3-3cc8-735d-91d8-dbcd6073c7b2 --server https://feedback.example.org'],
      output: { columns, id, rows: () => [] },
      deletes: async (call, { sessionId }) => (await call(sessions.show, { sessionId })).session,
      done: (_, given) => `Ended session ${String(given.sessionId)}.`,
    },
    cli,
  )
  command(
    group,
    sessions.revokeAll,
    {
      usage: 'end-all',
      examples: ['sessions end-all --server https://feedback.example.org', 'sessions end-all --as eve@example.org'],
      output: NO_OUTPUT,
      confirm: async (_call, { current }) =>
        `End all ${current === true || !(await isRemote(cli)) ? '' : 'other '}sessions of the account?`,
      done: (_, { current }, { server }) =>
        `Ended all ${current === true || server === undefined ? '' : 'other '}sessions of the account.`,
    },
    cli,
  )
}
