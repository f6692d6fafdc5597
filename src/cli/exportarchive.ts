import { existsSync, rmSync, statfsSync, statSync } from 'node:fs'
import path from 'node:path'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import { open, type Entry, type ZipFile } from 'yauzl'
import { IMPORT } from '../backup/leftovers.js'
import { AppError } from '../core/errors.js'
import { whyNotWritten } from '../core/filecauses.js'
import { makePrivateFolder } from '../core/files.js'
import { quoted, sizeText } from '../core/text.js'
import type { FilePiece } from '../core/zip.js'
import type { LongBody } from '../service/lib/download.js'
import { ofType } from './exportbody.js'
import { save } from './lib/output/save.js'
import { assertFolder, saveFolder } from './lib/output/savefolder.js'
import type { Terminal } from './lib/terminal/terminal.js'

/** Files of an export: small names, which no file system takes for anything else, in folders of such names. */
const SAFE = /^(?:[\w-][\w.-]{0,149}\/){0,8}(?:[\w-][\w.-]{0,149}|\.nojekyll)$/
const MOST_FILES = 5_000_000
/** Bytes of a file that may be anything, and how many times its packed size a larger one may have. */
const [UNSUSPICIOUS, MOST_TIMES] = [10_000_000, 1000]

interface Saved {
  files: number
  /** How many files of an export of pages are of each kind. */
  kinds: { pages: number; feeds: number; data: number }
}

/**
 * Receives an archive whole, and unpacks it to a new folder. What is not complete leaves nothing. Throws where a name in
 * the archive could lead elsewhere.
 */
export async function saveArchive(
  terminal: Terminal,
  folder: string,
  body: () => Promise<LongBody>,
  isPublic: boolean,
): Promise<Saved> {
  const near = folderAbove(assertFolder(terminal, folder)) // before the server makes all of it
  const received = madeIn(near, folder)
  try {
    const file = path.join(received, 'export.zip')
    await save(terminal, file, ofType(await body(), 'application/zip'))
    await assertFits(file, near, folder)
    const kinds = { pages: 0, feeds: 0, data: 0 }
    const { files } = await saveFolder(terminal, folder, filesIn(file, kinds), { isPublic, noun: 'file' })
    return { files, kinds }
  } finally {
    rmSync(received, { recursive: true, force: true })
  }
}

/** The disk that gets the files has room for the archive too, which the temporary folder of a system may not have. */
function madeIn(near: string, shown: string): string {
  try {
    return makePrivateFolder(IMPORT, [near])
  } catch (error) {
    throw new AppError('USAGE', `Cannot write ${shown}: ${whyNotWritten(error)}.`)
  }
}

/** The nearest folder above that is there. */
const folderAbove = (file: string): string => {
  const folder = path.dirname(file)
  return existsSync(folder) ? folder : folderAbove(folder)
}

/** Reads what is in the archive, and throws where it cannot be unpacked: before anything is written. */
async function assertFits(file: string, near: string, shown: string): Promise<void> {
  const { size: all } = statSync(file)
  const [files, folders] = [new Set<string>(), new Set<string>()]
  let [packed, size] = [0, 0]
  for await (const { entry } of entriesIn(file)) {
    const { fileName: name } = entry
    if (!SAFE.test(name)) throw broken(`it has a file ${quoted(name)}`)
    if (files.has(name)) throw broken(`it has ${quoted(name)} twice`)
    files.add(name)
    for (let end = name.lastIndexOf('/'); end > 0; end = name.lastIndexOf('/', end - 1)) folders.add(name.slice(0, end))
    const { compressedSize: from, uncompressedSize: to } = entry
    packed += from
    size += to
    // Names that share one content, of which a small archive makes any size
    if (packed > all) throw broken('its files overlap')
    if (to > Math.max(UNSUSPICIOUS, MOST_TIMES * from))
      throw broken(`${quoted(name)} unpacks to ${sizeText(to)}, of ${sizeText(from)}`)
  }
  if (files.size === 0) throw broken('it has no files')
  for (const folder of folders) if (files.has(folder)) throw broken(`${quoted(folder)} is both a file and a folder`)
  const free = freeIn(near)
  if (size > free) throw new AppError('USAGE', `Cannot write ${shown}: it needs ${sizeText(size)}, and its disk has ${sizeText(free)} free.`) // prettier-ignore
}

function freeIn(folder: string): number {
  try {
    const { bavail, bsize, blocks } = statfsSync(folder)
    return blocks === 0 ? Infinity : bavail * bsize // some file systems do not say
  } catch {
    return Infinity
  }
}

/** The files of an archive that `assertFits` has read. That they have the sizes they claim is checked as they are read. */
async function* filesIn(file: string, kinds: Saved['kinds']): AsyncGenerator<FilePiece> {
  for await (const { entry, stream } of entriesIn(file)) {
    const { fileName: name } = entry
    if (name.endsWith('.html')) kinds.pages += 1
    else if (name.endsWith('.atom')) kinds.feeds += 1
    else if (name.startsWith('api/') && name.endsWith('.json')) kinds.data += 1
    yield { file: name, text: '', rows: 1 }
    let crc = 0
    for await (const chunk of stream()) {
      crc = crc32(chunk, crc)
      yield { file: name, text: chunk, rows: 0 }
    }
    if (crc !== entry.crc32) throw broken(`${quoted(name)} is damaged`)
  }
}

interface InArchive {
  entry: Entry
  stream(this: void): AsyncIterable<Buffer>
}

async function* entriesIn(file: string): AsyncGenerator<InArchive> {
  const zip = await promisify(open as typeof openZip)(file, { lazyEntries: true, autoClose: false }).catch(failed)
  const opened = promisify(zip.openReadStream.bind(zip) as typeof openStream)
  async function* bytesOf(entry: Entry): AsyncGenerator<Buffer> {
    try {
      yield* (await opened(entry)) as AsyncIterable<Buffer>
    } catch (error) {
      failed(error)
    }
  }
  try {
    if (zip.entryCount > MOST_FILES) throw broken(`it has ${zip.entryCount} files`)
    for (let at = 0; at < zip.entryCount; at++) {
      const next = once(zip, 'entry') as Promise<[Entry]>
      zip.readEntry()
      const [entry] = await next.catch(failed)
      yield { entry, stream: () => bytesOf(entry) }
    }
  } finally {
    zip.close()
  }
}

const failed = (error: unknown): never => {
  throw broken((error as Error).message)
}

const broken = (why: string): AppError =>
  new AppError('SERVER_UNREACHABLE', `What the server sent is no export that can be unpacked: ${why}.`)

declare function openZip(file: string, options: object, done: (error: Error | null, zip: ZipFile) => void): void
declare function openStream(entry: Entry, done: (error: Error | null, stream: Readable) => void): void
