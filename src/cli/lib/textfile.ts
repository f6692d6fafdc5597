import { createReadStream } from 'node:fs'
import path from 'node:path'
import { AppError } from '../../core/errors.js'
import type { Terminal } from './terminal.js'

/** Bytes. The server takes no more in one request. */
const MAX_BYTES = 100_000

/** A text from the editor, and the flag that gives the same text from a file. */
export interface Written {
  text: string
  flag: string
}

/** The text of a file, or of stdin for '-', without the line break at its end. `origin` names the flag in errors. */
export async function readText(terminal: Terminal, file: string, origin: string): Promise<string> {
  const where = file === '-' ? 'stdin' : file
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of file === '-' ? terminal.stdin : createReadStream(path.resolve(terminal.cwd, file))) {
      chunks.push(Buffer.from(chunk as Uint8Array))
      if ((size += chunks.at(-1)?.length ?? 0) > MAX_BYTES) break
    }
  } catch (error) {
    throw new AppError(
      'USAGE',
      `Cannot read ${where}, named by ${origin}: ${(error as { code?: string }).code ?? 'unknown reason'}.`,
    )
  }
  if (size > MAX_BYTES)
    throw new AppError('USAGE', `${where}, named by ${origin}, has more than 100 kB. Give a shorter text.`)
  if (size === 0 && file === '-') throw new AppError('INPUT_MISSING', 'Nothing came on stdin.')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)).replace(/\r?\n$/, '')
  } catch {
    throw new AppError('USAGE', `${where}, named by ${origin}, is not UTF-8 text. Save it as UTF-8.`)
  }
}
