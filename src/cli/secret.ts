import type { Command } from 'commander'
import { wholeOf } from '../core/durations.js'
import { AppError } from '../core/errors.js'
import { counted, listed } from '../core/text.js'
import { assertLocal, type Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { print, type OutputFlags } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import type { Column } from './lib/output/table.js'
import { confirm } from './lib/prompts/prompts.js'
import { tell } from './lib/terminal/terminal.js'

export function register(group: Command, cli: Cli): void {
  explain(withFields(group.command('new'), ['file', 'sessions', 'apps']), {
    local: true,
    examples: ['secret new --dry-run', 'secret new'],
    notes: [
      'Signs everyone out. Codes of authenticator apps no longer work: users sign in with a recovery code, "users reset-totp" removes the second factor of others, and "owner link" signs the owner in. Passwords, API keys and links in mails already sent still work.',
      'If the setting "secret" has a value, that value is used. "secret reset" is the same command.',
    ],
  })
    .alias('reset')
    .description('Replace a lost secret with a new one')
    .option('--dry-run', 'show what would stop working, but change nothing')
    .option('-y, --yes', 'skip the confirmation prompt')
    .action(async (_flags: unknown, command: Command) => {
      const flags = command.optsWithGlobals<OutputFlags & { yes?: boolean; input?: boolean; dryRun?: boolean }>()
      const config = await cli.config()
      assertLocal(config, 'secret new')
      const app = await cli.open()
      const { lossOfSecret, resetSecret, secretFile } = await import('../app/secret.js')
      const ends = await lossOfSecret(app)
      const loss = listed({ session: ends.sessions, 'authenticator app': ends.apps }) || 'no session'
      if (!flags.dryRun) await confirm(cli.terminal, flags, `Replace the secret? This ends ${loss}.`)
      const isFile = config.get('secret') === undefined
      const file = isFile ? secretFile(config) : null
      if (!flags.dryRun) await resetSecret(app, config)
      const columns: Column<typeof ends & { file: string | null }>[] = [
        { head: 'SECRET', field: 'file', text: () => file ?? config.origin('secret'), drop: 0 },
        { head: 'SESSIONS', text: ({ sessions }) => String(sessions) },
        { head: 'APPS', text: ({ apps }) => String(apps) },
      ]
      await print(cli.terminal, flags, {
        body: { file, ends },
        rows: [{ file, ...ends }],
        columns,
        id: () => file ?? '',
        single: true,
      })
      if (flags.dryRun) return tell(cli.terminal, `Would replace the secret. This ends ${loss}.`)
      tell(cli.terminal, 'Everyone has to sign in again.')
      tell(
        cli.terminal,
        isFile
          ? 'A running server notices within a second.\nServers on other machines need the new file too.'
          : 'Restart "feedbackctl serve" where it runs.',
      )
    })
  explain(withFields(group.command('rotate'), ['file']), {
    local: true,
    examples: ['secret rotate', 'secret rotate --hours 1'],
    notes: [
      'A second rotation ends the tokens of the first secret immediately. A running server notices within a second. Servers on other machines need the files "secret" and "secret.previous" too.',
    ],
  })
    .description('Replace the secret, and keep tokens of the old one valid for some hours')
    .option('--dry-run', 'check whether the command would work, but change nothing')
    .option('--hours <n>', 'how long tokens of the old secret stay valid: hours, 12h or 2d (at most 48h; default: 48h)')
    .action(async (_flags: unknown, command: Command) => {
      const { hours: given = '48', ...flags } = command.optsWithGlobals<
        OutputFlags & { hours?: string; dryRun?: boolean }
      >()
      const hours = wholeOf(given, 'h')
      if (hours === undefined || hours > 48)
        throw new AppError(
          'USAGE',
          '--hours must be from 0 to 48, such as 12, 12h or 2d, as no token works for longer.',
        )
      const config = await cli.config()
      assertLocal(config, 'secret rotate')
      const app = await cli.open()
      const { rotateSecretFile } = await import('../app/secret.js')
      const file = await rotateSecretFile(app, config, { hours, dryRun: flags.dryRun ?? false })
      const columns = [{ head: 'SECRET', field: 'file', text: () => file, drop: 0 }]
      await print(cli.terminal, flags, { body: { file }, rows: [{ file }], columns, id: () => file, single: true })
      const done = `Tokens of the old secret work for ${counted(hours, 'hour')} more.`
      tell(cli.terminal, flags.dryRun ? `Would replace the secret. ${done}` : done)
    })
}
