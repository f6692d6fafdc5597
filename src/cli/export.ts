import type { Command } from 'commander'
import { AppError } from '../core/errors.js'
import { counted } from '../core/text.js'
import { assertLocal, type Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { tell } from './lib/terminal/terminal.js'

interface Flags {
  out?: string
  csv?: string
  withPasswords?: boolean
  bom?: boolean
}

export function register(command: Command, cli: Cli): void {
  explain(command, {
    local: true,
    examples: [
      'export --out site.jsonl',
      'export | jq -c \'select(.type == "post")\'',
      'export --with-passwords --out site.jsonl',
      'export --csv sheets',
    ],
    notes: [
      'Writes lines of JSON: a header, a line for each row, and a last line with the number of the lines before it. All of it is of one moment, also while the site is served.',
      'With --csv it writes tables for spreadsheets, which cannot be imported: a file for each kind of thing, such as posts.csv, with names in place of ids. The folder must be new or empty. It has its name only when all files are complete.',
      'It has no sessions, API keys, second factors, other ways to sign in, nor mail that waits; a backup has. Names, e-mail and IP addresses, notes and private posts are in it: keep it where nobody else can read it.',
    ],
  })
    .option('--out <file>', 'new file (default: stdout)')
    .option('--csv <folder>', 'write CSV for spreadsheets to this new folder')
    .option('--with-passwords', 'include the hashes of passwords, so that people need no new ones')
    .action(async () => {
      const { out, csv, withPasswords = false, bom = false } = command.optsWithGlobals<Flags>()
      const config = await cli.config()
      assertLocal(config, 'export')
      if (csv !== undefined) {
        const other = out === undefined ? (withPasswords ? '--with-passwords' : undefined) : '--out'
        if (other !== undefined) throw new AppError('USAGE', `--csv and ${other} contradict each other. Give only one.`)
        const { exportSheets } = await import('../backup/exportcsv.js')
        const { saveFolder } = await import('./lib/output/savefolder.js')
        const { files, rows } = await saveFolder(cli.terminal, csv, exportSheets(config, { bom }))
        tell(cli.terminal, `Wrote ${counted(rows, 'row')} in ${counted(files, 'file')} to ${csv}.`)
        return
      }
      const { exportLines } = await import('../backup/export.js')
      const body = { type: 'application/jsonl', pieces: exportLines(config, { passwords: withPasswords }) }
      const { print, save } = await import('./lib/output/save.js')
      if (out === undefined || out === '-') return print(cli.terminal, body)
      await save(cli.terminal, out, body)
      tell(cli.terminal, `Wrote the site to ${out}.`)
    })
}
