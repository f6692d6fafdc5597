import { randomBytes } from 'node:crypto'
import { chmodSync, lstatSync, renameSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { once } from 'node:events'
import path from 'node:path'
import { LONGEST_SOCKET } from './addresses.js'
import { whileLocked } from './filelock.js'

// Who closes a Unix socket in Node also removes the name at which it was made, whosever that is by then. So a server
// makes its socket at a name that nobody else uses, gives it the name that it shall have, and removes that one itself.

/** A name of a Unix socket, and which file it names: a later one of that name has another id. */
export interface SocketFile {
  socket: string
  id: string
}

/** Where to make a socket before it gets its name: in the same folder, and no longer than systems allow. */
export function temporaryName(socket: string, random = randomBytes(8).toString('hex')): string {
  const folder = path.join(path.dirname(socket), path.sep)
  const rest = Math.max(LONGEST_SOCKET - Buffer.byteLength(folder), path.basename(socket).length)
  return folder + `${random}.socket`.slice(0, rest)
}

/**
 * Gives a socket its name. One that a killed server has left there is replaced. One on which a server listens stays, as
 * do other files: that throws EADDRINUSE. Returns undefined where another worker has named it.
 */
export async function nameSocket(temporary: string, socket: string, mode: number): Promise<SocketFile | undefined> {
  const found = markOf(socket)
  const mayReplace = found !== undefined && (await isLeft(socket))
  // Of two that start at once, the second must not replace the socket that the first has named by then
  return whileLocked(socket, (assertHeld) => {
    const id = idOf(temporary)
    if (id === undefined) return undefined
    const present = markOf(socket) // none where its server has stopped meanwhile
    if (present !== undefined && !(mayReplace && present === found))
      throw Object.assign(new Error(`${socket} is taken`), { code: 'EADDRINUSE' })
    chmodSync(temporary, mode)
    assertHeld()
    renameSync(temporary, socket)
    return { socket, id }
  })
}

/** Removes the name when this process exits or `remove` is called, unless another socket has it by then. */
export function removeAtExit({ socket, id }: SocketFile): { remove(this: void): void } {
  const remove = () => {
    process.off('exit', remove)
    try {
      if (idOf(socket) === id) rmSync(socket, { force: true })
    } catch {
      // the folder is not writable any more: the next server replaces it
    }
  }
  process.on('exit', remove)
  return { remove }
}

const statusOf = (file: string) => lstatSync(file, { bigint: true, throwIfNoEntry: false })

/** Undefined where there is nothing. While a server listens on it, no other file can get this id. */
function idOf(file: string): string | undefined {
  const stats = statusOf(file)
  return stats && `${stats.dev}-${stats.ino}`
}

/** Tells a file from a later one of the same name, also where the first one has ended; undefined where there is none. */
function markOf(file: string): string | undefined {
  const stats = statusOf(file)
  return stats && `${stats.dev}-${stats.ino}-${stats.ctimeNs}`
}

/** Whether this is a Unix socket whose server has ended. */
async function isLeft(file: string): Promise<boolean> {
  if (!statusOf(file)?.isSocket()) return false
  const connection = connect(file)
  const code = await once(connection, 'connect').then(
    () => undefined,
    (error: unknown) => (error as { code?: string }).code,
  )
  connection.destroy()
  return code === 'ECONNREFUSED'
}
