import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { listenFailed } from '../core/listening.js'
import type { Key } from '../core/settings.js'

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

  async #listen(host: string, port: number): Promise<void> {
    // As node:http makes its own
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) =>
      this.#current?.emit('connection', socket),
    )
    server.listen({ host, port })
    await once(server, 'listening') // rejects on an error
    this.#servers.push(server)
  }
}
