import type { Command } from 'commander'
import type { Static } from 'typebox'
import { listed, printable } from '../core/text.js'
import type { Identity } from '../service/lib/identities.js'
import type { Call } from '../service/lib/operation.js'
import type { User } from '../service/lib/people.js'
import { rolesText } from '../service/lib/cells.js'
import * as users from '../service/users.js'
import { userSessions } from '../service/usersessions.js'
import { command } from './lib/command/command.js'
import { unlessMissing, unlessRefused } from './lib/command/existing.js'
import type { View } from './lib/command/view.js'
import type { Cli } from './lib/connection/session.js'
import { nameOf } from './lib/output/person.js'
import type { Column } from './lib/output/table.js'
import { ago } from './lib/texts/age.js'
import { register as registerMerge } from './usermerges.js'
import { register as registerProfile } from './userprofile.js'
import { register as registerTags } from './usertags.js'

type Person = Static<typeof User>
type Shown = Person & { identities?: readonly Pick<Identity, 'provider'>[] }

const columns: Column<Person>[] = [
  { head: 'NAME', field: 'name', text: (user) => user.name, shown: (user) => nameOf(user), drop: 1 },
  { head: 'EMAIL', field: 'email', text: (user) => user.email, id: (user) => user.userId, drop: 0, whole: true },
  { head: 'ROLES', text: rolesText, drop: 4 },
  { head: 'POSTS', field: 'posts', text: (user) => user.posts, right: true, drop: 3 },
  { head: 'VOTES', field: 'votes', text: (user) => user.votes, right: true, drop: 3 },
  {
    head: 'STATE',
    field: 'state',
    text: (user) => user.state,
    shown: (user, paint) => (user.state === 'blocked' ? paint.red(user.state) : user.state),
    drop: 0,
  },
  {
    head: 'SEEN',
    field: 'lastSeenAt',
    text: (user) => user.lastSeenAt ?? '',
    shown: (user, _paint, now) => (user.lastSeenAt === null ? '' : ago(user.lastSeenAt, now)),
    drop: 5,
  },
  {
    head: 'CREATED',
    field: 'createdAt',
    text: (user) => user.createdAt,
    shown: (user, _paint, now) => ago(user.createdAt, now),
    drop: 2,
  },
  { head: 'USER NAME', field: 'username', text: (user) => user.username },
  { head: 'TAGS', field: 'tags', text: ({ tags }) => tags.join(', '), ifAny: true, drop: 3 },
  { head: 'NOTES', field: 'notes', text: (user) => user.notes ?? '' },
  { head: 'ID', field: 'userId', text: (user) => user.userId },
]

type UserSession = Awaited<ReturnType<typeof userSessions.run>>['sessions'][number]

/** Without the ids and addresses, which are their own. */
const sessionColumns: Column<UserSession>[] = [
  { head: 'BEGAN', field: 'createdAt', text: ({ createdAt }) => createdAt, shown: ({ createdAt }, _paint, now) => ago(createdAt, now), drop: 0 }, // prettier-ignore
  { head: 'LAST USED', field: 'lastUsedAt', text: ({ lastUsedAt }) => lastUsedAt ?? '', shown: ({ lastUsedAt }, _paint, now) => (lastUsedAt === null ? '' : ago(lastUsedAt, now)), drop: 0 }, // prettier-ignore
  { head: 'BROWSER', field: 'userAgent', text: ({ userAgent }) => userAgent, drop: 1 },
]

/** Of one person: a list does not read them. */
const waysColumn: Column<Person> = {
  head: 'SIGN-IN',
  text: ({ identities }: Shown) =>
    identities === undefined ? '' : identities.map(({ provider }) => provider).join(', ') || 'none',
  drop: 5,
}

/** Without a password, a mail invites them to choose one. */
const isInvited = ({ password, invite }: Record<string, unknown>): boolean => password === undefined && invite !== false

const table = { columns, id: (user: Person) => user.userId }
const one = { ...table, rows: ({ user }: { user: Person }) => [user] }
/** Without the address where the caller may not read it. */
const label = (user: Person) => `${printable(nameOf(user))}${user.email && ` <${user.email}>`}`

/** The right to block people does not include the right to read them (user:read). */
const readable = async (call: Call, user: unknown): Promise<Person | undefined> =>
  (await unlessRefused(() => call(users.show, { user })))?.user

const named = (user: Person | undefined, given: unknown): string => (user ? label(user) : printable(String(given)))

const adder =
  (group: Command, cli: Cli) =>
  <In, Out, Subject>(op: Parameters<typeof command<In, Out, Person, Subject>>[1], view: View<In, Out, Person>) =>
    command(group, op, view, cli)

export function register(group: Command, cli: Cli): void {
  const add = adder(group, cli)

  add(users.list, {
    usage: 'list',
    examples: [
      'users list --query eve',
      'users list --sort newest',
      'users list --since 7d',
      'users list --role none --state active,unverified --sort seen',
      'users list --tag vip',
      'users list --seen-before 90d',
      'users list --all -o csv > users.csv',
    ],
    output: { ...table, rows: (answer) => answer.users, list: 'users' },
  })
  add(users.show, {
    usage: 'show <user>',
    examples: ['users show eve@example.org'],
    output: { ...one, columns: [...columns, waysColumn] },
  })
  add(users.create, {
    usage: 'create <email>',
    examples: [
      'users create eve@example.org --name Eve',
      'users create eve@example.org --generate-password',
      'users create eve@example.org --no-invite',
    ],
    output: one,
    input: { generated: 'password' },
    lines: 'alone',
    existing: {
      by: 'a user with this address',
      unique: true,
      find: (call, { email }) => unlessMissing(() => call(users.show, { user: email })),
      said: ({ user }) => label(user),
    },
    sendsMail: (given) => isInvited(given),
    done: ({ user }, given) =>
      `Created ${label(user)}.${isInvited(given) ? ' A mail with a link to choose a password is on its way.' : ''}`,
  })
  add(users.update, {
    usage: 'update <user...>',
    examples: [
      'users update eve@example.org --name "Eve B."',
      'users update eve@example.org --generate-password',
      'users list -q --query example.com | feedbackctl users update - --verified',
    ],
    output: one,
    input: { hidden: ['ifVersion'], flags: { isVerified: 'verified' }, generated: 'password' },
    requiresChange: true,
    done: ({ user }, given) =>
      `Updated ${label(user)}.${given.password === undefined ? '' : ' All their sessions have ended.'}`,
  })
  registerTags(group, cli, one)
  registerMerge(group, cli, one, label)
  registerProfile(group, cli)
  registerBlock(group, cli)
  registerSessions(group, cli)
  add(users.resetTotp, {
    usage: 'reset-totp <user...>',
    examples: ['users reset-totp eve@example.org'],
    output: one,
    done: ({ user }) => `Removed the second factor of ${label(user)}.`,
  })
  add(users.remove, {
    usage: 'delete <user...>',
    examples: ['users delete eve@example.org', 'users delete eve@example.org --posts delete --yes'],
    output: { ...table, rows: () => [] },
    deletes: async (call, { user }) => (await call(users.show, { user })).user,
    async confirm(call, { user: given, posts }) {
      const { user } = await call(users.show, { user: given })
      if (user.isOwner) return undefined
      return { question: `Delete ${label(user)}?${lossOf(user, posts === 'delete')}`, type: user.email }
    },
    done: (_, given, { removed }) => `Deleted ${removed ? label(removed) : String(given.user)}.`,
  })
}

/** Registers the commands that block a user and end their sessions. */
function registerBlock(group: Command, cli: Cli): void {
  const add = adder(group, cli)

  add(users.block, {
    usage: 'block <user...>',
    examples: ['users block eve@example.org'],
    output: one,
    async confirm(call, { user: given }) {
      const user = await readable(call, given)
      if (user?.isOwner || user?.isBlocked) return undefined
      return `Block ${named(user, given)}? All their sessions end.`
    },
    done: ({ user }) => `Blocked ${label(user)}.`,
  })
  add(users.unblock, {
    usage: 'unblock <user...>',
    examples: ['users unblock eve@example.org'],
    output: one,
    done: ({ user }) => `Unblocked ${label(user)}.`,
  })
  add(users.signOut, {
    usage: 'sign-out <user...>',
    examples: ['users sign-out eve@example.org'],
    output: one,
    async confirm(call, { user: given }) {
      return `Sign ${named(await readable(call, given), given)} out? All their sessions end.`
    },
    done: ({ user }) => `Ended all sessions of ${label(user)}.`,
  })
}

function registerSessions(group: Command, cli: Cli): void {
  command(
    group,
    userSessions,
    {
      usage: 'sessions <user>',
      examples: ['users sessions eve@example.org'],
      output: {
        columns: sessionColumns,
        id: ({ createdAt }) => createdAt,
        rows: (answer): readonly UserSession[] => answer.sessions,
        list: true,
      },
    },
    cli,
  )
}

/** What goes with a person, or stays without them. The comments of a person are not counted. */
function lossOf({ votes, posts }: Person, isAll: boolean): string {
  const deleted = listed({ vote: votes, ...(isAll && { post: posts }) })
  if (isAll) return ` This also deletes ${deleted && `${deleted}, and `}any comments they wrote.`
  const left = listed({ post: posts })
  const sentence = [deleted && `also deletes ${deleted}`, left && `leaves ${left} without an author`].filter(Boolean).join(', and ') // prettier-ignore
  return sentence && ` This ${sentence}.`
}
