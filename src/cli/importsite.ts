import { createWriteStream, existsSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { ImportedSite } from '../backup/importsite.js'
import { AppError } from '../core/errors.js'
import { makePrivateFolder } from '../core/files.js'
import { assertLocal, type Cli } from './lib/connection/session.js'
import type { Flags } from './lib/command/several.js'
import { formatOf, isStructured, print } from './lib/output/output.js'
import type { Column } from './lib/output/table.js'
import { confirm } from './lib/prompts/prompts.js'
import { steps } from './lib/terminal/steps.js'
import { tell } from './lib/terminal/terminal.js'
import { version } from './version.js'

/** The name of our own exports as a source. They hold a whole site, so they are not imported record by record. */
export const OWN = 'feedbackctl'

type Lines = ImportedSite['types'][number]

const columns: Column<Lines>[] = [
  { head: 'TYPE', field: 'type', text: ({ type }) => type, drop: 0, whole: true },
  { head: 'LINES', field: 'lines', text: ({ lines }) => String(lines), right: true, drop: 0 },
]

/** Runs `import feedbackctl`. */
export async function importExport(cli: Cli, given: string, flags: Flags & { yes?: boolean }): Promise<void> {
  const { terminal } = cli
  const config = await cli.config()
  assertLocal(config, 'import feedbackctl')
  const { importSite } = await import('../backup/importsite.js')
  const shown = given === '-' ? 'the export' : given
  const { file, remove } = await fileOf(terminal, given, config.get('data.dir'))
  try {
    const run = (dryRun: boolean) => {
      const { report, end } = steps(terminal, 'Interrupted. Nothing was changed.')
      return importSite(config, file, { shown, version, now: terminal.now(), dryRun, onProgress: report }).finally(end)
    }
    const { dryRun = false, yes = false } = flags
    if (!dryRun && !yes) {
      const { same } = await run(true) // so that nobody confirms an import that cannot succeed
      if (!same) await confirm(terminal, flags, `Import ${shown} into the empty site here?`)
    }
    const done = await run(dryRun)
    const body = { ...done, dry_run: dryRun }
    await print(terminal, flags, { body, rows: done.types, columns, id: ({ type }) => type, single: false })
    if (isStructured(formatOf(terminal, flags))) return
    if (done.same) return tell(terminal, `The site already equals ${shown}. Nothing was changed.`)
    if (dryRun) return tell(terminal, 'Would import these lines. Nothing was changed.')
    tell(terminal, `Imported ${shown}.${done.kept === null ? '' : ` The previous database is kept: ${done.kept}`}`)
    if (!done.passwords) tell(terminal, 'The export has no passwords: people sign in by a link that the site mails to them.') // prettier-ignore
  } finally {
    remove()
  }
}

/** The import reads the file twice, so stdin is stored in a file. `doctor` finds one that a killed import has left. */
async function fileOf(
  terminal: Cli['terminal'],
  given: string,
  dataDir = '.',
): Promise<{ file: string; remove(this: void): void }> {
  if (given !== '-') {
    const file = path.resolve(terminal.cwd, given)
    if (!existsSync(file)) throw new AppError('USAGE', `${given} does not exist.`)
    if (!statSync(file).isFile()) throw new AppError('USAGE', `${given} is not a file.`)
    return { file, remove: () => {} }
  }
  const { IMPORT } = await import('../backup/leftovers.js')
  const folder = makePrivateFolder(IMPORT, [path.resolve(dataDir)])
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
