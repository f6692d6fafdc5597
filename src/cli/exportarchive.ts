import { rmSync } from 'node:fs'
import path from 'node:path'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { open, type Entry, type ZipFile } from 'yauzl'
import { IMPORT } from '../backup/leftovers.js'
import { AppError } from '../core/errors.js'
import { makePrivateFolder } from '../core/files.js'
import { quoted } from '../core/text.js'
import type { FilePiece } from '../core/zip.js'
import type { LongBody } from '../service/lib/download.js'
import { save } from './lib/output/save.js'
import { assertFolder, saveFolder } from './lib/output/savefolder.js'
import type { Terminal } from './lib/terminal/terminal.js'

/** Files of an export: small names, which no file system takes for anything else, in folders of such names. */
const SAFE = /^(?:[\w-][\w.-]{0,149}\/){0,8}(?:[\w-][\w.-]{0,149}|\.nojekyll)$/
const MOST_FILES = 5_000_000

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
  assertFolder(terminal, folder) // before the server makes all of it
  const received = makePrivateFolder(IMPORT)
  try {
    const file = path.join(received, 'export.zip')
    await save(terminal, file, await body())
    const kinds = { pages: 0, feeds: 0, data: 0 }
    const { files } = await saveFolder(terminal, folder, filesIn(file, kinds), { isPublic, noun: 'file' })
    return { files, kinds }
  } finally {
    rmSync(received, { recursive: true, force: true })
  }
}

async function* filesIn(file: string, kinds: Saved['kinds']): AsyncGenerator<FilePiece> {
  const zip = await promisify(open as typeof openZip)(file, { lazyEntries: true, autoClose: false }).catch(
    (error: unknown) => {
      throw broken((error as Error).message)
    },
  )
  try {
    const stream = promisify(zip.openReadStream.bind(zip) as typeof openStream)
    for (let at = 0; at < Math.min(zip.entryCount, MOST_FILES); at++) {
      const next = once(zip, 'entry') as Promise<[Entry]>
      zip.readEntry()
      const [entry] = await next
      const { fileName: name } = entry
      if (!SAFE.test(name)) throw broken(`it has a file ${quoted(name)}`)
      if (name.endsWith('.html')) kinds.pages += 1
      else if (name.endsWith('.atom')) kinds.feeds += 1
      else if (name.startsWith('api/') && name.endsWith('.json')) kinds.data += 1
      yield { file: name, text: '', rows: 1 }
      for await (const chunk of (await stream(entry)) as AsyncIterable<Buffer>)
        yield { file: name, text: chunk, rows: 0 }
    }
  } catch (error) {
    throw error instanceof AppError ? error : broken((error as Error).message)
  } finally {
    zip.close()
  }
}

const broken = (why: string): AppError =>
  new AppError('SERVER_UNREACHABLE', `What the server sent is no export that can be unpacked: ${why}.`)

declare function openZip(file: string, options: object, done: (error: Error | null, zip: ZipFile) => void): void
declare function openStream(entry: Entry, done: (error: Error | null, stream: Readable) => void): void
