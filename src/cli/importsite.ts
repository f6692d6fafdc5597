import { mkdtempSync, rmSync, createWriteStream, existsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { ImportedSite } from '../backup/importsite.js'
import { AppError } from '../core/errors.js'
import { assertLocal, type Cli } from './lib/connection/session.js'
import type { Flags } from './lib/command/several.js'
import { formatOf, isStructured, print } from './lib/output/output.js'
import type { Column } from './lib/output/table.js'
import { confirm } from './lib/prompts/prompts.js'
import { steps } from './lib/terminal/steps.js'
import { tell } from './lib/terminal/terminal.js'
import { version } from './version.js'

/** The source that is an export of feedbackctl. It has the whole site, so no other import is like it. */
export const OWN = 'feedbackctl'

type Lines = ImportedSite['types'][number]

const columns: Column<Lines>[] = [
  { head: 'TYPE', field: 'type', text: ({ type }) => type, drop: 0, whole: true },
  { head: 'LINES', field: 'lines', text: ({ lines }) => String(lines), right: true, drop: 0 },
]

/** Makes the empty site here that of an export. */
export async function importExport(cli: Cli, given: string, flags: Flags & { yes?: boolean }): Promise<void> {
  const { terminal } = cli
  const config = await cli.config()
  assertLocal(config, 'import feedbackctl')
  const { importSite } = await import('../backup/importsite.js')
  const shown = given === '-' ? 'the export' : given
  const { file, remove } = await fileOf(terminal, given)
  try {
    const run = (dryRun: boolean) => {
      const { report, end } = steps(terminal, 'Interrupted. Nothing was changed.')
      return importSite(config, file, { shown, version, now: terminal.now(), dryRun, onProgress: report }).finally(end)
    }
    const { dryRun = false, yes = false } = flags
    if (!dryRun && !yes) {
      const { same } = await run(true) // no question about what cannot be done
      if (!same) await confirm(terminal, flags, `Make the empty site here that of ${shown}?`)
    }
    const done = await run(dryRun)
    const body = { ...done, dry_run: dryRun }
    await print(terminal, flags, { body, rows: done.types, columns, id: ({ type }) => type, single: false })
    if (isStructured(formatOf(terminal, flags))) return
    if (done.same) return tell(terminal, `The site is that of ${shown} already. Nothing was changed.`)
    if (dryRun) return tell(terminal, 'The site would have these lines. Nothing was changed.')
    tell(terminal, `The site is that of ${shown}.${done.kept === null ? '' : ` What was there is kept: ${done.kept}`}`)
    if (!done.passwords) tell(terminal, 'The export has no passwords: people sign in by a link that the site mails to them.') // prettier-ignore
  } finally {
    remove()
  }
}

/** The file is read twice, so what comes on stdin is kept meanwhile. */
async function fileOf(terminal: Cli['terminal'], given: string): Promise<{ file: string; remove(this: void): void }> {
  if (given !== '-') {
    const file = path.resolve(terminal.cwd, given)
    if (!existsSync(file)) throw new AppError('USAGE', `${given} does not exist.`)
    if (!statSync(file).isFile()) throw new AppError('USAGE', `${given} is not a file.`)
    return { file, remove: () => {} }
  }
  const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-import-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const file = path.join(folder, 'site.jsonl')
  try {
    await pipeline(terminal.stdin, createWriteStream(file, { mode: 0o600 }))
  } catch (error) {
    remove()
    throw error
  }
  return { file, remove }
}
