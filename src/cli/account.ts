import type { Command } from 'commander'
import * as account from '../service/account.js'
import * as auth from '../service/auth.js'
import * as profile from '../service/profile.js'
import { command } from './lib/command/command.js'
import { downloadCommand } from './lib/command/download.js'
import type { Cli } from './lib/connection/session.js'
import { PERSON } from './lib/output/person.js'
import { registerOwn } from './notificationsettings.js'
import { stated } from './lib/prompts/dryrun.js'

/** The output of a command that only reports success. */
const noOutput = { columns: [], id: String, rows: () => [] } as const

/** For an invalid token from a password mail. */
const resetFix = { INVALID_TOKEN: ['account reset-password EMAIL'] }

const newPassword = { prompts: ['password'], generated: 'password' } as const

const dashboardState = ({ access }: { access: boolean }): string => (access ? 'open' : 'closed')

/** The fields of `account profile`. */
const SHOWN = ['showProfile', 'showVotes', 'showComments'] as const

type Shows = Record<(typeof SHOWN)[number], boolean>

function seenOf({ showProfile, showVotes, showComments }: Shows): string {
  if (!showProfile) return 'Others do not see your profile.'
  const seen = ['your posts', ...(showVotes ? ['votes'] : []), ...(showComments ? ['comments'] : [])]
  return `On your profile, others see ${new Intl.ListFormat('en').format(seen)}.`
}

export function register(group: Command, cli: Cli): void {
  command(
    group,
    auth.signup,
    {
      usage: 'signup <email>',
      as: false,
      examples: ['account signup eve@example.org --name Eve', 'account signup eve@example.org --generate-password'],
      output: { columns: PERSON, id: (user) => user.userId, rows: ({ user }) => [user] },
      input: newPassword,
      sendsMail: () => true,
      done({ user }, _, { server }) {
        const next = server === undefined ? '' : ` Next: feedbackctl login --server ${server}`
        return stated(`Signed up ${user.email}. A confirmation mail is on its way.${next}`)
      },
    },
    cli,
  )
  command(
    group,
    auth.verify,
    {
      usage: 'verify',
      examples: ['account verify --as eve@example.org'],
      output: noOutput,
      sendsMail: () => true,
      done: () => 'Sending a mail with a new link.',
    },
    cli,
  )
  command(
    group,
    auth.validate,
    {
      usage: 'validate <token>',
      as: false,
      examples: ['account validate TOKEN'],
      output: noOutput,
      done: () => 'Confirmed the address.',
      fixes: { INVALID_TOKEN: ['account verify'] },
    },
    cli,
  )
  command(
    group,
    auth.resetPassword,
    {
      usage: 'reset-password <email>',
      as: false,
      examples: ['account reset-password eve@example.org'],
      output: noOutput,
      sendsMail: () => true,
      done: (_, { email }) => `Sending a mail with a link to choose a new password to ${String(email)}.`,
    },
    cli,
  )
  command(
    group,
    auth.validateToken,
    {
      usage: 'check-token <token>',
      as: false,
      examples: ['account check-token TOKEN'],
      output: noOutput,
      done: () => stated('The token is valid.'),
      fixes: resetFix,
    },
    cli,
  )
  command(
    group,
    auth.setPassword,
    {
      usage: 'set-password <token>',
      as: false,
      examples: ['account set-password TOKEN', 'account set-password TOKEN --password-file password'],
      output: noOutput,
      input: newPassword,
      done: () => 'Set the password. All sessions have ended.',
      fixes: resetFix,
    },
    cli,
  )
  command(
    group,
    profile.changePassword,
    {
      usage: 'password',
      examples: ['account password --server https://feedback.example.org', 'account password --generate-password'],
      output: noOutput,
      input: { prompts: ['currentPassword', 'password'], generated: 'password' },
      done: (_answer, _given, { server }) =>
        `Changed the password. All ${server === undefined ? '' : 'other '}sessions have ended, and all API keys are revoked.`,
    },
    cli,
  )
  command(
    group,
    profile.updateProfile,
    {
      usage: 'rename <name>',
      summary: 'Change your own name',
      examples: ['account rename "Ada L." --server https://feedback.example.org'],
      output: { columns: PERSON, id: (user) => user.userId, rows: ({ user }) => [user] },
      input: { hidden: ['language', ...SHOWN] },
      done: ({ user }) => `Changed the name to "${user.name}".`,
    },
    cli,
  )
  downloadCommand(
    group,
    account.exportData,
    {
      usage: 'export [file]',
      summary: `${account.exportData.summary}; one JSON document`,
      examples: [
        'account export me.json --server https://feedback.example.org',
        'account export --as eve@example.org | jq .posts',
      ],
      notes: ['Without a file, the data goes to stdout.'],
      done: (file) => `Wrote the account to ${file}.`,
    },
    cli,
  )
  command(
    group,
    account.requestDeletion,
    {
      usage: 'request-deletion',
      examples: ['account request-deletion --server https://feedback.example.org'],
      output: noOutput,
      sendsMail: () => true,
      done: () => 'Sending a mail with a link to delete the account.',
    },
    cli,
  )
  command(
    group,
    account.remove,
    {
      usage: 'delete',
      examples: [
        'account delete --server https://feedback.example.org',
        'account delete --as eve@example.org --posts delete --password-stdin --yes',
        'account delete --deletion-token-file token',
      ],
      output: noOutput,
      input: { prompts: ['password'], unless: { password: 'deletionToken' } },
      fixes: { INCORRECT_PASSWORD: ['account request-deletion'] },
      confirm: async (_call, { posts }) =>
        `Delete the account, with all its votes? Its posts and comments ${posts === 'delete' ? 'are deleted too' : 'stay, without an author'}.`,
      done: () => 'Deleted the account.',
    },
    cli,
  )
  command(
    group,
    profile.updateProfile,
    {
      usage: 'language <language>',
      summary: 'Choose the language of your pages and mails, or auto',
      examples: ['account language de --server https://feedback.example.org', 'account language auto'],
      output: { columns: PERSON, id: (user) => user.userId, rows: ({ user }) => [user] },
      input: { hidden: ['name', ...SHOWN] },
      done: ({ user }) =>
        user.language === undefined
          ? 'Set the language to that of the browser.'
          : `Set the language to "${user.language}".`,
    },
    cli,
  )
  command(
    group,
    profile.updateProfile,
    {
      usage: 'profile',
      summary: 'Choose what others see on your profile',
      examples: [
        'account profile --no-show-votes --server https://feedback.example.org',
        'account profile --show-profile',
      ],
      output: { columns: PERSON, id: (user) => user.userId, rows: ({ user }) => [user] },
      input: { hidden: ['name', 'language'] },
      requiresChange: true,
      done: ({ user }) => stated(seenOf(user)),
    },
    cli,
  )
  registerOwn(group, cli)
  command(
    group,
    profile.permissions,
    {
      usage: 'permissions',
      as: false, // they are those of the operator
      examples: ['account permissions'],
      output: {
        columns: [{ head: 'PERMISSION', text: (permission: string) => permission, drop: 0 }],
        id: (permission) => permission,
        rows: (answer) => answer.permissions,
        list: true,
      },
    },
    cli,
  )
  command(
    group,
    profile.dashboard,
    {
      usage: 'dashboard',
      as: false,
      examples: ['account dashboard'],
      output: {
        columns: [{ head: 'DASHBOARD', text: dashboardState, drop: 0 }],
        id: dashboardState,
        rows: (answer) => [answer],
      },
    },
    cli,
  )
}
