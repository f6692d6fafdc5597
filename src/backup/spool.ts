import { randomBytes } from 'node:crypto'
import { close, ftruncate, read, rmSync, write } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { AppError } from '../core/errors.js'
import { whyNotWritten } from '../core/filecauses.js'
import { openNewFile } from '../core/files.js'
import { IMPORT } from './leftovers.js'

const [readFrom, writeTo, truncated, closed] = [promisify(read), promisify(write), promisify(ftruncate), promisify(close)] // prettier-ignore

/** Of a body: text or bytes, and how many rows they are. */
interface Piece {
  text: string
  bytes?: Uint8Array
  rows: number
}

/** Bytes that are read of the file at a time. */
const CHUNK = 64 * 1024

/** Bytes that stay free, as a site on SQLite writes to the same disk, and after how many written they are looked at. */
const RESERVE = 32 * 1024 * 1024
export const CHECKED = 4 * 1024 * 1024

/**
 * What `pieces` give, by way of a temporary file: they are read as fast as the disk takes them, whoever takes what is
 * returned. A client that reads slowly then holds a file, and not the transaction of a snapshot, which keeps SQLite from
 * emptying its WAL and PostgreSQL from removing old rows. The file is in one of the folders, the first that takes it, and
 * has no name, so that nothing is left of it however the process ends.
 */
export async function* spooled(pieces: AsyncIterable<Piece>, folders: readonly string[]): AsyncGenerator<Piece> {
  const { fd, folder } = openUnnamed([...folders, tmpdir()])
  const state = { written: 0, rows: 0, isWhole: false, isAbandoned: false }
  let failure: unknown
  let checkAt = CHECKED
  let tell = () => {}
  const writing = (async () => {
    try {
      for await (const { text, bytes = Buffer.from(text), rows } of pieces) {
        if (state.written >= checkAt) {
          await assertRoom(folder)
          checkAt = state.written + CHECKED
        }
        await writeAll(fd, bytes, state.written, folder)
        state.written += bytes.length
        state.rows += rows
        tell()
        if (state.isAbandoned) return
      }
      state.isWhole = true
    } catch (error) {
      failure = error
      await truncated(fd, 0).catch(() => undefined) // the reader may be waiting for a client that takes nothing
    } finally {
      tell()
    }
  })()
  try {
    for (let [at, rows] = [0, 0]; ;) {
      const { written, isWhole } = state
      if (failure !== undefined) throw failure
      if (at === written) {
        if (isWhole) return
        await new Promise<void>((resolve) => (tell = resolve))
        continue
      }
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK, written - at))
      const { bytesRead } = await readFrom(fd, buffer, 0, buffer.length, at)
      if (bytesRead === 0) throw new Error('The temporary file of the export has become shorter.')
      at += bytesRead
      yield { text: '', bytes: buffer.subarray(0, bytesRead), rows: state.rows - rows }
      rows = state.rows
    }
  } finally {
    state.isAbandoned = true
    await writing
    await closed(fd)
  }
}

function openUnnamed(folders: readonly string[]): { fd: number; folder: string } {
  let cause: unknown
  for (const folder of folders)
    try {
      const file = path.join(folder, `${IMPORT}${randomBytes(6).toString('hex')}`)
      const fd = openNewFile(file)
      rmSync(file)
      return { fd, folder }
    } catch (error) {
      cause = error // read-only, or not there
    }
  throw notWritten(folders.at(-1) ?? '', cause)
}

/** Throws STORAGE_FULL where little room is left, as a site on SQLite writes to the same disk. */
export async function assertRoom(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize < RESERVE)
    throw new AppError('STORAGE_FULL', `Cannot write a temporary file in ${folder}: less than 32 MB would stay free.`)
}

async function writeAll(fd: number, bytes: Uint8Array, from: number, folder: string): Promise<void> {
  try {
    for (let done = 0; done < bytes.length;)
      done += (await writeTo(fd, bytes, done, bytes.length - done, from + done)).bytesWritten
  } catch (error) {
    throw notWritten(folder, error)
  }
}

export function notWritten(folder: string, cause: unknown): AppError {
  const { code } = cause as NodeJS.ErrnoException
  const isFull = code === 'ENOSPC' || code === 'EDQUOT'
  return new AppError(isFull ? 'STORAGE_FULL' : 'SERVER_ERROR', `Cannot write a temporary file in ${folder}: ${whyNotWritten(cause)}.`, { cause }) // prettier-ignore
}
