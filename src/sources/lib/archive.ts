import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { open, type Entry, type ZipFile } from 'yauzl'
import { AppError } from '../../core/errors.js'
import type { Given, Source, SourceRecord } from '../source.js'

/** Bytes of one entry that is read whole, and of all entries. A small file can be unpacked to far more. */
const MOST_OF_ENTRY = 200_000_000
const MOST_OF_ALL = 4_000_000_000
const MOST_ENTRIES = 20_000

/** The entries of a ZIP file by their names. Nothing is written to a disk. */
export class Archive {
  readonly #zip: ZipFile
  readonly #entries: ReadonlyMap<string, Entry>

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip
    this.#entries = entries
  }

  /** Throws USAGE for a file that is no ZIP archive, or that unpacks to too much. */
  static async open(file: string): Promise<Archive> {
    const zip = await promisify(open as typeof openZip)(file, { lazyEntries: true, autoClose: false }).catch(
      (error: unknown) => {
        throw new AppError('USAGE', `The file is no ZIP archive that can be read: ${(error as Error).message}.`)
      },
    )
    const entries = new Map<string, Entry>()
    let size = 0
    zip.on('entry', (entry: Entry) => {
      size += entry.uncompressedSize
      entries.set(entry.fileName, entry)
      if (size > MOST_OF_ALL || entries.size > MOST_ENTRIES) zip.emit('error', new Error('it unpacks to too much'))
      else zip.readEntry()
    })
    zip.readEntry()
    await once(zip, 'end').catch((error: unknown) => {
      zip.close()
      throw new AppError('USAGE', `The ZIP archive cannot be read: ${(error as Error).message}.`)
    })
    return new Archive(zip, entries)
  }

  get names(): string[] {
    return [...this.#entries.keys()]
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  /** How many bytes the entries with such names unpack to. Reading one that claims too few fails. */
  sizeOf(name: RegExp): number {
    const sizes = [...this.#entries.values()].filter(({ fileName }) => name.test(fileName))
    return sizes.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0)
  }

  /** The name of an entry in whatever folder it is. */
  find(name: string): string | undefined {
    return this.names.find((each) => each === name || each.endsWith(`/${name}`))
  }

  async bytes(name: string): Promise<Readable> {
    const entry = this.#entries.get(name)
    if (!entry) throw new AppError('USAGE', `The archive has no ${name}.`)
    return promisify(this.#zip.openReadStream.bind(this.#zip) as typeof openStream)(entry).catch((error: unknown) => {
      throw unreadable(name, error)
    })
  }

  /** The first bytes of an entry. Undefined if it is missing or cannot be unpacked. */
  async firstBytes(name: string, most: number): Promise<Buffer | undefined> {
    if (!this.#entries.has(name)) return undefined
    const chunks: Buffer[] = []
    let size = 0
    try {
      for await (const chunk of (await this.bytes(name)) as AsyncIterable<Buffer>) {
        chunks.push(chunk)
        size += chunk.length
        if (size >= most) break
      }
    } catch {
      return undefined
    }
    return Buffer.concat(chunks).subarray(0, most)
  }

  /** The rows of a JSON array; none where there is no such entry. */
  async rows(name: string): Promise<Record<string, unknown>[]> {
    const found = this.find(name)
    if (found === undefined) return []
    const chunks: Buffer[] = []
    let size = 0
    const stream = await this.bytes(found)
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        size += chunk.length
        if (size > MOST_OF_ENTRY) throw new AppError('USAGE', `${name} of the archive is too long.`)
        chunks.push(chunk)
      }
    } catch (error) {
      throw error instanceof AppError ? error : unreadable(name, error)
    }
    try {
      const rows: unknown = JSON.parse(Buffer.concat(chunks).toString())
      if (Array.isArray(rows)) return rows as Record<string, unknown>[]
    } catch {
      // as for other JSON
    }
    throw new AppError('USAGE', `${name} of the archive is no JSON array.`)
  }

  close(): void {
    this.#zip.close()
  }
}

/** Opens the archive for a source, and closes it when its records end. */
export const fromArchive = (
  records: (archive: Archive, note: Given['note']) => AsyncIterable<SourceRecord>,
): Source['read'] =>
  async function* ({ from, note }) {
    const archive = await Archive.open(from)
    try {
      yield* records(archive, note)
    } finally {
      archive.close()
    }
  }

const unreadable = (name: string, error: unknown) =>
  new AppError('USAGE', `${name} of the archive cannot be read: ${(error as Error).message}.`, { cause: error })

declare function openZip(file: string, options: object, done: (error: Error | null, zip: ZipFile) => void): void
declare function openStream(entry: Entry, done: (error: Error | null, stream: Readable) => void): void
