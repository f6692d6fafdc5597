import type { IncomingMessage } from 'node:http'
import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'
import { REQUEST_ID } from '../../core/wire.js'
import { loggable } from '../logging.js'
import { isPersonal, type ReadSet, type Site } from '../site.js'
import type { CacheableRoute } from './routes.js'

/** A response as it goes over the wire, but for the id of the request. */
export interface CachedResponse {
  op: string
  /** The address, as it may be logged. */
  url: string
  /** Adds to each log line what all requests of this response share. Made for the first of them. */
  log?: FastifyBaseLogger
  /** Names and values of headers in turn. The first is the request id, without its value; a 304 has no content headers. */
  headers: string[]
  notModifiedHeaders: string[]
  etag: string
  body: Body
  /** End of the session it was made for, Unix ms. */
  expiresAt: number
  /** The newest revision at which it is known to be current. */
  revision: number
  readSet: ReadSet
}

/** A short body is text with one character a byte, so that it goes out in one write with the headers; a long one is not copied. */
type Body = string | Buffer
const LONG_BODY = 4096

type Headers = Readonly<Record<string, unknown>>

/** Where the response of a request is looked up. */
export interface Lookup {
  route: CacheableRoute
  key: string
  revision: number
}

interface Allowed {
  op: string
  expiresAt: number
  readSet: ReadSet
}

/** What the handler of one request reads with. */
interface RequestData {
  db: Site['db']
  /**
   * To be called when the handler has succeeded. Its response is cached where the route declares it and every read went through `db`,
   * until the session it was made for ends (Unix ms).
   */
  allow(this: void, op: string, expiresAt?: number): void
}

/** Bytes of all responses. */
const MAX_BYTES = 10 * 1024 * 1024
const MAX_ENTRY_BYTES = MAX_BYTES / 10
/** Bytes of an entry beside its body and key: the headers and the entry itself. */
const OVERHEAD = 2000
/** When full, one in so many new responses is admitted, so that a scan cannot evict the hot set. */
const ADMISSION = 8

/** Response cache. Only responses whose route declares it get here, and each is served until something it was read from changes. */
export class ResponseCache {
  readonly #site: Site
  readonly #pending = new WeakMap<IncomingMessage, Lookup & Partial<Allowed>>()
  readonly #entries = new LRUCache<string, CachedResponse>({
    maxSize: MAX_BYTES,
    dispose: ({ etag }) => this.#release(etag),
  })
  /** Bodies by ETag, with the number of entries that share each: many people get the same one. */
  readonly #bodies = new Map<string, { body: Body; uses: number }>()
  #bodyBytes = 0
  #refused = 0

  constructor(site: Site) {
    this.#site = site
  }

  /** The response to send; a promise where some of its data may have changed and is read again. */
  find({ key, revision }: Lookup): CachedResponse | undefined | Promise<CachedResponse | undefined> {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    if (entry.expiresAt <= this.#site.now().getTime()) return this.#drop(key)
    if (entry.revision === revision || entry.readSet.isCurrent()) {
      entry.revision = revision
      return entry
    }
    return entry.readSet.revalidate().then(
      (isCurrent) => {
        if (!isCurrent) return this.#drop(key, entry)
        entry.revision = revision
        return entry
      },
      () => this.#drop(key, entry), // the handler reports what is wrong with the database
    )
  }

  #drop(key: string, entry?: CachedResponse): undefined {
    if (entry === undefined || this.#entries.peek(key) === entry) this.#entries.delete(key)
  }

  /** Remembers where a request was looked up, until it is answered. */
  expect(request: IncomingMessage, lookup: Lookup): void {
    this.#pending.set(request, lookup)
  }

  /** The database for one request, through the query cache. */
  async open(request: IncomingMessage): Promise<RequestData> {
    const { db, cache } = this.#site
    if (!cache) return { db, allow: () => {} }
    const pending = this.#pending.get(request)
    const { db: cached, readSet } = cache.forRequest(
      pending?.revision ?? (await cache.revision(isPersonal(request.headers))),
    )
    const allow: RequestData['allow'] = (op, expiresAt = Infinity) => {
      if (pending && readSet.isKnown) Object.assign(pending, { op, expiresAt, readSet })
    }
    return { db: cached, allow }
  }

  /** Stores a response whose handler allowed it. */
  store(request: IncomingMessage, headers: Headers, etag: string, bytes: Buffer): void {
    const { key, revision, op, expiresAt = 0, readSet } = this.#pending.get(request) ?? {}
    if (key === undefined || revision === undefined || op === undefined || readSet === undefined) return
    if (expiresAt <= this.#site.now().getTime()) return
    const shared = this.#bodies.get(etag)?.body
    const body = bodyOf(bytes)
    if (shared !== undefined && !isSame(shared, body)) return
    const size = OVERHEAD + key.length
    const added = size + (shared === undefined ? body.length : 0)
    if (added > MAX_ENTRY_BYTES || (this.#bytes + added > MAX_BYTES && ++this.#refused % ADMISSION > 0)) return
    const { 'content-type': _, ...unchanged } = headers
    const entry: CachedResponse = {
      op,
      url: loggable(request.url ?? ''),
      expiresAt,
      revision,
      readSet,
      etag,
      body: shared ?? body,
      headers: inTurn({ ...headers, 'content-length': body.length }),
      notModifiedHeaders: inTurn(unchanged),
    }
    this.#share(entry)
    this.#entries.set(key, entry, { size })
    while (this.#bytes > MAX_BYTES) this.#entries.pop()
  }

  get #bytes(): number {
    return this.#entries.calculatedSize + this.#bodyBytes
  }

  #share({ etag, body }: CachedResponse) {
    const shared = this.#bodies.get(etag) ?? { body, uses: 0 }
    if (shared.uses++ === 0) this.#bodyBytes += body.length
    this.#bodies.set(etag, shared)
  }

  #release(etag: string) {
    const shared = this.#bodies.get(etag)
    if (!shared || --shared.uses > 0) return
    this.#bodies.delete(etag)
    this.#bodyBytes -= shared.body.length
  }
}

const bodyOf = (bytes: Buffer): Body => (bytes.length > LONG_BODY ? bytes : bytes.toString('latin1'))

const isSame = (one: Body, other: Body): boolean =>
  typeof one === 'string' ? one === other : typeof other !== 'string' && one.equals(other)

const inTurn = (headers: Headers): string[] => [
  REQUEST_ID,
  '',
  ...Object.entries(headers).flatMap(([name, value]) => (name === REQUEST_ID ? [] : [name, String(value)])),
]
