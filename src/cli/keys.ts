import type { Command } from 'commander'
import { printable } from '../core/text.js'
import * as keys from '../service/keys.js'
import type { Key } from '../service/keys.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import type { Column } from './lib/output/table.js'
import { ago, lastUse } from './lib/texts/age.js'

const permissionsOf = ({ permissions }: Key): string => permissions?.join(', ') ?? 'all of its user'

const columns: Column<Key>[] = [
  { head: 'NAME', field: 'name', text: (key) => key.name, drop: 0 },
  { head: 'PERMISSIONS', text: permissionsOf, drop: 1 },
  { head: 'USER', field: 'user.username', text: (key) => key.user.username, drop: 1 },
  {
    head: 'EXPIRES',
    field: 'expiresAt',
    text: (key) => key.expiresAt,
    shown: (key, paint, now) => (key.expiresAt <= now.toISOString() ? paint.red('expired') : ago(key.expiresAt, now)),
    drop: 0,
  },
  {
    head: 'LAST USED',
    field: 'lastUsedAt',
    text: (key) => key.lastUsedAt ?? '',
    shown: (key, _paint, now) => lastUse(key.lastUsedAt, now),
    drop: 2,
  },
  {
    head: 'CREATED',
    field: 'createdAt',
    text: (key) => key.createdAt,
    shown: (key, _paint, now) => ago(key.createdAt, now),
    drop: 4,
  },
  { head: 'ID', field: 'keyId', text: (key) => key.keyId, drop: 0, short: true },
]

type Created = Key & { token: string }
const created: Column<Created>[] = [
  { head: 'KEY', field: 'token', text: (key) => key.token, drop: 0, whole: true },
  { head: 'NAME', field: 'name', text: (key) => key.name, drop: 0 },
  { head: 'PERMISSIONS', text: permissionsOf, drop: 2 },
  {
    head: 'EXPIRES',
    field: 'expiresAt',
    text: (key) => key.expiresAt,
    shown: (key, _paint, now) => ago(key.expiresAt, now),
    drop: 1,
  },
  { head: 'ID', field: 'keyId', text: (key) => key.keyId, drop: 0, short: true },
]

const id = (key: Key) => key.keyId

export function register(group: Command, cli: Cli): void {
  command(
    group,
    keys.list,
    {
      usage: 'list',
      examples: ['keys list', 'keys list --everyone --since 30d'],
      output: { columns, id, rows: (answer) => answer.keys, list: 'keys' },
      input: { flags: { all: 'everyone' } },
    },
    cli,
  )
  command(
    group,
    keys.show,
    {
      usage: 'show <keyId:key>',
      examples: ['keys show ci', 'keys show 01a202e3'],
      output: { columns, id, rows: ({ key }) => [key] },
    },
    cli,
  )
  command(
    group,
    keys.create,
    {
      usage: 'create <name>',
      examples: [
        'keys create "Nightly import" --permissions post:create,post:update --days 30',
        'keys create ci --as bot@example.org',
      ],
      output: { columns: created, id: (key) => key.token, rows: ({ key, token }) => [{ ...key, token }] },
      done: ({ key }) => `Created key "${printable(key.name)}".\nIt is shown only now, so store it.`,
    },
    cli,
  )
  command(
    group,
    keys.revoke,
    {
      usage: 'revoke <keyId:key...>',
      formerly: ['delete', 'rm'],
      examples: ['keys revoke 01a202e3-3cc8-735d-91d8-dbcd6073c7b2', 'keys revoke ci --yes'],
      output: { columns, id, rows: () => [] },
      deletes: async (call, { keyId }) => (await call(keys.show, { keyId })).key,
      async confirm(call, { keyId }) {
        const { key } = await call(keys.show, { keyId })
        return `Revoke key "${printable(key.name)}"? Programs that use it are refused from then on.`
      },
      done: (_, given, { removed }) =>
        `Revoked key ${removed ? `"${printable(removed.name)}"` : String(given.keyId)}. Requests with it are refused from now on.`,
    },
    cli,
  )
}
