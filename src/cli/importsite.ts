import { createReadStream, createWriteStream, existsSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { ImportedSite } from '../backup/importsite.js'
import type { OnStep, Step } from '../backup/steps.js'
import { AppError, type ErrorBody } from '../core/errors.js'
import { makePrivateFolder } from '../core/files.js'
import type { Cli } from './lib/connection/session.js'
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
  const server = config.get('server')
  const { importSite } = await import('../backup/importsite.js')
  const shown = given === '-' ? 'the export' : given
  const { file, remove } = await fileOf(terminal, given, server === undefined ? config.get('data.dir') : tmpdir())
  try {
    const run = (dryRun: boolean): Promise<Imported> => {
      const { report, end } = steps(terminal, 'Interrupted. Nothing was changed.')
      const work =
        server === undefined
          ? importSite(config, file, { shown, version, now: terminal.now(), dryRun, onProgress: report })
          : sent(cli, file, { dryRun, onProgress: report })
      return work.finally(end)
    }
    const { dryRun = false, yes = false } = flags
    if (!dryRun && !yes) {
      const { same } = await run(true) // so that nobody confirms an import that cannot succeed
      if (!same)
        await confirm(
          terminal,
          flags,
          `Import ${shown} into the empty site ${server === undefined ? 'here' : `at ${server}`}?`,
        )
    }
    const done = await run(dryRun)
    const body = { ...done, dry_run: dryRun }
    await print(terminal, flags, { body, rows: done.types, columns, id: ({ type }) => type, single: false })
    if (isStructured(formatOf(terminal, flags))) return
    if (done.same) return tell(terminal, `The site already equals ${shown}. Nothing was changed.`)
    if (dryRun) return tell(terminal, 'Would import these lines. Nothing was changed.')
    tell(terminal, `Imported ${shown}.${done.kept ? ` The previous database is kept: ${done.kept}` : ''}`)
    if (done.owner)
      tell(terminal, `You are signed out. The owner is ${done.owner.email}${done.owner.hasPassword ? '' : ', who signs in by a link that the site mails'}.`) // prettier-ignore
    if (!done.passwords) tell(terminal, 'The export has no passwords: people sign in by a link that the site mails to them.') // prettier-ignore
  } finally {
    remove()
  }
}

/** What an import has done. At a server, nothing is kept beside the site. */
interface Imported extends Omit<ImportedSite, 'kept'> {
  kept?: string | null
  owner?: { email: string; hasPassword: boolean } | null
}

interface AnswerLine extends Imported {
  result: 'working' | 'complete' | 'incomplete'
  step?: Step | 'receive'
  table?: string
  rows?: number
  all?: number | undefined
  error?: ErrorBody
}

/** Sends the file to a server, which imports it. */
async function sent(
  { connect }: Cli,
  file: string,
  { dryRun, onProgress }: { dryRun: boolean; onProgress: OnStep },
): Promise<Imported> {
  const [call, { site, LINES }, { answerLines, errorOf }] = await Promise.all([
    connect({ dryRun }),
    import('../service/siteimports.js'),
    import('../service/lib/uploadresults.js'),
  ])
  const { pieces } = await call(site, {}, { type: LINES, bytes: createReadStream(file) })
  for await (const { result, step = 'wait', table = '', rows = 0, all, error, ...answer } of answerLines<AnswerLine>(
    pieces,
  )) {
    if (result === 'incomplete') throw errorOf(error)
    if (result === 'complete')
      return { same: answer.same, passwords: answer.passwords, types: answer.types, owner: answer.owner ?? null }
    onProgress(step === 'receive' ? 'wait' : step, table, rows, all)
  }
  throw new AppError(
    'SERVER_UNREACHABLE',
    'The server did not answer all: its answer has no end. Run the import again, which says whether the site already equals the file.',
  )
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
