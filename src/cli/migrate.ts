import type { Command } from 'commander'
import { isMachineReadable, print, type OutputFlags } from './lib/output.js'
import { assertLocal, type Cli } from './lib/session.js'
import { write } from './lib/terminal.js'

export function register(command: Command, cli: Cli): void {
  command.addHelpText('before', 'Examples:\n  $ feedbackctl migrate\n').action(async () => {
    const flags = command.optsWithGlobals<OutputFlags>()
    const config = await cli.config()
    assertLocal(config, 'migrate')
    const { migrateDatabase } = await import('../app.js')
    const applied = await migrateDatabase(config)
    const columns = [{ head: 'APPLIED', text: (name: string) => name, drop: 0 }]
    if (isMachineReadable(flags))
      return print(cli.terminal, flags, {
        body: { applied },
        rows: applied,
        columns,
        id: (name) => name,
        single: false,
      })
    await write(
      cli.terminal,
      applied.length === 0 ? 'The database is up to date.\n' : applied.map((name) => `Applied ${name}\n`).join(''),
    )
  })
}
