import type { Command } from 'commander'
import * as account from '../service/account.js'
import { registerReset, registerSignup } from './auth.js'
import { command } from './lib/command/command.js'
import { downloadCommand } from './lib/command/download.js'
import type { Cli } from './lib/connection/session.js'
import { NO_OUTPUT } from './lib/output/none.js'
import { registerOwn } from './notificationsettings.js'
import { registerName, registerRights, registerShown } from './profile.js'

export function register(group: Command, cli: Cli): void {
  registerSignup(group, cli)
  registerReset(group, cli)
  registerName(group, cli)
  registerExport(group, cli)
  registerDeletion(group, cli)
  registerShown(group, cli)
  registerOwn(group, cli)
  registerRights(group, cli)
}

function registerExport(group: Command, cli: Cli): void {
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
}

function registerDeletion(group: Command, cli: Cli): void {
  command(
    group,
    account.requestDeletion,
    {
      usage: 'request-deletion',
      examples: ['account request-deletion --server https://feedback.example.org'],
      output: NO_OUTPUT,
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
      output: NO_OUTPUT,
      input: { prompts: ['password'], unless: { password: 'deletionToken' } },
      fixes: { INCORRECT_PASSWORD: ['account request-deletion'] },
      confirm: async (_call, { posts }) =>
        `Delete the account, with all its votes? Its posts and comments ${posts === 'delete' ? 'are deleted too' : 'stay, without an author'}.`,
      done: () => 'Deleted the account.',
    },
    cli,
  )
}
