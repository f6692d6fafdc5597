import type { Config } from '../config.js'
import { databaseFile } from '../core/addresses.js'
import { AppError } from '../core/errors.js'
import { listed } from '../core/text.js'
import { openDatabase } from '../db/connect.js'
import { contentOf, deriveCounts } from '../db/reimported.js'
import { NEWEST, newer, newestApplied } from '../db/schema.js'
import { exportLines } from './export.js'
import { exportBatches, exportRows, type Summary } from './exportfile.js'
import { assertUnused, hasContent } from './files.js'
import { replaceContents } from './restore.js'
import type { OnStep } from './steps.js'

/** The result of an import, or of its dry run. */
export interface ImportedSite {
  /** Whether the site already equals the file. */
  same: boolean
  /** Where the previous database is kept; null if there was none, or nothing was changed. */
  kept: string | null
  passwords: boolean
  types: { type: string; lines: number }[]
}

interface Options {
  /** How messages name the file. */
  shown: string
  version: string
  now: Date
  dryRun: boolean
  onProgress: OnStep
}

/**
 * Imports an export into an empty site. It checks the whole file first. If it is killed, the site is either still empty
 * or complete. Throws USAGE if the file is not an export, or if the site has other content.
 */
export async function importSite(config: Config, file: string, options: Options): Promise<ImportedSite> {
  const { shown, dryRun, onProgress } = options
  const { lines, ...checked } = await checkedExport(file, options)
  const done = { passwords: checked.passwords, types: typesOf(checked) }
  const there = await contentHere(config)
  if (there !== undefined && (await isSame(config, file, shown, checked))) return { same: true, kept: null, ...done }
  if (there)
    throw new AppError('USAGE', `${notEmpty(there, shown)} Import into an empty site: choose another database.url or --data-dir. Nothing was changed.`) // prettier-ignore
  if (dryRun) return { same: false, kept: null, ...done }
  const summary = newSummary()
  let rows = 0
  async function* counted() {
    for await (const batch of exportBatches(file, shown, summary)) {
      onProgress('restore', batch.table.name, (rows += batch.rows.length), lines)
      yield batch
    }
  }
  const contents = {
    schema: NEWEST,
    rows: counted(),
    sequences: () => summary.sequences,
    indexed: (table: string, done: number, all: number) => onProgress('index', table, done, all),
    derived: deriveCounts,
  }
  const kept = await replaceContents(config, contents, { ...options, name: 'before-import' }).catch(
    (error: unknown) => {
      throw contradicting(shown, error)
    },
  )
  return { same: false, kept, ...done }
}

/** Reads an export to its end. Throws USAGE if it is none. */
export async function checkedExport(
  file: string,
  { shown, onProgress }: Pick<Options, 'shown' | 'onProgress'>,
): Promise<Summary & { lines: number }> {
  const summary = newSummary()
  let lines = 0
  for await (const { table } of exportRows(file, shown, summary))
    if ((lines += 1) % 500 === 0) onProgress('check', table.name, lines, undefined)
  return { ...summary, lines }
}

export const typesOf = ({ types }: Summary): ImportedSite['types'] =>
  [...types].map(([type, lines]) => ({ type, lines }))

export const notEmpty = (there: string, shown: string): string =>
  `The site is not empty, and differs from ${shown}: it has ${there}.`

export const newSummary = (): Summary => ({ passwords: false, types: new Map(), sequences: {} })

/** What ends an import, in words about the file. */
export const contradicting = (shown: string, cause: unknown): unknown =>
  !(cause instanceof AppError) || cause.code !== 'BACKUP_DAMAGED'
    ? cause
    : new AppError('USAGE', `The lines of ${shown} contradict each other: some appear twice, or refer to missing ones. Nothing was changed.`, { cause }) // prettier-ignore

/** Describes the content of the site: empty if it has only an owner, undefined if there is no site. */
async function contentHere(config: Config): Promise<string | undefined> {
  const url = config.get('database.url') ?? ''
  const file = databaseFile(url)
  if (file !== undefined && !hasContent(file)) return undefined
  await assertUnused({ url, file })
  const { db, close } = await openDatabase(url)
  try {
    const schema = await newestApplied(db)
    if (schema === undefined) return undefined
    if (schema > NEWEST) throw newer()
    if (schema < NEWEST)
      throw new AppError('DATABASE_OUTDATED', 'The database has an older schema. Run "feedbackctl migrate" first.')
    return listed(await contentOf(db))
  } finally {
    await close()
  }
}

/** Whether an export of the site would equal the file. */
export async function isSame(config: Config, file: string, shown: string, { passwords }: Summary): Promise<boolean> {
  const given = exportRows(file, shown, newSummary())
  try {
    for await (const { text, rows } of exportLines(config, { passwords }))
      if (rows > 0)
        for (const line of text.split('\n').slice(0, -1)) {
          const next = await given.next()
          if (next.done || next.value.text !== line) return false
        }
    return (await given.next()).done === true
  } finally {
    await given.return(undefined)
  }
}
