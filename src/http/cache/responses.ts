import type { IncomingMessage } from 'node:http'
import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'
import { REQUEST_ID } from '../../core/wire.js'
import { loggable } from '../lib/logging.js'
import { hasCredentials, type ReadSet, type Site } from '../lib/site.js'
import type { CacheableRoute } from './routes.js'

/** A response as it is sent, without the request id. */
export interface CachedResponse {
  op: string
  /** Redacted for the log. */
  url: string
  /** Logger with the fields that all requests of this response share. Created on the first hit. */
  log?: FastifyBaseLogger
  /** Alternating names and values, as `writeHead` takes them. The first is the request id, with an empty value. */
  headers: string[]
  /** The same for a 304, without headers of the content. */
  notModifiedHeaders: string[]
  etag: string
  body: Body
  /** Session expiry, Unix ms. */
  expiresAt: number
  /** The newest revision for which the entry is known to be current. */
  revision: number
  readSet: ReadSet
}

/**
 * A short body is a latin1 string, which Node writes together with the headers. A long one is a Buffer, which Node does
 * not copy.
 */
type Body = string | Buffer
const MAX_STRING_BODY = 4096

/** RFC 9211. */
const AWAY = ['cache-status', 'feedbackctl; hit; detail=DATABASE_UNREACHABLE']

type Headers = Readonly<Record<string, unknown>>

export interface Lookup {
  route: CacheableRoute
  key: string
  revision: number
  /** When the request has to end, of `performance.now()`. */
  deadline: number
}

/** What the handler allowed to be cached. */
interface Allowed {
  op: string
  expiresAt: number
  readSet: ReadSet
}

/** Database access for the handler of one request. */
interface RequestData {
  db: Site['db']
  /**
   * Called by the handler on success. The response is cached until the session expires (Unix ms), if the route declares
   * a cache and the handler read only through `db`.
   */
  allowCaching(this: void, op: string, expiresAt?: number): void
}

const MAX_BYTES = 10 * 1024 * 1024
const MAX_ENTRY_BYTES = MAX_BYTES / 10
/** Estimated bytes of an entry beside its body and key. */
const OVERHEAD_BYTES = 2000
/** When the cache is full, it admits 1 in 8 new responses, so that a scan cannot evict the hot set. */
const ADMISSION = 8

/** Response cache of the routes that declare one. An entry is served until a row that it was read from changes. */
export class ResponseCache {
  readonly #site: Site
  readonly #pending = new WeakMap<IncomingMessage, Lookup & Partial<Allowed>>()
  readonly #entries = new LRUCache<string, CachedResponse>({
    maxSize: MAX_BYTES,
    dispose: ({ etag }) => this.#release(etag),
  })
  /** Bodies by ETag, with reference counts: many users get the same body. */
  readonly #bodies = new Map<string, { body: Body; refs: number }>()
  #bodyBytes = 0
  #rejected = 0

  constructor(site: Site) {
    this.#site = site
  }

  /** The response to send; a promise where some of its data may have changed and is read again. */
  find({ key, revision, deadline }: Lookup): CachedResponse | undefined | Promise<CachedResponse | undefined> {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    if (entry.expiresAt <= this.#site.now().getTime()) return this.#drop(key)
    if (entry.revision === revision || entry.readSet.isCurrent()) {
      entry.revision = revision
      return entry
    }
    return entry.readSet.revalidate(deadline).then(
      (isCurrent) => {
        if (!isCurrent) return this.#drop(key, entry)
        entry.revision = revision
        return entry
      },
      () => undefined, // the handler reports what is wrong with the database
    )
  }

  /**
   * The response to a request that was looked up, to send where the database does not answer: marked, and only if nothing
   * is known to have changed in it. So a right that was withdrawn stays withdrawn.
   */
  whileAway(request: IncomingMessage): CachedResponse | undefined {
    // A signed-in user must see their own writes, and must not see what they lost access to
    if (hasCredentials(request.headers) && this.#site.cache?.missesCommits()) return undefined
    const entry = this.#entries.get(this.#pending.get(request)?.key ?? '')
    if (!entry || entry.expiresAt <= this.#site.now().getTime() || !entry.readSet.isCurrent()) return undefined
    const { headers, notModifiedHeaders } = entry
    return { ...entry, headers: [...headers, ...AWAY], notModifiedHeaders: [...notModifiedHeaders, ...AWAY] }
  }

  clear(): void {
    this.#entries.clear()
  }

  #drop(key: string, entry?: CachedResponse): undefined {
    if (entry === undefined || this.#entries.peek(key) === entry) this.#entries.delete(key)
  }

  /** Remembers the key of a request that missed the cache, for `store`. */
  track(request: IncomingMessage, lookup: Lookup): void {
    this.#pending.set(request, lookup)
  }

  /** A handler that starts again reads what is stored by then, so its response is not that of the lookup. */
  forget(request: IncomingMessage): void {
    this.#pending.delete(request)
  }

  /** Gives a handler the database through the query cache. */
  async open(request: IncomingMessage): Promise<RequestData> {
    const { db, cache } = this.#site
    if (!cache) return { db, allowCaching: () => {} }
    const pending = this.#pending.get(request)
    const deadline = pending?.deadline ?? cache.deadline() // before the revision, which a frozen server delays
    const revision = pending?.revision ?? (await cache.revision(hasCredentials(request.headers)))
    const { db: cached, readSet } = cache.forRequest(revision, deadline)
    const allowCaching: RequestData['allowCaching'] = (op, expiresAt = Infinity) => {
      if (pending && readSet.isKnown) Object.assign(pending, { op, expiresAt, readSet })
    }
    return { db: cached, allowCaching }
  }

  /** Stores the response, if its handler allowed that. */
  store(request: IncomingMessage, headers: Headers, etag: string, bytes: Buffer): void {
    const { key, revision, op, expiresAt = 0, readSet } = this.#pending.get(request) ?? {}
    if (key === undefined || revision === undefined || op === undefined || readSet === undefined) return
    if (expiresAt <= this.#site.now().getTime()) return
    const shared = this.#bodies.get(etag)?.body
    const body = bodyOf(bytes)
    if (shared !== undefined && !isEqual(shared, body)) return
    const size = OVERHEAD_BYTES + key.length
    const added = size + (shared === undefined ? body.length : 0)
    if (added > MAX_ENTRY_BYTES || (this.#bytes + added > MAX_BYTES && ++this.#rejected % ADMISSION > 0)) return
    const { 'content-type': _, ...unchanged } = headers
    const entry: CachedResponse = {
      op,
      url: loggable(request.url ?? ''),
      expiresAt,
      revision,
      readSet,
      etag,
      body: shared ?? body,
      headers: flattened({ ...headers, 'content-length': body.length }),
      notModifiedHeaders: flattened(unchanged),
    }
    this.#share(entry)
    this.#entries.set(key, entry, { size })
    while (this.#bytes > MAX_BYTES) this.#entries.pop()
  }

  get #bytes(): number {
    return this.#entries.calculatedSize + this.#bodyBytes
  }

  #share({ etag, body }: CachedResponse) {
    const shared = this.#bodies.get(etag) ?? { body, refs: 0 }
    if (shared.refs++ === 0) this.#bodyBytes += body.length
    this.#bodies.set(etag, shared)
  }

  #release(etag: string) {
    const shared = this.#bodies.get(etag)
    if (!shared || --shared.refs > 0) return
    this.#bodies.delete(etag)
    this.#bodyBytes -= shared.body.length
  }
}

/** The headers and the body of a cached response, for a handler to send. */
export const contentOf = ({ headers, body }: CachedResponse): { headers: Record<string, string>; bytes: Buffer } => ({
  headers: Object.fromEntries(
    headers.flatMap((name, index) =>
      index % 2 === 0 && name !== REQUEST_ID ? [[name, headers[index + 1] ?? '']] : [],
    ),
  ),
  bytes: typeof body === 'string' ? Buffer.from(body, 'latin1') : body,
})

const bodyOf = (bytes: Buffer): Body => (bytes.length > MAX_STRING_BODY ? bytes : bytes.toString('latin1'))

const isEqual = (one: Body, other: Body): boolean =>
  typeof one === 'string' ? one === other : typeof other !== 'string' && one.equals(other)

const flattened = (headers: Headers): string[] => [
  REQUEST_ID,
  '',
  ...Object.entries(headers).flatMap(([name, value]) => (name === REQUEST_ID ? [] : [name, String(value)])),
]
