import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { createServer, type AddressInfo, type ListenOptions, type Server, type Socket } from 'node:net'
import { AppError } from '../core/errors.js'
import { listenFailed } from '../core/listening.js'
import type { Key } from '../core/settings.js'

/** How many connections may wait on an inherited socket during a restart. The system may allow fewer. */
const BACKLOG = 4096

/** An open port. What responds there can be replaced, and no connection is refused meanwhile. */
export class Listener {
  readonly #servers: Server[] = []
  #current: HttpServer | undefined

  /**
   * `localhost` has several addresses. The port has to be free at the first one only. The setting is the one that names
   * the address.
   */
  static async open(
    { host, port }: { host: string; port: number },
    to: HttpServer,
    setting: Key = 'listen',
  ): Promise<Listener> {
    const listener = new Listener()
    listener.leadTo(to)
    await listener.#listen(host, port).catch((error: unknown) => {
      throw listenFailed(error, { host, port, setting })
    })
    if (host === 'localhost')
      for (const { address } of await lookup(host, { all: true }).catch(() => []))
        if (address !== listener.addresses()[0]?.address)
          await listener.#listen(address, listener.port).catch(() => undefined)
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
      if (isOpen && listener.#servers.at(-1)?.address() instanceof Object) continue
      listener.close()
      throw new AppError('CONFIG_INVALID', `The socket that serve inherits as descriptor ${fd} cannot be listened on: it must be one of TCP (ListenStream=HOST:PORT in systemd).`) // prettier-ignore
    }
    return listener
  }

  get port(): number {
    return this.addresses()[0]?.port ?? 0
  }

  addresses(): AddressInfo[] {
    return this.#servers.map((server) => server.address() as AddressInfo) // an object, as they listen on a port
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

  #listen(host: string, port: number): Promise<void> {
    return this.#open({ host, port })
  }

  async #open(at: ListenOptions | { fd: number; backlog: number }): Promise<void> {
    // As node:http makes its own
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) =>
      this.#current?.emit('connection', socket),
    )
    server.listen(at)
    await once(server, 'listening') // rejects on an error
    this.#servers.push(server)
  }
}
