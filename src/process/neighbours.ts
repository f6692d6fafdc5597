import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'

/** A server of feedbackctl on this machine. */
export interface Neighbour {
  pid: number
  /** The SQLite file that it has open; undefined where it has none, or where this user may not look. */
  database: string | undefined
  /** Whether that is the given file, by whatever name; undefined where this user may not look. */
  isSame: boolean | undefined
}

/** Process titles of a server and of its workers. */
const TITLE = /^feedbackctl serve\b/

/**
 * The servers that run on this machine, and whether they have this SQLite file open. Empty where there is no /proc, as on
 * macOS. A server with workers is one, as the process that was started.
 */
export function neighbours(file: string | undefined): Neighbour[] {
  const own = file === undefined ? undefined : inodeOf(file)
  const found = processes().filter(({ pid }) => TITLE.test(read(`/proc/${pid}/cmdline`)))
  const isWorker = ({ parent }: Process) => found.some(({ pid }) => pid === parent)
  return found
    .filter((each) => !isWorker(each))
    .map(({ pid }) => {
      const files = [pid, ...found.filter(({ parent }) => parent === pid).map((worker) => worker.pid)].map(openFiles)
      const open = files.every((each) => each === undefined) ? undefined : files.flatMap((each) => each ?? [])
      return {
        pid,
        database: open?.find(({ name }) => open.some((other) => other.name === `${name}-wal`))?.name,
        isSame: open && (own === undefined ? false : open.some(({ inode }) => inode === own)),
      }
    })
}

interface Process {
  pid: number
  parent: number
}

function processes(): Process[] {
  let names: string[] = []
  try {
    names = readdirSync('/proc')
  } catch {
    // there is none
  }
  return names
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({
      pid: Number(name),
      parent: Number(/\) \S+ (\d+)/.exec(read(`/proc/${name}/stat`))?.[1] ?? 0),
    }))
}

/** The files that a process has open; undefined where this user may not look. */
function openFiles(pid: number): { name: string; inode: string | undefined }[] | undefined {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => {
      const link = `/proc/${pid}/fd/${fd}`
      return { name: linkOf(link), inode: inodeOf(link) }
    })
  } catch {
    return undefined
  }
}

/** Device and number of a file, which it has by every name and in every container. */
function inodeOf(file: string): string | undefined {
  try {
    const { dev, ino } = statSync(file, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file)
  } catch {
    return ''
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return '' // it has ended, or belongs to another user
  }
}
