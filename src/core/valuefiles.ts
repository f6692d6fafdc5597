import { closeSync, openSync, readSync } from 'node:fs'
import { AppError } from './errors.js'
import { whyNotRead } from './filecauses.js'

/** No setting is longer, and no configuration file. A wrong path may name a disk, or a device without an end. */
const MOST_BYTES = { value: 64_000, configuration: 1_000_000 }

/**
 * The value that a file holds, without its last line break. Throws CONFIG_INVALID, which names the file and its origin,
 * and never what the file holds: that may be a secret.
 */
export function valueOfFile(file: string, origin: string): string {
  const text = textOfFile(file, origin, 'value').replace(/\r?\n$/, '')
  // An empty value counts as not set: the site would begin to use another secret
  if (text === '') throw new AppError('CONFIG_INVALID', `${file}, named by ${origin}, is empty.`)
  if (text.includes('\0')) throw new AppError('CONFIG_INVALID', `${file}, named by ${origin}, is not text.`)
  return text
}

/** The text of a file, or of a pipe or a device. */
export function textOfFile(file: string, origin: string, what: keyof typeof MOST_BYTES): string {
  const most = MOST_BYTES[what]
  const bytes = reading(file, origin, () => bytesOf(file, most + 1))
  if (bytes.length > most)
    throw new AppError('CONFIG_INVALID', `${file}, named by ${origin}, has more than ${most / 1000} kB.`)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: what === 'configuration' }).decode(bytes)
  } catch {
    throw new AppError('CONFIG_INVALID', `${file}, named by ${origin}, is not UTF-8 text.`)
  }
}

/** Up to so many bytes. A pipe sends them in parts. */
function bytesOf(file: string, most: number): Buffer {
  const bytes = Buffer.alloc(most)
  const fd = openSync(file, 'r')
  try {
    let length = 0
    for (;;) {
      const read = readSync(fd, bytes, length, most - length, null)
      length += read
      if (read === 0 || length === most) return bytes.subarray(0, length)
    }
  } finally {
    closeSync(fd)
  }
}

export function reading<T>(file: string, origin: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new AppError('CONFIG_INVALID', `Cannot read ${file}, named by ${origin}: ${whyNotRead(error)}.`)
  }
}
