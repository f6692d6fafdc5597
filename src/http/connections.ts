import { readFileSync } from 'node:fs'
import type { Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Times in milliseconds. */
export interface Limits {
  /** Open connections. Above it the one that has been idle longest is closed. */
  connections: number
  /** How long the headers of a request may take. */
  headers: number
  /** How long a whole request may take. Its body has 100 kB at most. */
  request: number
  /** How long a client may take no bytes of a response. */
  stalled: number
  /** How often requests that take too long are looked for. */
  check: number
}

/** Descriptors that connections leave to databases, mail, logs, and to connections that are being refused. */
const RESERVED_DESCRIPTORS = 64
/** How many connections are refused at a time. More are cut, as each holds a descriptor until its client closes it. */
const MAX_REFUSED = RESERVED_DESCRIPTORS / 2
const MIN_CONNECTIONS = 8

const defaultLimits = (): Limits => ({
  connections: Math.max(MIN_CONNECTIONS, Math.min(2000, descriptorLimit() - RESERVED_DESCRIPTORS)),
  headers: 15_000,
  request: 30_000,
  stalled: 60_000,
  check: 2000,
})

/** How many descriptors this process may open. Infinity if the system does not say. */
function descriptorLimit(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity)
  } catch {
    return Infinity
  }
}

/** From when the server listens no more until clients are told to close, for connections that are on their way. */
const SETTLE_MS = 100
/** How long an idle connection stays open while the server stops, to be told so by the response to a next request. */
const IDLE_GRACE_MS = 300
/** How long a request that is still arriving may take while the server stops. */
const ARRIVAL_GRACE_MS = 2000
const POLL_MS = 20

/** How a connection is closed that is not idle. */
interface Refusals {
  /** Responds with 408, and closes. */
  tooSlow(this: void, socket: Socket): void
  /** Responds with 503, and closes. */
  tooMany(this: void, socket: Socket): void
}

/**
 * Numbers only: a reference to a request or a response from here, which lives longer, makes garbage collection several
 * times as slow.
 */
interface Use {
  /** Grows with each request of any connection. */
  last: number
  requests: number
}

/** The open connections of a server. It limits their number, and closes them without cutting a response. */
export class Connections {
  readonly limits: Limits
  readonly #refusals: Refusals
  readonly #servers: Server[] = []
  readonly #open = new Map<Socket, Use>()
  readonly #refused = new Set<Socket>()
  #uses = 0
  #isDraining = false

  constructor(limits: Partial<Limits>, refusals: Refusals) {
    this.limits = { ...defaultLimits(), ...limits }
    this.#refusals = refusals
  }

  /** Whether the server stops. Each response should then close its connection. */
  get isDraining(): boolean {
    return this.#isDraining
  }

  watch(server: Server): void {
    this.#servers.push(server)
    server.on('connection', (socket: Socket) => {
      this.#open.set(socket, { last: ++this.#uses, requests: 0 })
      socket.once('close', () => this.#open.delete(socket))
      if (this.#open.size > this.limits.connections) this.#makeRoom(socket)
    })
  }

  /** Called for each request. Returns whether to handle it: its connection is not one that is being refused. */
  use(socket: Socket, response: ServerResponse): boolean {
    const use = this.#open.get(socket)
    if (use) {
      use.last = ++this.#uses
      use.requests++
    } else if (this.#refused.has(socket)) return false
    if (this.#isDraining) response.shouldKeepAlive = false
    return true
  }

  #makeRoom(newest: Socket): void {
    const idle = this.#leastRecentlyUsed(newest)
    if (idle) return this.#close(idle)
    this.#open.delete(newest)
    if (this.#refused.size >= MAX_REFUSED) return void newest.destroy()
    this.#refused.add(newest)
    newest.once('close', () => this.#refused.delete(newest))
    this.#refusals.tooMany(newest)
  }

  #leastRecentlyUsed(newest: Socket): Socket | undefined {
    let [found, least]: [Socket | undefined, number] = [undefined, Infinity]
    for (const [socket, { last }] of this.#open)
      if (last < least && socket !== newest && !isAnswered(socket)) [found, least] = [socket, last]
    return found
  }

  #close(socket: Socket): void {
    const isArriving = this.#isArriving(socket)
    this.#open.delete(socket)
    if (isArriving) this.#refusals.tooSlow(socket)
    else socket.destroy()
  }

  /** Whether a part of a request has arrived. Of the second one on a connection and later ones, only the body tells. */
  #isArriving(socket: Socket): boolean {
    const response = responseOn(socket)
    if (response) return !response.req.complete
    return this.#open.get(socket)?.requests === 0 && socket.bytesRead > 0
  }

  /**
   * Stops listening, finishes the requests that have arrived, and closes all connections. After this many seconds it
   * cuts those that remain.
   */
  async drain(seconds: number): Promise<void> {
    const start = performance.now()
    for (const server of this.#servers) NetServer.prototype.close.call(server) // HTTP's own cuts idle connections
    if (this.#open.size > 0) await sleep(SETTLE_MS)
    this.#isDraining = true
    while (this.#open.size > 0) {
      const passed = performance.now() - start
      if (passed > seconds * 1000) break
      if (passed > SETTLE_MS + IDLE_GRACE_MS) this.#closeIdle(passed > ARRIVAL_GRACE_MS)
      await sleep(POLL_MS)
    }
    for (const server of this.#servers) server.closeAllConnections()
  }

  #closeIdle(isArrivingToo: boolean): void {
    for (const socket of this.#open.keys())
      if (!isAnswered(socket) && (isArrivingToo || !this.#isArriving(socket))) this.#close(socket)
  }
}

/** The response to the request that is in progress. Node has no other name for it. */
const responseOn = (socket: Socket): ServerResponse | null | undefined =>
  (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage // oxlint-disable-line no-underscore-dangle -- as above

/** Whether a request has arrived, and its response has not been sent. */
const isAnswered = (socket: Socket): boolean => responseOn(socket)?.req.complete === true
