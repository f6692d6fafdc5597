import type { Stats } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Encoding } from '../encoding.js'

/** Bytes of a file that is compressed. To compress a larger one would take seconds. */
export const LARGEST = 8_000_000
/** Bytes that are kept of all files. */
const MOST = 32_000_000

interface Kept {
  bytes: Promise<Buffer>
  /** 0 while it is compressed. */
  size: number
}

/** Files that are compressed once, and again when they change. Those that were compressed first go first. */
export class CompressedFiles {
  readonly #kept = new Map<string, Kept>()

  async get(file: string, { size, mtimeMs }: Stats, encoding: Encoding): Promise<Buffer> {
    const key = `${encoding} ${size} ${mtimeMs} ${file}`
    const known = this.#kept.get(key)
    if (known) return known.bytes
    const kept: Kept = { bytes: compress(file, encoding), size: 0 }
    this.#kept.set(key, kept)
    try {
      const bytes = await kept.bytes
      kept.size = bytes.length
      this.#trim()
      return bytes
    } catch (error) {
      this.#kept.delete(key)
      throw error
    }
  }

  #trim(): void {
    let all = [...this.#kept.values()].reduce((sum, { size }) => sum + size, 0)
    for (const [key, { size }] of this.#kept) {
      if (all <= MOST) return
      this.#kept.delete(key)
      all -= size
    }
  }
}

async function compress(file: string, encoding: Encoding): Promise<Buffer> {
  const bytes = await readFile(file)
  if (encoding === 'gzip') return promisify(gzip)(bytes, { level: 9 })
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  return promisify(brotliCompress)(bytes, { params })
}
