import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, readdirSync, realpathSync, renameSync, rmSync, statSync, writeSync, type Stats } from 'node:fs' // prettier-ignore
import { open } from 'node:fs/promises'
import path from 'node:path'
import { AppError } from '../../../core/errors.js'
import { syncFolder } from '../../../core/atomicfile.js'
import { whyNotWritten } from '../../../core/filecauses.js'
import { keepOwner, makeFolder, openNewFile, removeEmpty } from '../../../core/files.js'
import { interruptible } from '../terminal/interruptible.js'
import { transferred } from '../terminal/progress.js'
import type { Terminal } from '../terminal/terminal.js'

/** A piece of a file, which may be in a folder of its own. The pieces of a file follow each other. */
interface FilePiece {
  file: string
  text: string | Uint8Array
  rows: number
}

/**
 * Writes files to a new folder, or to one that is empty and keeps its owner and mode. The folder gets its name when all of
 * them are complete. Nobody else can read them, unless they are public. Returns how many files and rows there are.
 */
export async function saveFolder(
  terminal: Terminal,
  folder: string,
  pieces: AsyncIterable<FilePiece>,
  { isPublic = false, noun = 'row' }: { isPublic?: boolean; noun?: string } = {},
): Promise<{ files: number; rows: number }> {
  const { target, former } = targetOf(terminal, folder)
  const temporary = `${target}.export-${randomBytes(4).toString('hex')}.part` // "doctor" knows it by this name
  const writing = new Writing(temporary, { shown: folder, isPublic, former })
  const interruption = interruptible(`Interrupted. Removed what was written of ${folder}.`)
  const progress = transferred(terminal, true, noun)
  const iterator = pieces[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { done, value } = await interruption.until(iterator.next())
      if (done) break
      writing.add(value)
      progress.add(value.rows, Buffer.byteLength(value.text))
    }
    await interruption.until(writing.finish(target))
    return writing.counts
  } catch (error) {
    writing.discard()
    void iterator.return?.().catch(() => undefined)
    throw error
  } finally {
    progress.end()
    interruption.undo()
  }
}

/** The folder's own path. Throws USAGE where `saveFolder` would, before there is anything to write. */
export const assertFolder = (terminal: Terminal, folder: string): string => targetOf(terminal, folder).target

/** Throws USAGE for a folder that has files, or that cannot be replaced by another one. */
function targetOf(terminal: Terminal, folder: string): { target: string; former?: Stats } {
  const target = path.resolve(terminal.cwd, folder)
  try {
    if (!existsSync(target)) return { target }
    const real = realpathSync(target)
    if (readdirSync(real).length > 0) throw new AppError('USAGE', `${folder} is not empty. Name a new folder.`)
    // A shell would be left in a folder that is no longer there
    if (real === realpathSync(terminal.cwd)) throw new AppError('USAGE', `${folder} is the folder that you are in. Name a new folder.`) // prettier-ignore
    return { target: real, former: statSync(real) }
  } catch (error) {
    throw error instanceof AppError ? error : notWritten(folder, error)
  }
}

class Writing {
  readonly counts = { files: 0, rows: 0 }
  readonly #temporary: string
  readonly #shown: string
  readonly #isPublic: boolean
  /** The empty folder that is replaced. */
  readonly #former: Stats | undefined
  #made: string[] = []
  /** Of the temporary folder: the last one in which a file was made. */
  #folder = ''
  #open: { file: string; fd: number } | undefined

  constructor(
    temporary: string,
    { shown, isPublic, former }: { shown: string; isPublic: boolean; former: Stats | undefined },
  ) {
    this.#temporary = temporary
    this.#shown = shown
    this.#isPublic = isPublic
    this.#former = former
  }

  add({ file, text, rows }: FilePiece): void {
    this.#said(() => {
      if (this.#made.length === 0) {
        this.#made = makeFolder(this.#temporary)
        if (this.#former) keepOwner(this.#temporary, this.#former) // new files get the owner of their folder
      }
      if (this.#open?.file !== file) {
        this.#end()
        const whole = path.join(this.#temporary, file)
        const folder = path.dirname(whole)
        if (folder !== this.#folder) makeFolder(folder)
        this.#folder = folder
        this.#open = { file, fd: openNewFile(whole) }
        this.counts.files += 1
      }
      const bytes = Buffer.from(text)
      for (let at = 0; at < bytes.length;) at += writeSync(this.#open.fd, bytes, at)
      this.counts.rows += rows
    })
  }

  async finish(target: string): Promise<void> {
    try {
      this.#end()
      await this.#sync(this.#temporary)
      if (this.#former) keepOwner(this.#temporary, this.#former, this.#former.mode)
      renameSync(this.#temporary, target) // also in place of an empty folder, and of no other
      syncFolder(path.dirname(target))
    } catch (error) {
      throw notWritten(this.#shown, error)
    }
  }

  discard(): void {
    if (this.#open) closeSync(this.#open.fd)
    this.#open = undefined
    try {
      rmSync(this.#temporary, { recursive: true, force: true })
      removeEmpty(this.#made.slice(0, -1))
    } catch {
      // where it could not be made either, that error counts
    }
  }

  #end(): void {
    if (this.#open) closeSync(this.#open.fd)
    this.#open = undefined
  }

  /** All at the end, and several at once: most of thousands of files are on the disk by then. */
  async #sync(folder: string): Promise<void> {
    const entries = readdirSync(folder, { withFileTypes: true })
    const files = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => path.join(folder, name))
    for (let from = 0; from < files.length; from += AT_ONCE)
      await Promise.all(files.slice(from, from + AT_ONCE).map((file) => this.#syncFile(file)))
    for (const entry of entries) if (entry.isDirectory()) await this.#sync(path.join(folder, entry.name))
    if (this.#isPublic) keepOwner(folder, statSync(folder), PUBLIC_FOLDER) // root may have given it away
    syncFolder(folder)
  }

  async #syncFile(file: string): Promise<void> {
    const handle = await open(file, 'r+')
    try {
      if (this.#isPublic) await handle.chmod(PUBLIC_FILE)
      await handle.sync()
    } finally {
      await handle.close()
    }
  }

  #said(work: () => void): void {
    try {
      work()
    } catch (error) {
      throw notWritten(this.#shown, error)
    }
  }
}

/** What a web server of another user may read. */
const [PUBLIC_FILE, PUBLIC_FOLDER] = [0o644, 0o755]

/** Files that are synchronised at once. */
const AT_ONCE = 32

const notWritten = (folder: string, error: unknown): AppError =>
  new AppError('USAGE', `Cannot write ${folder}: ${whyNotWritten(error)}.`)
