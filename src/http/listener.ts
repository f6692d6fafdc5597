import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { createServer, type ListenOptions, type Server, type Socket } from 'node:net'
import { boundAddress, type ListenAddress } from '../core/addresses.js'
import { AppError } from '../core/errors.js'
import { listenFailed } from '../core/listening.js'
import type { Key } from '../core/settings.js'
import { nameSocket, removeAtExit, temporaryName, type SocketFile } from '../core/socketfile.js'

/** How many connections may wait on an inherited socket during a restart. The system may allow fewer. */
const BACKLOG = 4096

/** What comes over a Unix socket is of this machine. */
const LOCAL = '127.0.0.1'

interface OpenOptions {
  /** The setting that names the address. */
  setting?: Key
  /** Of a Unix socket, such as 0o660. */
  mode?: number | undefined
  /** An id that the workers of one server share. */
  shared?: string | undefined
  /**
   * Takes the Unix socket as soon as it has its name, and removes it in the end: other workers may serve there when the one
   * that has named it fails. Absent: this process removes it.
   */
  handOver?: ((named: SocketFile) => void) | undefined
}

/** An open port. What responds there can be replaced, and no connection is refused meanwhile. */
export class Listener {
  readonly #servers: Server[] = []
  #current: HttpServer | undefined
  #socket: string | undefined
  #named: ReturnType<typeof removeAtExit> | undefined

  /** Listens at this address. */
  static async open(
    at: ListenAddress,
    to: HttpServer,
    { setting = 'listen', mode = 0o600, ...options }: OpenOptions = {},
  ): Promise<Listener> {
    const listener = new Listener()
    listener.leadTo(to)
    await ('socket' in at ? listener.#openSocket(at.socket, mode, options) : listener.#openPort(at)).catch(
      (error: unknown) => {
        listener.close()
        throw listenFailed(error, at, setting)
      },
    )
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
    const socket = this.#socket
    return this.#servers.map((server) => (socket === undefined ? boundAddress(server.address()) : { socket }))
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
    this.#named?.remove() // first: between the two, nobody can make one anew
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

  /** Listens on a Unix socket. Of a worker, it may be there already, as another worker's. */
  async #openSocket(socket: string, mode: number, { shared, handOver }: OpenOptions): Promise<void> {
    const temporary = temporaryName(socket, shared)
    await this.#open({ path: temporary })
    this.#socket = socket
    const named = await nameSocket(temporary, socket, mode)
    if (named && handOver) handOver(named)
    else if (named) this.#named = removeAtExit(named)
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
