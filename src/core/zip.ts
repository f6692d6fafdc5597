import { promisify } from 'node:util'
import { constants, crc32, deflateRaw } from 'node:zlib'
import { AppError } from './errors.js'

/** A piece of a file of an archive, and how many rows it has. The pieces of a file follow each other. */
export interface FilePiece {
  file: string
  text: string | Uint8Array
  rows: number
}

/** A piece of an archive. */
interface Packed {
  bytes: Uint8Array
  rows: number
}

const deflated = promisify(deflateRaw as typeof deflateOf)

/** The largest number of the fields that every reader knows. Larger ones are in fields of ZIP64. */
const [MOST_32, MOST_16] = [0xffff_ffff, 0xffff]
/** Sizes come after the data, and names are UTF-8. */
const FLAGS = 0x0808
const [STORED_SINCE, ZIP64_SINCE, DEFLATE] = [20, 45, 8]
/** An empty block, which ends compressed data. */
const END = Buffer.from([0x03, 0x00])

/**
 * Files as a ZIP archive, which is written while they are made: of each file a piece is in memory, and of all files their
 * names.
 */
export async function* zipped(files: AsyncIterable<FilePiece>, at: Date): AsyncGenerator<Packed> {
  const archive = new Archive(at)
  for await (const { file, text, rows } of files) {
    const bytes = [...archive.begin(file), await archive.piece(Buffer.from(text))]
    yield { bytes: Buffer.concat(bytes), rows }
  }
  yield { bytes: Buffer.concat([...archive.endFile(), ...archive.end()]), rows: 0 }
}

interface Entry {
  name: Buffer
  offset: number
  crc: number
  packed: number
  size: number
}

class Archive {
  readonly #entries: Buffer[] = []
  readonly #time: number
  #offset = 0
  #open: Entry | undefined

  /** The format has years from 1980 on, and every second second. */
  constructor(at: Date) {
    const date = (Math.max(at.getUTCFullYear(), 1980) - 1980) * 512 + (at.getUTCMonth() + 1) * 32 + at.getUTCDate()
    this.#time = date * 65_536 + at.getUTCHours() * 2048 + at.getUTCMinutes() * 32 + (at.getUTCSeconds() >> 1)
  }

  *begin(file: string): Generator<Buffer> {
    const name = Buffer.from(file)
    if (this.#open?.name.equals(name)) return
    yield* this.endFile()
    this.#open = { name, offset: this.#offset, crc: 0, packed: 0, size: 0 }
    yield this.#put(fields([4, 0x04034b50], [2, STORED_SINCE], [2, FLAGS], [2, DEFLATE], [4, this.#time], [4, 0], [4, 0], [4, 0], [2, name.length], [2, 0])) // prettier-ignore
    yield this.#put(name)
  }

  /** Blocks of compressed data, one after another, are compressed data. */
  async piece(bytes: Buffer): Promise<Buffer> {
    const entry = this.#open
    if (!entry || bytes.length === 0) return Buffer.alloc(0)
    const packed = await deflated(bytes, { finishFlush: constants.Z_SYNC_FLUSH })
    entry.crc = crc32(bytes, entry.crc)
    entry.size += bytes.length
    entry.packed += packed.length
    if (entry.size > MOST_32) throw new AppError('PAYLOAD_TOO_LARGE', `${entry.name.toString()} has more than 4 GB. Export it on the machine of the site.`) // prettier-ignore
    return this.#put(packed)
  }

  *endFile(): Generator<Buffer> {
    const entry = this.#open
    if (!entry) return
    this.#open = undefined
    entry.packed += END.length
    const sizes: Field[] = [
      [4, entry.crc],
      [4, entry.packed],
      [4, entry.size],
    ]
    yield this.#put(END)
    yield this.#put(fields([4, 0x08074b50], ...sizes))
    const isFar = entry.offset >= MOST_32
    const far = isFar ? fields([2, 1], [2, 8], [8, entry.offset]) : Buffer.alloc(0)
    const since = isFar ? ZIP64_SINCE : STORED_SINCE
    const head = fields([4, 0x02014b50], [2, since], [2, since], [2, FLAGS], [2, DEFLATE], [4, this.#time], ...sizes, [2, entry.name.length], [2, far.length], [2, 0], [2, 0], [2, 0], [4, 0], [4, isFar ? MOST_32 : entry.offset]) // prettier-ignore
    this.#entries.push(Buffer.concat([head, entry.name, far]))
  }

  /** What is in the archive. */
  *end(): Generator<Buffer> {
    const [count, start] = [this.#entries.length, this.#offset]
    for (const entry of this.#entries) yield this.#put(entry)
    const [size, at] = [this.#offset - start, this.#offset]
    if (count >= MOST_16 || start >= MOST_32 || size >= MOST_32) {
      yield fields([4, 0x06064b50], [8, 44], [2, ZIP64_SINCE], [2, ZIP64_SINCE], [4, 0], [4, 0], [8, count], [8, count], [8, size], [8, start]) // prettier-ignore
      yield fields([4, 0x07064b50], [4, 0], [8, at], [4, 1])
    }
    const some = Math.min(count, MOST_16)
    yield fields([4, 0x06054b50], [2, 0], [2, 0], [2, some], [2, some], [4, Math.min(size, MOST_32)], [4, Math.min(start, MOST_32)], [2, 0]) // prettier-ignore
  }

  #put(bytes: Buffer): Buffer {
    this.#offset += bytes.length
    return bytes
  }
}

/** A number in so many bytes, the lowest first. */
type Field = readonly [bytes: 2 | 4 | 8, value: number]

function fields(...all: Field[]): Buffer {
  const buffer = Buffer.alloc(all.reduce((sum, [bytes]) => sum + bytes, 0))
  let at = 0
  for (const [bytes, value] of all) {
    if (bytes === 8) buffer.writeBigUInt64LE(BigInt(value), at)
    else buffer.writeUIntLE(value, at, bytes)
    at += bytes
  }
  return buffer
}

declare function deflateOf(
  bytes: Uint8Array,
  options: object,
  done: (error: Error | null, packed: Buffer) => void,
): void
