import type { Command } from 'commander'
import { assertLocal, type Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { tell } from './lib/terminal/terminal.js'

export function register(command: Command, cli: Cli): void {
  explain(command, {
    local: true,
    examples: [
      'export --out site.jsonl',
      'export | jq -c \'select(.type == "post")\'',
      'export --with-passwords --out site.jsonl',
    ],
    notes: [
      'Writes lines of JSON: a header, a line for each row, and a last line with the number of the lines before it. All of it is of one moment, also while the site is served.',
      'It has no sessions, API keys, second factors, other ways to sign in, nor mail that waits; a backup has. Names, e-mail and IP addresses, notes and private posts are in it: keep it where nobody else can read it.',
    ],
  })
    .option('--out <file>', 'new file (default: stdout)')
    .option('--with-passwords', 'include the hashes of passwords, so that people need no new ones')
    .action(async () => {
      const { out, withPasswords = false } = command.opts<{ out?: string; withPasswords?: boolean }>()
      const config = await cli.config()
      assertLocal(config, 'export')
      const { exportLines } = await import('../backup/export.js')
      const body = { type: 'application/jsonl', pieces: exportLines(config, { passwords: withPasswords }) }
      const { print, save } = await import('./lib/output/save.js')
      if (out === undefined || out === '-') return print(cli.terminal, body)
      await save(cli.terminal, out, body)
      tell(cli.terminal, `Wrote the site to ${out}.`)
    })
}
