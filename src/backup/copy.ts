import path from 'node:path'
import { databaseFile } from '../core/addresses.js'
import { AppError } from '../core/errors.js'
import { inFolder } from '../core/files.js'
import type { Snapshot } from '../db/carried.js'
import { openDatabase, transaction } from '../db/connect.js'
import { load } from '../db/load.js'
import { NEWEST, newer, newestApplied } from '../db/schema.js'
import { openSnapshot } from '../db/snapshot.js'
import { assertUnused, filledFile, hasContent } from './files.js'
import { differences, linesOf, summed, type Manifest, type OnProgress } from './records.js'

/** A line of the balance sheet. `there` is null where it was not read back. */
export interface Balance {
  table: string
  from: { rows: number; sha256: string }
  there: { rows: number; sha256: string } | null
  equal: boolean | null
}

export interface Copied {
  tables: Balance[]
  /** Tables and counters that are not the same on both sides. */
  differ: string[]
}

interface CopyOptions {
  verify?: boolean
  dryRun?: boolean
  /** Reports how many rows of a table a step has done, and of how many where that is known. */
  onProgress?: (step: 'copy' | 'index' | 'compare', table: string, rows: number, all?: number) => void
}

/**
 * Copies the database `from` into the empty database `to`, of either engine, and with `verify` reads it back. Throws
 * DATABASE_IN_USE while another process uses one of them, and BACKUP_EXISTS where there are tables of ours already.
 */
export async function copyDatabase(
  from: string,
  to: string,
  { verify, dryRun, onProgress }: CopyOptions,
): Promise<Copied> {
  const file = databaseFile(from)
  if (file !== undefined && !hasContent(file)) throw new AppError('DATABASE_MISSING', `There is no database ${file}.`) // opening would make one
  await assertUnused({ url: from, file })
  await assertEmpty(to)
  const snapshot = await openSnapshot(from)
  try {
    assertCurrent(snapshot)
    const held: { manifest?: Manifest } = {}
    if (!dryRun) await fill(to, snapshot, { done: (manifest) => (held.manifest = manifest), onProgress })
    const { manifest = { tables: {}, sequences: {} } } = held
    const there = verify && !dryRun ? await sumsOf(to, (...rest) => onProgress?.('compare', ...rest)) : undefined
    return {
      tables: Object.entries(manifest.tables).map(([table, sum]) => {
        const other = there?.tables[table] ?? null
        const equal = there ? other?.rows === sum.rows && other.sha256 === sum.sha256 : null
        return { table, from: sum, there: other, equal }
      }),
      differ: there ? differences(manifest, there) : [],
    }
  } finally {
    await snapshot.close()
  }
}

function assertCurrent({ schema }: Snapshot): void {
  if (schema === undefined) throw new AppError('DATABASE_MISSING', 'The database to copy has no tables of feedbackctl.')
  if (schema > NEWEST) throw newer()
  if (schema < NEWEST)
    throw new AppError(
      'DATABASE_OUTDATED',
      'The database to copy has an older schema. Run "feedbackctl migrate" on it.',
    )
}

async function assertEmpty(to: string): Promise<void> {
  const file = databaseFile(to)
  if (file !== undefined) {
    if (hasContent(file)) throw new AppError('BACKUP_EXISTS', `${file} exists. Copy to a file that does not.`)
    return
  }
  const { db, close } = await openDatabase(to)
  try {
    if ((await newestApplied(db)) !== undefined)
      throw new AppError('BACKUP_EXISTS', 'The PostgreSQL database has tables of feedbackctl. Copy to an empty one.')
  } finally {
    await close()
  }
}

/** All of it or nothing: one transaction, or a file that gets its name at the end. */
async function fill(
  to: string,
  snapshot: Snapshot,
  { done, onProgress = () => {} }: { done: (manifest: Manifest) => void; onProgress: CopyOptions['onProgress'] },
): Promise<void> {
  const contents = {
    schema: NEWEST,
    rows: summed(snapshot, { onProgress: (...rest) => onProgress('copy', ...rest), done }),
    indexed: (...rest: [string, number, number]) => onProgress('index', ...rest),
    sequences: () => snapshot.sequences,
  }
  const file = databaseFile(to)
  if (file === undefined) {
    const { db, close } = await openDatabase(to)
    try {
      await transaction(db, (inside) => load(inside, contents))
    } finally {
      await close()
    }
    return
  }
  await inFolder(path.dirname(file), async () => {
    const fresh = await filledFile(file, 'copying', contents)
    try {
      fresh.replace()
    } finally {
      fresh.discard()
    }
  })
}

async function sumsOf(url: string, onProgress: OnProgress): Promise<Manifest> {
  const snapshot = await openSnapshot(url)
  try {
    const held: { manifest?: Manifest } = {}
    const lines = linesOf(
      snapshot,
      { secret: null },
      { redact: false, onProgress, done: (each) => (held.manifest = each) },
    )
    while (!(await lines.next()).done);
    return held.manifest ?? { tables: {}, sequences: {} }
  } finally {
    await snapshot.close()
  }
}
