import type { Command } from 'commander'
import { printable } from '../core/text.js'
import * as roles from '../service/roles.js'
import type { Role } from '../service/roles.js'
import { ago } from './lib/age.js'
import { command } from './lib/command.js'
import type { Cli } from './lib/session.js'
import type { Column } from './lib/table.js'

type Shown = Role & { permissions?: string[] }

const columns: Column<Shown>[] = [
  { head: 'NAME', text: (role) => role.name, drop: 0 },
  { head: 'DESCRIPTION', text: (role) => role.description ?? '', drop: 2 },
  { head: 'KIND', text: (role) => (role.isSystem ? 'system' : 'own'), drop: 1 },
  {
    head: 'CREATED',
    text: (role) => role.created_at,
    shown: (role, _paint, now) => ago(role.created_at, now),
    drop: 4,
  },
  { head: 'ID', text: (role) => role.id, drop: 3, whole: true },
]
const withPermissions: Column<Shown>[] = [
  ...columns,
  { head: 'PERMISSIONS', text: ({ permissions = [] }) => permissions.join(', ') },
]

const table = { columns, id: (role: Shown) => role.id }
const whole = { columns: withPermissions, id: table.id }
const named = (role: Role) => `"${printable(role.name)}"`
const pair = { columns: [], id: String, rows: () => [], flags: { user_id: 'user' }, asks: ['user_id'] } as const

export function register(group: Command, cli: Cli): void {
  command(
    group,
    roles.list,
    {
      ...table,
      words: 'list',
      examples: ['roles list'],
      rows: (answer) => answer.roles,
      list: 'roles',
      hidden: ['first'],
    },
    cli,
  )
  command(
    group,
    roles.show,
    { ...whole, words: 'show <id:role>', examples: ['roles show moderators'], rows: ({ role }) => [role] },
    cli,
  )
  command(
    group,
    roles.permissions,
    {
      columns: [{ head: 'PERMISSION', text: (permission: string) => permission, drop: 0 }],
      id: (permission) => permission,
      words: 'permissions',
      examples: ['roles permissions'],
      rows: (answer) => answer.permissions,
      many: true,
    },
    cli,
  )
  command(
    group,
    roles.create,
    {
      ...table,
      words: 'create <name>',
      examples: ['roles create moderators --permissions comment:update:any,comment:delete:any'],
      rows: ({ role }) => [role],
      done: ({ role }) => `Created role ${named(role)}.`,
    },
    cli,
  )
  command(
    group,
    roles.update,
    {
      ...whole,
      words: 'update <id:role>',
      examples: [
        'roles update moderators --description "Keep it tidy"',
        'roles update moderators --permissions comment:update:any',
      ],
      rows: ({ role, permissions }) => [{ ...role, permissions }],
      hidden: ['partial'],
      preset: { partial: true },
      changes: true,
      done: ({ role }) => `Changed role ${named(role)}.`,
    },
    cli,
  )
  command(
    group,
    roles.remove,
    {
      ...table,
      words: 'delete <id:role>',
      examples: ['roles delete moderators --yes'],
      rows: () => [],
      async loses(call, { id }) {
        const { role } = await call(roles.show, { id })
        return role.isSystem ? undefined : `Delete role ${named(role)}? Whoever has it loses it.`
      },
      done: (_, given) => `Deleted role ${String(given.id)}.`,
    },
    cli,
  )
  command(
    group,
    roles.assign,
    {
      ...pair,
      words: 'assign <role_id:role>',
      examples: ['roles assign moderators --user eve@example.org'],
      done: ({ name }, given) => `Gave the role "${printable(name)}" to ${String(given.user_id)}.`,
    },
    cli,
  )
  command(
    group,
    roles.unassign,
    {
      ...pair,
      words: 'unassign <role_id:role>',
      examples: ['roles unassign moderators --user eve@example.org'],
      done: (_, given) => `Took the role "${printable(String(given.role_id))}" from ${String(given.user_id)}.`,
    },
    cli,
  )
}
