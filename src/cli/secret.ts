import type { Command } from 'commander'
import { AppError } from '../core/errors.js'
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
  group
    .command('rotate')
    .description('Replace the secret, and let tokens of the old one work for some hours more')
    .option('--hours <n>', 'hours that tokens of the old secret still work (0 to 48; default: 48)')
    .addHelpText(
      'before',
      'Examples:\n  $ feedbackctl secret rotate\n  $ feedbackctl secret rotate --hours 1\n\nA second rotation ends the tokens of the first secret at once.\nA server that runs notices within a second. Servers on other machines need the files "secret" and\n"secret.previous" too.\n',
    )
    .action(async (_flags: unknown, command: Command) => {
      const { hours = '48', ...flags } = command.optsWithGlobals<OutputFlags & { hours?: string }>()
      if (!/^\d{1,2}$/.test(hours) || Number(hours) > 48)
        throw new AppError('USAGE', '--hours must be a number from 0 to 48, as no token works for longer.')
      const config = await cli.config()
      assertLocal(config, 'secret rotate')
      const app = await cli.open()
      const { rotateSecretFile } = await import('../app.js')
      const file = await rotateSecretFile(app, config, Number(hours))
      const columns = [{ head: 'SECRET', text: () => file, drop: 0 }]
      await print(cli.terminal, flags, { body: { file }, rows: [file], columns, id: () => file, single: true })
      say(cli.terminal, `Tokens of the old secret work for ${hours} hours more.`)
    })
}
