import { rmSync, statSync, type Stats } from 'node:fs'

/** What has become of a file that is open: nothing is left at its path, another file is, or it was cut off. */
export type Loss = 'removed' | 'replaced' | 'truncated' | 'log removed'

/**
 * Tells whether the path of an open SQLite file still leads to it. SQLite itself would go on writing to a file that is
 * gone. Only asks for the status of the path: to open and close the file would drop the locks of this process.
 */
export class FileWatch {
  readonly #file: string
  readonly #data: Stats
  /** Absent where SQLite may not write. */
  readonly #log: Stats | undefined
  #size: number
  /** Bytes of the WAL, when it was looked at last. */
  logSize = 0
  /** Once some of the file is lost, no larger size brings it back. */
  #isTruncated = false

  /** Call `before` opening the file and the constructor after it. Throws where the file was replaced in between. */
  constructor(file: string, before: Stats | undefined) {
    const data = statusOf(file)
    if (!data || !before || !isSame(before, data)) throw new Error(`${file} was replaced while it was opened.`)
    this.#file = file
    this.#data = data
    this.#size = data.size
    this.#log = statusOf(`${file}-wal`)
  }

  /** `bytes` returns the size of the database, with what only the WAL has so far. */
  loss(bytes: () => number): Loss | undefined {
    const data = statusOf(this.#file)
    if (!data || (data.size === 0 && !isSame(data, this.#data))) return 'removed'
    if (!isSame(data, this.#data)) return 'replaced'
    this.#isTruncated ||= data.size < this.#size && (data.size === 0 || !isSmaller(bytes, this.#size))
    if (this.#isTruncated) return 'truncated'
    this.#size = data.size
    const log = this.#log && statusOf(`${this.#file}-wal`)
    this.logSize = log?.size ?? 0
    return this.#log && !(log && isSame(log, this.#log)) ? 'log removed' : undefined
  }

  /** Whether the WAL beside the path is that of the open file. */
  get hasLog(): boolean {
    const log = statusOf(`${this.#file}-wal`)
    return log !== undefined && this.#log !== undefined && isSame(log, this.#log)
  }

  removeLog(): void {
    for (const end of ['-wal', '-shm']) rmSync(`${this.#file}${end}`, { force: true })
  }
}

export const statusOf = (file: string): Stats | undefined => statSync(file, { throwIfNoEntry: false })

const isSame = (one: Stats, other: Stats): boolean => one.ino === other.ino && one.dev === other.dev

/** A file shrinks only after a VACUUM, which makes the database itself smaller. */
function isSmaller(bytes: () => number, size: number): boolean {
  try {
    return bytes() < size
  } catch {
    return false
  }
}
