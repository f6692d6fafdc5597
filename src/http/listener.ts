import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { chmodSync, lstatSync, rmSync } from 'node:fs'
import type { Server as HttpServer } from 'node:http'
import { connect, createServer, type ListenOptions, type Server, type Socket } from 'node:net'
import { boundAddress, type ListenAddress } from '../core/addresses.js'
import { AppError } from '../core/errors.js'
import { whileLocked } from '../core/filelock.js'
import { listenFailed } from '../core/listening.js'
import type { Key } from '../core/settings.js'

/** How many connections may wait on an inherited socket during a restart. The system may allow fewer. */
const BACKLOG = 4096

/** What comes over a Unix socket is of this machine. */
const LOCAL = '127.0.0.1'

/** An open port. What responds there can be replaced, and no connection is refused meanwhile. */
export class Listener {
  readonly #servers: Server[] = []
  #current: HttpServer | undefined

  /** Listens at this address. The setting is the one that names it. The mode is that of a Unix socket, such as 0o660. */
  static async open(
    at: ListenAddress,
    to: HttpServer,
    { setting = 'listen', mode = 0o600 }: { setting?: Key; mode?: number | undefined } = {},
  ): Promise<Listener> {
    const listener = new Listener()
    listener.leadTo(to)
    await ('socket' in at ? listener.#openSocket(at.socket, mode) : listener.#openPort(at)).catch((error: unknown) => {
      throw listenFailed(error, at, setting)
    })
    return listener
  }

  /** Listens on sockets that another process has opened, such as systemd. */
  static async inherit(descriptors: readonly number[], to: HttpServer): Promise<Listener> {
    const listener = new Listener()
    listener.leadTo(to)
    for (const fd of descriptors) {
      const isOpen = await listener.#open({ fd, backlog: BACKLOG }).then(
        () => true,
        () => false,
      )
      if (isOpen) continue
      listener.close()
      throw new AppError('CONFIG_INVALID', `The socket that serve inherits as descriptor ${fd} cannot be listened on: it must be one of TCP, or a Unix socket (ListenStream= in systemd).`) // prettier-ignore
    }
    return listener
  }

  /** Where it listens: for each port that the system chose, that port. */
  addresses(): ListenAddress[] {
    return this.#servers.map((server) => boundAddress(server.address()))
  }

  /** New connections go to this server from now on. It does not listen itself. */
  leadTo(server: HttpServer): void {
    this.#current = server
    server.emit('listening') // from then on Node looks for requests that take too long
  }

  /** Bounds the connections that are open at a time. */
  limit(connections: number): void {
    for (const server of this.#servers) server.maxConnections = connections
  }

  close(): void {
    for (const server of this.#servers) server.close()
  }

  /** `localhost` has several addresses. The port has to be free at the first one only. */
  async #openPort({ host, port }: { host: string; port: number }): Promise<void> {
    await this.#open({ host, port })
    const [first] = this.addresses()
    if (host !== 'localhost' || !first || 'socket' in first) return
    for (const { address } of await lookup(host, { all: true }).catch(() => []))
      if (address !== first.host) await this.#open({ host: address, port: first.port }).catch(() => undefined)
  }

  /** Listens on a Unix socket. Of a worker, the socket may be there already, as another worker's. */
  async #openSocket(socket: string, mode: number): Promise<void> {
    await removeLeft(socket)
    await this.#open({ path: socket })
    chmodSync(socket, mode)
  }

  async #open(at: ListenOptions | { fd: number; backlog: number }): Promise<void> {
    // A worker may get a connection before this function goes on after `listening`
    let isUnix: boolean | undefined
    // As node:http makes its own
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => {
      isUnix ??= 'socket' in boundAddress(server.address())
      if (isUnix) Object.defineProperty(socket, 'remoteAddress', { value: LOCAL })
      this.#current?.emit('connection', socket)
    })
    server.listen(at)
    await once(server, 'listening') // rejects on an error
    this.#servers.push(server)
  }
}

/** Removes a Unix socket that a killed server has left. Leaves one on which a server listens, and other files. */
async function removeLeft(socket: string): Promise<void> {
  const found = markOf(socket)
  if (found === undefined || !(await isLeft(socket))) return
  // Of two that start at once, the second must not remove the socket that the first has made by then
  whileLocked(socket, () => markOf(socket) === found && rmSync(socket, { force: true }))
}

/** Tells a Unix socket from a later one of the same name; undefined where there is none. */
function markOf(file: string): string | undefined {
  const stats = lstatSync(file, { bigint: true, throwIfNoEntry: false })
  return stats?.isSocket() ? `${stats.ino}-${stats.ctimeNs}` : undefined
}

/** Whether the server of this Unix socket has ended. */
async function isLeft(file: string): Promise<boolean> {
  const connection = connect(file)
  const code = await once(connection, 'connect').then(
    () => undefined,
    (error: unknown) => (error as { code?: string }).code,
  )
  connection.destroy()
  return code === 'ECONNREFUSED'
}
