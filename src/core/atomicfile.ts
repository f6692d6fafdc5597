import { randomBytes } from 'node:crypto'
import { closeSync, constants, fsyncSync, linkSync, lstatSync, openSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { createFile, inMadeFolder } from './files.js'

// A file is whole or not there, also after a power failure, and only its owner can use it. `write-file-atomic` gives a
// file the mode and the owner of the one that it replaces, by its path, and writes through a link at its temporary name,
// which can be guessed: another user could have root change any file. It neither syncs the folder nor can create alone.

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY, O_RDWR } = constants

/** A file that is written under a temporary name, and gets its own when all of it is there. */
interface AtomicFile {
  /** The temporary name, which nothing has yet. It is in the same folder. */
  readonly temporary: string
  /** Writes the file, for its owner only, with its folder. What writes it in another way creates it like `createFile`. */
  write(this: void, data: string | Uint8Array): void
  /** Waits until what was written is on the disk, as the two below do too: for what must not wait later. */
  sync(this: void): void
  /** Gives the file its name, in place of another file. */
  replace(this: void): void
  /** Gives the file its name. Throws EEXIST where something has it. */
  create(this: void): void
  /** Removes what is left under the temporary name. To be called in any case. */
  discard(this: void): void
}

interface Naming {
  /** Ends the temporary name, so that "doctor leftovers" can tell what a killed process was writing. */
  ending?(this: void, pid: number, random: string): string
  /** Endings of further files that belong to the temporary one. */
  companions?: readonly string[]
}

/** Throws EINVAL for what is no file: a rename would replace a device such as /dev/null for all programs. */
export function atomicFile(
  file: string,
  { ending = (pid, random) => `.${pid}.${random}`, companions = [] }: Naming = {},
): AtomicFile {
  const existing = lstatSync(file, { throwIfNoEntry: false })
  if (existing && !existing.isFile() && !existing.isSymbolicLink())
    throw Object.assign(new Error(`${file} is not a regular file`), { code: 'EINVAL' })
  const temporary = `${file}${ending(process.pid, randomBytes(4).toString('hex'))}`
  const folder = path.dirname(file)
  const sync = () => {
    const fd = openSync(temporary, O_RDWR | O_NOFOLLOW)
    try {
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
  }
  return {
    temporary,
    write(data) {
      inMadeFolder(folder, () => createFile(temporary, data))
    },
    sync,
    replace() {
      sync()
      renameSync(temporary, file)
      syncFolder(folder)
    },
    create() {
      sync()
      linkSync(temporary, file) // unlike a rename, it fails where the name is taken by now
      syncFolder(folder)
    },
    discard() {
      for (const each of ['', ...companions])
        try {
          rmSync(`${temporary}${each}`, { force: true })
        } catch {
          // where it could not be made either, that error counts
        }
    },
  }
}

/** Writes a file that only its owner can use, with its folder, whole or not at all. It replaces one of that name. */
export function replaceFile(file: string, data: string | Uint8Array): void {
  const fresh = atomicFile(file)
  try {
    fresh.write(data)
    fresh.replace()
  } finally {
    fresh.discard()
  }
}

/** Makes the names in a folder outlast a power failure. */
export function syncFolder(folder: string): void {
  try {
    const fd = openSync(folder, O_RDONLY | O_DIRECTORY)
    try {
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
  } catch {
    // some file systems cannot
  }
}
