import type { Command } from 'commander'
import * as profile from '../service/profile.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import { PERSON } from './lib/output/person.js'
import { NO_OUTPUT } from './lib/output/none.js'
import { stated } from './lib/prompts/dryrun.js'
import { permissionList } from './permissionlist.js'

const dashboardState = ({ access }: { access: boolean }): string => (access ? 'open' : 'closed')

/** The rows of `account profile`. */
const SHOWN = ['showProfile', 'showVotes', 'showComments'] as const

type Shows = Record<(typeof SHOWN)[number], boolean>

function seenOf({ showProfile, showVotes, showComments }: Shows): string {
  if (!showProfile) return 'Others do not see your profile.'
  const seen = ['your posts', ...(showVotes ? ['votes'] : []), ...(showComments ? ['comments'] : [])]
  return `On your profile, others see ${new Intl.ListFormat('en').format(seen)}.`
}

/** Registers the commands that change the password and the name. */
export function registerName(group: Command, cli: Cli): void {
  command(
    group,
    profile.changePassword,
    {
      usage: 'password',
      examples: ['account password --server https://feedback.example.org', 'account password --generate-password'],
      output: NO_OUTPUT,
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
}

/** Registers the commands that set the language and the visibility of the profile. */
export function registerShown(group: Command, cli: Cli): void {
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
}

/** Registers the commands that show the permissions of the account. */
export function registerRights(group: Command, cli: Cli): void {
  command(
    group,
    profile.permissions,
    {
      usage: 'permissions',
      as: false, // they are those of the operator
      examples: ['account permissions'],
      output: permissionList,
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
