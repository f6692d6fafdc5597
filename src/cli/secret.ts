import type { Command } from 'commander'
import { print, type OutputFlags } from './lib/output.js'
import { confirm } from './lib/prompts.js'
import { assertLocal, type Cli } from './lib/session.js'
import { say } from './lib/terminal.js'

export function register(group: Command, cli: Cli): void {
  group
    .command('reset')
    .description('Make a new secret after the old one was lost')
    .option('-y, --yes', 'skip the confirmation prompt')
    .addHelpText(
      'before',
      'Examples:\n  $ feedbackctl secret reset\n\nSigns everybody out. Links in mails that were sent go on working. If the setting "secret" has a value, the\nsite takes that one.\n',
    )
    .action(async (_flags: unknown, command: Command) => {
      const flags = command.optsWithGlobals<OutputFlags & { yes?: boolean; input?: boolean }>()
      const config = await cli.config()
      assertLocal(config, 'secret reset')
      const app = await cli.open()
      await confirm(cli.terminal, flags, 'Make a new secret? Everybody has to sign in again.')
      const { resetSecret } = await import('../app.js')
      const file = (await resetSecret(app, config)) ?? null
      const columns = [{ head: 'SECRET', text: () => file ?? config.origin('secret'), drop: 0 }]
      await print(cli.terminal, flags, { body: { file }, rows: [file], columns, id: () => file ?? '', single: true })
      say(cli.terminal, 'Everybody has to sign in again. Restart "feedbackctl serve" where it runs.')
    })
}
