import { closeSync, fsyncSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import { AppError } from '../../../core/errors.js'
import { whyNotWritten } from '../../../core/filecauses.js'
import { openNewFile } from '../../../core/files.js'
import { escaped } from '../../../core/text.js'
import type { LongBody, Piece } from '../../../service/lib/download.js'
import { interruptible } from '../terminal/interruptible.js'
import { transferred } from '../terminal/progress.js'
import { write, type Terminal } from '../terminal/terminal.js'

/** Writes a download to stdout. The text is harmless for a terminal; in JSON it is the same data. */
export async function print(terminal: Terminal, { pieces }: LongBody): Promise<void> {
  const progress = transferred(terminal, !terminal.stdout.isTTY)
  try {
    for await (const { text, rows } of pieces) {
      await write(terminal, text.split('\n').map(escaped).join('\n'))
      progress.add(rows, Buffer.byteLength(text))
    }
  } finally {
    progress.end()
  }
}

/**
 * Writes a download to a new file, which nobody else can read. What is not complete is removed. Throws USAGE for a file
 * that exists or cannot be written.
 */
export async function save(terminal: Terminal, file: string, { pieces }: LongBody): Promise<void> {
  const target = path.resolve(terminal.cwd, file)
  const fd = opened(target, file)
  const interruption = interruptible(`Interrupted. Removed ${file}, which was not complete.`)
  const progress = transferred(terminal, true)
  const iterator: AsyncIterator<Piece> = pieces[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { done, value } = await interruption.until(iterator.next())
      if (done) break
      const bytes = value.bytes ?? Buffer.from(value.text)
      writeAll(fd, bytes, file)
      progress.add(value.rows, bytes.length)
    }
    fsyncSync(fd)
  } catch (error) {
    rmSync(target, { force: true })
    void iterator.return?.().catch(() => undefined) // it may wait for a server that sends nothing
    if (!(error instanceof AppError) || error.code === 'INTERRUPTED') throw error
    const message = `${error.message} Removed ${file}, which was not complete.`
    throw new AppError(`${error.code} ${error.status}`, message, { cause: error })
  } finally {
    progress.end()
    interruption.undo()
    closeSync(fd)
  }
}

function opened(target: string, file: string): number {
  try {
    return openNewFile(target)
  } catch (error) {
    throw notWritten(file, error)
  }
}

function writeAll(fd: number, bytes: Uint8Array, file: string): void {
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at)
  } catch (error) {
    throw notWritten(file, error)
  }
}

function notWritten(file: string, error: unknown): AppError {
  return new AppError('USAGE', `Cannot write ${file}: ${whyNotWritten(error)}.`)
}
