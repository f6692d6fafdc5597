import type { Command } from 'commander'
import * as auth from '../service/auth.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import { NO_OUTPUT } from './lib/output/none.js'
import { PERSON } from './lib/output/person.js'
import { stated } from './lib/prompts/dryrun.js'

/** The fix for an invalid token of a password reset. */
const resetFix = { INVALID_TOKEN: ['account reset-password EMAIL'] }

const newPassword = { prompts: ['password'], generated: 'password' } as const

/** Registers the commands that create an account and confirm its address. */
export function registerSignup(group: Command, cli: Cli): void {
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
      output: NO_OUTPUT,
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
      output: NO_OUTPUT,
      done: () => 'Confirmed the address.',
      fixes: { INVALID_TOKEN: ['account verify'] },
    },
    cli,
  )
}

/** Registers the commands that reset a password by mail. */
export function registerReset(group: Command, cli: Cli): void {
  command(
    group,
    auth.resetPassword,
    {
      usage: 'reset-password <email>',
      as: false,
      examples: ['account reset-password eve@example.org'],
      output: NO_OUTPUT,
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
      output: NO_OUTPUT,
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
      output: NO_OUTPUT,
      input: newPassword,
      done: () => 'Set the password. All sessions have ended.',
      fixes: resetFix,
    },
    cli,
  )
}
