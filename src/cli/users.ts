import type { Command } from 'commander'
import type { Static } from 'typebox'
import { counted, printable } from '../core/text.js'
import type { User } from '../service/lib/people.js'
import * as users from '../service/users.js'
import { ago } from './lib/age.js'
import { command } from './lib/command.js'
import { nameOf } from './lib/person.js'
import type { Cli } from './lib/session.js'
import type { Column } from './lib/table.js'
import type { View } from './lib/view.js'

type Person = Static<typeof User>

const columns: Column<Person>[] = [
  { head: 'NAME', text: (user) => user.name, shown: (user) => printable(nameOf(user)), drop: 1 },
  { head: 'EMAIL', text: (user) => user.email, drop: 0 },
  { head: 'ROLES', text: rolesOf, drop: 4 },
  { head: 'POSTS', text: (user) => user.posts, right: true, drop: 3 },
  { head: 'VOTES', text: (user) => user.votes, right: true, drop: 3 },
  {
    head: 'STATE',
    text: stateOf,
    shown: (user, paint) => (user.isBlocked ? paint.red(stateOf(user)) : stateOf(user)),
    drop: 1,
  },
  { head: 'CREATED', text: (user) => user.createdAt, shown: (user, _paint, now) => ago(user.createdAt, now), drop: 2 },
  { head: 'USER NAME', text: (user) => user.username },
  { head: 'NOTES', text: (user) => user.notes ?? '' },
  { head: 'ID', text: (user) => user.userId },
]

/** The roles that were given: that of everybody says nothing. */
function rolesOf({ roles }: Person): string {
  const given = roles.filter((role) => !role.isSystem)
  return given.map(({ name }) => name).join(', ')
}

function stateOf({ isOwner, isBlocked, isVerified }: Person): string {
  if (isOwner) return 'owner'
  if (isBlocked) return 'blocked'
  return isVerified ? 'active' : 'unverified'
}

const table = { columns, id: (user: Person) => user.userId }
const one = { ...table, rows: ({ user }: { user: Person }) => [user] }
const named = (user: Person) => `${printable(nameOf(user))} <${user.email}>`

export function register(group: Command, cli: Cli): void {
  const add = <In, Out, Subject>(
    op: Parameters<typeof command<In, Out, Person, Subject>>[1],
    view: View<In, Out, Person>,
  ) => command(group, op, view, cli)

  add(users.list, {
    ...table,
    words: 'list',
    examples: ['users list --created desc', 'users list --all -o csv > people.csv'],
    rows: (answer) => answer.users,
    list: 'users',
    hidden: ['first'],
  })
  add(users.show, { ...one, words: 'show <user>', examples: ['users show eve@example.org'] })
  add(users.create, {
    ...one,
    words: 'create <email>',
    examples: ['users create eve@example.org --name Eve', 'users create eve@example.org --generate-password'],
    generates: 'password',
    mails: ({ password }) => password === undefined,
    done: ({ user }, given) =>
      `Created ${named(user)}.${given.password === undefined ? ' A mail invites them to choose a password.' : ''}`,
  })
  add(users.update, {
    ...one,
    words: 'update <user>',
    examples: ['users update eve@example.org --name "Eve B."', 'users update eve@example.org --generate-password'],
    flags: { isVerified: 'verified' },
    changes: true,
    generates: 'password',
    done: ({ user }, given) =>
      `Changed ${named(user)}.${given.password === undefined ? '' : ' All their sessions have ended.'}`,
  })
  add(users.block, {
    ...one,
    words: 'block <user>',
    examples: ['users block eve@example.org'],
    done: ({ user }) => `Blocked ${named(user)}: refused from the next request on.`,
  })
  add(users.unblock, {
    ...one,
    words: 'unblock <user>',
    examples: ['users unblock eve@example.org'],
    done: ({ user }) => `Let ${named(user)} in again.`,
  })
  add(users.signOut, {
    ...one,
    words: 'sign-out <user>',
    examples: ['users sign-out eve@example.org'],
    done: ({ user }) => `Ended all sessions of ${named(user)}.`,
  })
  add(users.remove, {
    columns,
    id: table.id,
    words: 'delete <user>',
    examples: ['users delete eve@example.org', 'users delete eve@example.org --posts delete --yes'],
    rows: () => [],
    async loses(call, { user: given, posts }) {
      const { user } = await call(users.show, { user: given })
      if (user.isOwner) return undefined
      const [votes, writings] = [counted(user.votes, 'vote'), counted(user.posts, 'post')]
      const lost =
        posts === 'delete'
          ? `${votes}, ${writings} and all comments with it`
          : `${votes} with it, and leaves ${writings} without a name`
      return { question: `Delete ${named(user)}? This takes ${lost}.`, type: user.email }
    },
    done: (_, given) => `Deleted ${String(given.user)}.`,
  })
}
