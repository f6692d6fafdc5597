import type { Command } from 'commander'
import * as auth from '../service/auth.js'
import * as profile from '../service/profile.js'
import { command } from './lib/command.js'
import { PERSON } from './lib/person.js'
import type { Cli } from './lib/session.js'

/** What says nothing beside the sentence at its end. */
const silent = { columns: [], id: String, rows: () => [] } as const

/** For a token of a mail that lets choose a password. */
const anew = { INVALID_TOKEN: ['account reset-password EMAIL'] }

const stateOf = ({ access }: { access: boolean }): string => (access ? 'open' : 'closed')

const list = {
  columns: [{ head: 'PERMISSION', text: (permission: string) => permission, drop: 0 }],
  id: (permission: string) => permission,
  many: true,
} as const

export function register(group: Command, cli: Cli): void {
  command(
    group,
    auth.signup,
    {
      columns: PERSON,
      id: (user) => user.userId,
      words: 'signup <email>',
      examples: ['account signup eve@example.org --name Eve', 'account signup eve@example.org --generate-password'],
      rows: ({ user }) => [user],
      asks: ['password'],
      generates: 'password',
      mails: () => true,
      done: ({ user }, _, server) =>
        `Signed up ${user.email}. A mail asks to confirm the address.${server === undefined ? '' : ` Next: feedbackctl login --server ${server}`}`,
    },
    cli,
  )
  command(
    group,
    auth.verify,
    {
      ...silent,
      words: 'verify',
      examples: ['account verify --as eve@example.org'],
      as: true,
      mails: () => true,
      done: () => 'A mail with a new link is on its way.',
    },
    cli,
  )
  command(
    group,
    auth.validate,
    {
      ...silent,
      words: 'validate <token>',
      examples: ['account validate TOKEN'],
      done: () => 'The address is confirmed.',
      fixes: { INVALID_TOKEN: ['account verify'] },
    },
    cli,
  )
  command(
    group,
    auth.resetPassword,
    {
      ...silent,
      words: 'reset-password <email>',
      examples: ['account reset-password eve@example.org'],
      mails: () => true,
      done: (_, { email }) => `A mail with a link to choose a password is on its way to ${String(email)}.`,
    },
    cli,
  )
  command(
    group,
    auth.validateToken,
    {
      ...silent,
      words: 'check-token <token>',
      examples: ['account check-token TOKEN'],
      done: () => 'The token can be used.',
      fixes: anew,
    },
    cli,
  )
  command(
    group,
    auth.setPassword,
    {
      ...silent,
      words: 'set-password <token>',
      examples: ['account set-password TOKEN', 'account set-password TOKEN --password-file password'],
      asks: ['password'],
      generates: 'password',
      fixes: anew,
      done: () => 'The password is set, and all sessions have ended.',
    },
    cli,
  )
  command(
    group,
    profile.updateProfile,
    {
      columns: PERSON,
      id: (user) => user.userId,
      words: 'rename <name>',
      examples: ['account rename "Ada L." --server https://feedback.example.org'],
      rows: ({ user }) => [user],
      as: true,
      done: ({ user }) => `The name is "${user.name}" now.`,
    },
    cli,
  )
  command(
    group,
    profile.permissions,
    { ...list, words: 'permissions', examples: ['account permissions'], rows: (answer) => answer.permissions },
    cli,
  )
  command(
    group,
    profile.dashboard,
    {
      columns: [{ head: 'DASHBOARD', text: stateOf, drop: 0 }],
      id: stateOf,
      words: 'dashboard',
      examples: ['account dashboard'],
      rows: (answer) => [answer],
    },
    cli,
  )
}
