import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { atomicFile } from '../core/atomicfile.js'
import { place } from '../core/processes.js'
import { openDatabase } from '../db/connect.js'
import { load, type Contents } from '../db/load.js'

/** Ends the name of a backup. */
export const ENDING = '.backup'

/** 2026-11-22T23:01:02.345Z as 20261122T230102Z, for names of files. */
export const stampOf = (time: Date): string => time.toISOString().replaceAll(/[-:]|\.\d+/g, '')

/** Whether a SQLite file has anything in it: a process that was killed may leave an empty one. */
export const hasContent = (file: string): boolean => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0

/** Throws DATABASE_IN_USE while another process uses the database. `file` is the SQLite file. */
export async function assertUnused(
  { url, file }: { url: string; file: string | undefined },
  options: { patience?: number } = {},
): Promise<void> {
  if (file === undefined) return (await import('../db/postgres/alone.js')).assertAlone(url)
  if (!hasContent(file)) return
  const { lockFile } = await import('../db/sqlite/alone.js')
  lockFile(file, options).release()
}

/** Eight hexadecimal digits that tell the processes of one container from those of another. */
export const placeMark = (): string => createHash('sha256').update(place()).digest('hex').slice(0, 8)

/** Fills a SQLite file, which is on the disk when this returns, and has yet to get its name. */
export async function filledFile(
  file: string,
  work: 'restoring' | 'copying',
  contents: Contents,
): Promise<ReturnType<typeof atomicFile>> {
  const fresh = atomicFile(file, {
    ending: (pid, random) => `.${work}-${pid}-${placeMark()}${random}`,
    companions: ['-wal', '-shm', '-journal'],
  })
  try {
    const { db, close } = await openDatabase(`sqlite:${fresh.temporary}`)
    try {
      await load(db, contents)
    } finally {
      await close()
    }
    fresh.sync()
    return fresh
  } catch (error) {
    fresh.discard()
    throw error
  }
}
