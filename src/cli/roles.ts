import type { Command } from 'commander'
import { printable } from '../core/text.js'
import * as roles from '../service/roles.js'
import type { Role } from '../service/roles.js'
import { command } from './lib/command/command.js'
import { showTitled } from './lib/command/existing.js'
import type { Cli } from './lib/connection/session.js'
import { NO_OUTPUT } from './lib/output/none.js'
import type { Column } from './lib/output/table.js'
import { ago } from './lib/texts/age.js'
import { permissionList } from './permissionlist.js'

type ListedRole = Role & { permissions?: string[]; user_count?: number }

const columns: Column<ListedRole>[] = [
  { head: 'NAME', field: 'name', text: (role) => role.name, drop: 0 },
  { head: 'DESCRIPTION', field: 'description', text: (role) => role.description ?? '', drop: 2 },
  { head: 'KIND', text: (role) => (role.isSystem ? 'system' : 'own'), drop: 1 },
  {
    head: 'USERS',
    field: 'user_count',
    text: (role) => String(role.user_count ?? ''),
    right: true,
    drop: 3,
    ifAny: true,
  },
  {
    head: 'CREATED',
    field: 'created_at',
    text: (role) => role.created_at,
    shown: (role, _paint, now) => ago(role.created_at, now),
    drop: 4,
  },
  { head: 'ID', field: 'id', text: (role) => role.id, drop: 0, short: true },
]
const withPermissions: Column<ListedRole>[] = [
  ...columns,
  { head: 'PERMISSIONS', text: ({ permissions = [] }) => permissions.join(', ') },
]

const id = (role: ListedRole) => role.id
const label = (role: Role) => `"${printable(role.name)}"`
const userInput = { flags: { user_id: 'user' }, prompts: ['user_id'], flagged: ['user_id'] } as const

export function register(group: Command, cli: Cli): void {
  command(
    group,
    roles.list,
    {
      usage: 'list',
      examples: ['roles list'],
      output: { columns, id, rows: (answer) => answer.roles, list: 'roles' },
    },
    cli,
  )
  command(
    group,
    roles.show,
    {
      usage: 'show <id:role>',
      examples: ['roles show moderators'],
      output: { columns: withPermissions, id, rows: ({ role }) => [role] },
    },
    cli,
  )
  command(
    group,
    roles.permissions,
    {
      usage: 'permissions',
      examples: ['roles permissions'],
      output: permissionList,
    },
    cli,
  )
  command(
    group,
    roles.create,
    {
      usage: 'create <name>',
      examples: ['roles create moderators --permissions comment:update:any,comment:delete:any'],
      // Nobody has a new role; one that exists already says how many have it
      output: { columns, id, rows: ({ role }) => [{ user_count: 0, ...role }] },
      lines: 'alone',
      existing: {
        by: 'a role with this name',
        find: (call, { name }) =>
          showTitled(
            call,
            'role',
            { name },
            {
              show: (given) => call(roles.show, { id: given }),
              nameOf: ({ role }) => role.name,
            },
          ),
        said: ({ role }) => `Role ${label(role)}`,
      },
      done: ({ role }) => `Created role ${label(role)}.`,
    },
    cli,
  )
  command(
    group,
    roles.update,
    {
      usage: 'update <id:role...>',
      examples: [
        'roles update moderators --description "Keep it tidy"',
        'roles update moderators --permissions comment:update:any',
      ],
      output: { columns: withPermissions, id, rows: ({ role, permissions }) => [{ ...role, permissions }] },
      input: { hidden: ['partial', 'ifVersion'], defaults: { partial: true } },
      requiresChange: true,
      done: ({ role }) => `Updated role ${label(role)}.`,
    },
    cli,
  )
  command(
    group,
    roles.remove,
    {
      usage: 'delete <id:role...>',
      examples: ['roles delete moderators --yes'],
      output: { columns, id, rows: () => [] },
      deletes: async (call, given) => (await call(roles.show, { id: given.id })).role,
      async confirm(call, given) {
        const { role } = await call(roles.show, { id: given.id })
        return role.isSystem ? undefined : `Delete role ${label(role)}? Everyone who has it loses it.`
      },
      done: (_, given, { removed }) => `Deleted role ${removed ? label(removed) : String(given.id)}.`,
    },
    cli,
  )
  registerMembers(group, cli)
}

/** Registers the commands that assign and unassign a role. */
function registerMembers(group: Command, cli: Cli): void {
  command(
    group,
    roles.assign,
    {
      usage: 'assign <role_id:role> [user_id:user...]',
      examples: [
        'roles assign moderators eve@example.org bob@example.org',
        'users list -q --since 7d | feedbackctl roles assign new -',
      ],
      output: NO_OUTPUT,
      input: userInput,
      done: ({ name }, given) => `Gave role "${printable(name)}" to ${String(given.user_id)}.`,
    },
    cli,
  )
  command(
    group,
    roles.unassign,
    {
      usage: 'unassign <role_id:role> [user_id:user...]',
      examples: ['roles unassign moderators eve@example.org bob@example.org'],
      output: NO_OUTPUT,
      input: userInput,
      done: (_, given) => `Took role "${printable(String(given.role_id))}" from ${String(given.user_id)}.`,
    },
    cli,
  )
}
