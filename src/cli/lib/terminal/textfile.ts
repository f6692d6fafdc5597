import { createReadStream } from 'node:fs'
import path from 'node:path'
import { AppError } from '../../../core/errors.js'
import { whyNotRead } from '../../../core/filecauses.js'
import { LENGTHS } from '../../../core/lengths.js'
import { sizeText } from '../../../core/text.js'
import type { Terminal } from './terminal.js'

/** No field takes a longer text: a character has up to four bytes. */
const MAX_BYTES = LENGTHS.text * 4

/** A text from the editor, and the flag that reads the same text from a file. */
export interface EditedText {
  text: string
  flag: string
}

/** The text of a file, or of stdin for '-', without the final line break. `origin` names the flag in errors. */
export async function readText(terminal: Terminal, file: string, origin: string): Promise<string> {
  const name = file === '-' ? 'stdin' : file
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of file === '-' ? terminal.stdin : createReadStream(path.resolve(terminal.cwd, file))) {
      const bytes = Buffer.from(chunk as Uint8Array)
      chunks.push(bytes)
      size += bytes.length
      if (size > MAX_BYTES) break
    }
  } catch (error) {
    throw new AppError('USAGE', `Cannot read ${name}, named by ${origin}: ${whyNotRead(error)}.`)
  }
  if (size > MAX_BYTES)
    throw new AppError(
      'USAGE',
      `${name}, named by ${origin}, has more than ${sizeText(MAX_BYTES)}. Give a shorter text.`,
    )
  if (size === 0 && file === '-') throw new AppError('INPUT_MISSING', 'stdin is empty.')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)).replace(/\r?\n$/, '')
  } catch {
    throw new AppError('USAGE', `${name}, named by ${origin}, is not UTF-8 text. Save it as UTF-8.`)
  }
}
