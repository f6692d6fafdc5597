import type { Command } from 'commander'
import { print, type OutputFlags } from './lib/output.js'
import { confirm } from './lib/prompts.js'
import { assertLocal, type Cli } from './lib/session.js'
import { say } from './lib/terminal.js'

export function register(group: Command, cli: Cli): void {
  group
    .command('reset')
    .description('Replace a lost secret with a new one')
    .option('-y, --yes', 'skip the confirmation prompt')
    .addHelpText(
      'before',
      'Examples:\n  $ feedbackctl secret reset\n\nSigns everyone out. Links in mails already sent still work. If the setting "secret" has a value, that value is used.\n',
    )
    .action(async (_flags: unknown, command: Command) => {
      const flags = command.optsWithGlobals<OutputFlags & { yes?: boolean; input?: boolean }>()
      const config = await cli.config()
      assertLocal(config, 'secret reset')
      const app = await cli.open()
      await confirm(cli.terminal, flags, 'Replace the secret? Everyone has to sign in again.')
      const { resetSecret } = await import('../app.js')
      const file = (await resetSecret(app, config)) ?? null
      const columns = [{ head: 'SECRET', text: () => file ?? config.origin('secret'), drop: 0 }]
      await print(cli.terminal, flags, { body: { file }, rows: [file], columns, id: () => file ?? '', single: true })
      say(cli.terminal, 'Everyone has to sign in again. Restart "feedbackctl serve" where it runs.')
    })
}
