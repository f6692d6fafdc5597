import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

/** Times in milliseconds. */
export interface Limits {
  /** Open connections. Above it the one that has been idle longest is closed. */
  connections: number
  /** How long the headers of a request may take. */
  headers: number
  /** How long a whole request may take. */
  request: number
  /** How long a client may take no bytes of a response, at most. */
  stalled: number
  /** Requests of one connection that wait for the response to an earlier one (pipelining). */
  waiting: number
  /** The same, of all connections. */
  allWaiting: number
  /** Bytes of the bodies that arrive over all connections. Above it, the body that has been arriving longest is refused. */
  bodies: number
  /** Bytes of responses that the clients of all connections have not taken. Above it those with the most are cut. */
  unsent: number
  /** Downloads that run at a time: each has a page of rows in memory. */
  downloads: number
  /** The same, of one person, or of one address that is not signed in. */
  ownDownloads: number
  /** Uploads that arrive at a time: each has up to a hundred rows in memory. */
  uploads: number
  /** The same, of one person, or of one address that is not signed in. */
  ownUploads: number
  /** How long an upload may wait for the next kilobyte. A whole one may take any time. */
  arriving: number
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
  waiting: 32,
  allWaiting: 512,
  bodies: 32 * 1024 * 1024,
  unsent: 64 * 1024 * 1024,
  downloads: 8,
  ownDownloads: 2,
  uploads: 4,
  ownUploads: 2,
  arriving: 20_000,
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
export const IDLE_GRACE_MS = 300
/** How long a request that is still arriving may take while the server stops. */
const ARRIVAL_GRACE_MS = 2000
const POLL_MS = 20

/** How a connection is closed that is not idle. */
interface Refusals {
  /** Responds with 408, and closes. */
  tooSlow(this: void, socket: Socket): void
  /** Responds with 503, and closes. */
  tooMany(this: void, socket: Socket): void
  /** Responds with 503 after the responses to the requests before, and closes. */
  tooManyWaiting(this: void, response: ServerResponse): void
  /** Called for each connection that is cut because its client takes no bytes. */
  unread(this: void, socket: Socket, bytes: number): void
}

/**
 * Without references to the request or the response that is in progress: from here, which lives longer, they make
 * garbage collection several times as slow.
 */
interface Use {
  /** Grows with each request of any connection. */
  last: number
  requests: number
  /** Requests that wait for the response to an earlier one. */
  waiting: Waiting[]
  /** Whether the connection closes after the responses that are due. */
  isEnding: boolean
}

interface Waiting {
  response: ServerResponse
  handle: () => void
}

/** Bodies below this many bytes are not counted: what all connections could send is little. */
const SMALL_BODY = 16 * 1024
/** Larger bodies are uploads, which have limits of their own, or are refused by their Content-Length. */
const LARGE_BODY = 1024 * 1024

/** How many bytes of responses are produced between two looks at what has not been sent. */
const BYTES_BETWEEN_LOOKS = 8 * 1024 * 1024

/** The open connections of a server. It limits their number, and closes them without cutting a response. */
export class Connections {
  readonly limits: Limits
  readonly #refusals: Refusals
  readonly #servers: Server[] = []
  readonly #open = new Map<Socket, Use>()
  readonly #refused = new Set<Socket>()
  /** What ends the upload that arrives over a connection. */
  readonly #uploads = new Map<Socket, () => void>()
  /** How many bytes the body has that arrives over a connection, the one first that began first. */
  readonly #bodies = new Map<Socket, number>()
  #bodyBytes = 0
  #uses = 0
  #waiting = 0
  #produced = 0
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
      const use: Use = { last: ++this.#uses, requests: 0, waiting: [], isEnding: false }
      this.#open.set(socket, use)
      socket.once('close', () => {
        this.#open.delete(socket)
        this.#endBody(socket)
        this.#waiting -= use.waiting.length
        use.waiting = []
      })
      if (this.#open.size > this.limits.connections) this.#makeRoom(socket)
    })
  }

  /**
   * Calls `handle` for a request, unless its connection is being refused or closes. Requests of one connection are
   * handled one after another, so one that gets no response was not handled: Node reads up to 64 kB at a time, and emits
   * each request in it at once.
   */
  use(socket: Socket, response: ServerResponse, handle: () => void): void {
    const use = this.#open.get(socket)
    if (!use) return this.#refused.has(socket) ? undefined : handle()
    if (use.isEnding) return
    use.last = ++this.#uses
    use.requests++
    if (this.#isDraining) response.shouldKeepAlive = false
    const current = responseOn(socket)
    this.#expectBody(socket, response.req)
    if (!current || current === response) return handle()
    if (use.waiting.length >= this.limits.waiting || this.#waiting >= this.limits.allWaiting) {
      use.isEnding = true
      return this.#refusals.tooManyWaiting(response)
    }
    if (use.waiting.length === 0) this.#handleNextAfter(current, socket, use)
    use.waiting.push({ response, handle })
    this.#waiting++
  }

  /** Handles the first request that waits, as soon as this response has been sent. */
  #handleNextAfter(current: ServerResponse, socket: Socket, use: Use): void {
    current.once('close', () => {
      const next = socket.writableEnded ? undefined : use.waiting.shift()
      if (!next) return
      this.#waiting--
      if (use.waiting.length > 0) this.#handleNextAfter(next.response, socket, use)
      next.handle()
    })
  }

  /**
   * Says that an upload arrives over a connection, which may take longer than other requests, and may be answered
   * meanwhile. `stop` ends it when the server stops. Returns what says that it is over.
   */
  receive(socket: Socket, stop: () => void): () => void {
    this.#endBody(socket)
    this.#uploads.set(socket, stop)
    return () => void this.#uploads.delete(socket)
  }

  /** Whether an upload arrives over a connection. */
  isReceiving(socket: Socket): boolean {
    return this.#uploads.has(socket)
  }

  /** Counts the body of a request, and refuses the bodies that have been arriving longest if it does not fit. */
  #expectBody(socket: Socket, request: IncomingMessage): void {
    const bytes = bodyBytesOf(request)
    if (bytes === 0 || this.#bodies.has(socket)) return
    this.#bodies.set(socket, bytes)
    this.#bodyBytes += bytes
    request.once('close', () => this.#endBody(socket))
    for (const other of this.#bodies.keys()) {
      if (this.#bodyBytes <= this.limits.bodies || other === socket) return
      this.#endBody(other)
      if (!isAnswered(other)) this.#close(other)
    }
  }

  #endBody(socket: Socket): void {
    this.#bodyBytes -= this.#bodies.get(socket) ?? 0
    this.#bodies.delete(socket)
  }

  /** Called with the bytes of each response, before they are sent. */
  produce(bytes: number): void {
    this.#produced += bytes
    if (this.#produced < BYTES_BETWEEN_LOOKS) return
    this.#produced = 0
    this.#cutUnread()
  }

  /** Whether this many more unsent bytes fit the limits, without disconnecting a client. */
  hasRoom(bytes: number): boolean {
    const unsent = this.#unsent()
    return unsent === 0 || unsent + bytes <= this.limits.unsent
  }

  #unsent(): number {
    let sum = 0
    for (const { writableLength } of this.#open.keys()) sum += writableLength
    return sum
  }

  #cutUnread(): void {
    let sum = this.#unsent()
    if (sum <= this.limits.unsent) return
    for (const socket of [...this.#open.keys()].toSorted((one, other) => other.writableLength - one.writableLength)) {
      this.#refusals.unread(socket, socket.writableLength)
      sum -= socket.writableLength
      socket.destroy()
      if (sum <= this.limits.unsent) return
    }
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
      if (last < least && socket !== newest && !isAnswered(socket) && !this.isReceiving(socket))
        [found, least] = [socket, last]
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
    const told = performance.now() // a busy process gets here late, and may have sent responses just before
    while (this.#open.size > 0) {
      await nextTurn() // reads sockets: a request may have arrived while the process was paused
      const now = performance.now()
      if (now - start > seconds * 1000) break
      if (now - told > IDLE_GRACE_MS) this.#closeIdle(now - told > ARRIVAL_GRACE_MS)
      await sleep(POLL_MS)
    }
    for (const server of this.#servers) server.closeAllConnections()
  }

  #closeIdle(isArrivingToo: boolean): void {
    if (isArrivingToo) for (const stop of this.#uploads.values()) stop()
    for (const socket of this.#open.keys())
      if (!isAnswered(socket) && !this.isReceiving(socket) && (isArrivingToo || !this.#isArriving(socket)))
        this.#close(socket)
  }
}

/** The response to the request that is in progress. Node has no other name for it. */
const responseOn = (socket: Socket): ServerResponse | null | undefined =>
  (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage // oxlint-disable-line no-underscore-dangle -- as above

/** How many bytes of memory the body of a request may need, or 0 where it needs little or has another limit. */
function bodyBytesOf({ headers }: IncomingMessage): number {
  const { 'content-length': length = '0', 'transfer-encoding': transfer } = headers
  const bytes = transfer === undefined ? Number(length) : LARGE_BODY
  return bytes < SMALL_BODY || bytes > LARGE_BODY ? 0 : bytes
}

/** Whether a request has arrived, and its response has not been sent. */
const isAnswered = (socket: Socket): boolean => responseOn(socket)?.req.complete === true
