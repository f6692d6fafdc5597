import { rmSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../config.js'
import { AppError } from '../core/errors.js'
import { makePrivateFolder } from '../core/files.js'
import { openDatabase } from '../db/connect.js'
import { load } from '../db/load.js'
import { NEWEST } from '../db/schema.js'
import { openSnapshot } from '../db/snapshot.js'
import { damaged, readHeader } from './container.js'
import { REHEARSAL, copyLeftovers, removeLeftovers } from './leftovers.js'
import { differences, linesOf, readRecords, type Envelope, type Manifest, type OnProgress } from './records.js'
import { counter, rowsOf, type OnStep } from './steps.js'
import { assertSchemaKnown, fileOf, listBackups, type Verified, verifyBackup } from './verify.js'

/** A backup that was restored for a trial, and compared row by row with what it says of itself. */
export interface Rehearsed extends Verified {
  sequences: Manifest['sequences']
  /** The schema that the copy was updated to. */
  migratedTo: string
}

/**
 * Restores a backup, by default the newest of the folder of backups that is not redacted, into a temporary SQLite
 * database in the folder of the site, and reads it back. Throws BACKUP_DAMAGED where a count or a hash differs. The site
 * is not touched, and need not be there.
 */
export async function rehearse(
  config: Config,
  given: string | undefined,
  onProgress: OnStep = () => {},
): Promise<Rehearsed> {
  const file = given === undefined ? await newestFile(config) : fileOf(config, given)
  const { verified, manifest } = await restoreForTrial(config, file, { onProgress, isCompared: true })
  return { ...verified, sequences: manifest.sequences, migratedTo: NEWEST }
}

/** Throws where `restore` would: the rows are loaded into a temporary SQLite database as well. */
export async function verifyRestorable(
  config: Config,
  given: string,
  onProgress: OnStep = () => {},
): Promise<Verified> {
  const { verified } = await restoreForTrial(config, fileOf(config, given), { onProgress, isCompared: false })
  return verified
}

async function restoreForTrial(
  config: Config,
  file: string,
  { onProgress, isCompared }: { onProgress: OnStep; isCompared: boolean },
): Promise<{ verified: Verified; manifest: Manifest }> {
  const read = await readHeader(file)
  await assertSchemaKnown(file, read)
  const counted = counter(onProgress)
  const { opened, manifest, verified } = await verifyBackup(config, file, counted('check', undefined))
  const all = rowsOf(manifest)
  const near = path.resolve(config.get('data.dir') ?? '.')
  removeLeftovers(copyLeftovers(near, new Date())) // a copy of the site has its secrets
  const folder = makePrivateFolder(REHEARSAL, [near])
  const url = `sqlite:${path.join(folder, 'feedback.db')}`
  try {
    const { db, close } = await openDatabase(url)
    try {
      const envelope: Partial<Envelope> = {}
      const passphrase = config.get('backup.passphrase')
      await load(db, {
        schema: opened.header.schema,
        rows: readRecords(file, opened, { passphrase, envelope, onProgress: counted('restore', all) }),
        indexed: (table, done, total) => onProgress('index', table, done, total),
        sequences: () => envelope.manifest?.sequences ?? {},
        loaded: async () => void (isCompared && (await compare(url, file, manifest, counted('compare', all)))),
      })
    } finally {
      await close()
    }
    return { verified, manifest }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function newestFile(config: Config): Promise<string> {
  const newest = (await listBackups(config)).find(({ redacted }) => !redacted)
  if (newest) return newest.file
  throw new AppError(
    'BACKUP_NOT_FOUND',
    `There is no backup in ${config.get('backup.dir')}. Make one with "feedbackctl backup create".`,
  )
}

async function compare(url: string, file: string, manifest: Manifest, onProgress: OnProgress): Promise<void> {
  const snapshot = await openSnapshot(url)
  try {
    const held: { manifest?: Manifest } = {}
    const done = (there: Manifest) => (held.manifest = there)
    const lines = linesOf(snapshot, { secret: null }, { redact: false, onProgress, done })
    while (!(await lines.next()).done);
    const wrong = differences(manifest, held.manifest ?? { tables: {}, sequences: {} })
    if (wrong.length > 0) throw damaged(file, `Restored, it differs in ${wrong.join(', ')}`)
  } finally {
    await snapshot.close()
  }
}
