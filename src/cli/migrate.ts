import type { Command } from 'commander'
import { formatOf, type OutputFlags } from './output.js'
import type { Cli } from './session.js'
import { write } from './terminal.js'

export function register(command: Command, cli: Cli): void {
  command.addHelpText('before', 'Examples:\n  $ feedbackctl migrate\n').action(async () => {
    const { migrateDatabase } = await import('../app.js')
    const applied = await migrateDatabase(await cli.config())
    if (formatOf(cli.terminal, command.optsWithGlobals<OutputFlags>()) === 'json') return write(cli.terminal, `${JSON.stringify({ applied })}\n`)
    await write(cli.terminal, applied.length === 0 ? 'The database is up to date.\n' : applied.map((name) => `Applied ${name}\n`).join(''))
  })
}
