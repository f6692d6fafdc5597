import type { IncomingMessage } from 'node:http'
import type { FastifyBaseLogger } from 'fastify'
import { API_ROOT, DRY_RUN_HEADER, REQUEST_ID } from '../../core/wire.js'
import { loggable } from '../logging.js'
import type { Basis, Revision, Watch } from '../../service/lib/context.js'

/** An answer to a read as it goes over the wire, but for the id of the request. */
export interface Answer {
  op: string
  /** The address, as it may be logged. */
  url: string
  /** Says of each request what all that are answered so have in common; made for the first of them. */
  log?: FastifyBaseLogger
  /** Names and values of the headers, in turn, but for the id of the request, which is the first; those of a 304 have no content. */
  head: string[]
  unchangedHead: string[]
  etag: string
  body: Body
  /** When the session it was made for ends, in milliseconds since 1970. */
  until: number
  /** What the data were like when it was right. */
  revision: Revision
  /** What it was made of, where that can be told: it is right while that is the same. */
  basis: Basis | undefined
}

/** A short one is a text with a character for each byte, so that it and the headers are written as one; a long one is not copied. */
type Body = string | Buffer
const LONG = 4096

/** Operations are below it; what else there is (probes, pages) is not kept, and waits for no database. */
const OPERATIONS = `${API_ROOT}/`
/** In a key instead of a header that is not there: no header can hold it. */
const NONE = '\0'

type Headers = Readonly<Record<string, unknown>>

/** What a request asks for, and of which data. */
export interface Question {
  key: string
  revision: Revision
}

/** What has to be known beside the answer itself. */
export interface Reading {
  op: string
  until: number
  basis: Basis | undefined
}

/** Bytes of answers that are kept at most, and of one body that is looked at. */
const MOST_BYTES = 10 * 1024 * 1024
/** When there is no room, only one in so many new answers takes the place of the oldest: a walk over more than there is room for must not empty it. */
const MAKES_ROOM = 8
const LONGEST_BODY = 4096
/** Beside the body: the key, the headers and the entry itself. */
const OVERHEAD = 2000
/** Addresses that are known to be asked with a body, at most. */
const MOST_ADDRESSES = 100

/**
 * Answers to reads, kept as bytes for as long as the data have not changed: the same bytes asked by the same person are answered with
 * the same bytes. Nothing is known here of operations: which of them only read shows when they run.
 */
export class Answers {
  readonly #watch: Watch
  readonly #now: () => Date
  readonly #asked = new WeakMap<IncomingMessage, Question & Partial<Reading>>()
  readonly #kept = new Map<string, Answer>()
  readonly #addresses = new Set<string>()
  /** By their ETags, which are made of all of them. */
  readonly #bodies = new Map<string, { body: Body; uses: number }>()
  #bytes = 0
  #turnedAway = 0
  #isStopped = false

  constructor(watch: Watch, now: () => Date) {
    this.#watch = watch
    this.#now = now
  }

  /** From now on every request is left to the framework, which says that the server is stopping. */
  stop(): void {
    this.#isStopped = true
  }

  /** Whether the body has to be known to tell what is asked. */
  asksWithBody({ method, url = '' }: IncomingMessage): boolean {
    return method === 'POST' && this.#addresses.has(addressOf(url))
  }

  /** A key that differs wherever the answer may; nothing for what is no operation, no read, or too long to be looked at. */
  keyOf({ method, url = '', headers }: IncomingMessage, body?: Buffer): string | undefined {
    if (this.#isStopped || !url.startsWith(OPERATIONS)) return undefined
    const { authorization = NONE, 'content-type': type = NONE, 'content-encoding': encoding = NONE } = headers
    if (method === 'GET') return `GET ${url}\n${authorization}`
    if (method !== 'POST' || headers[DRY_RUN_HEADER] !== undefined) return undefined
    if (headers['transfer-encoding'] !== undefined || body?.length !== Number(headers['content-length'] ?? 0))
      return undefined
    if (body.length > LONGEST_BODY) return undefined
    return `POST ${url}\n${authorization}\n${type}\n${encoding}\n${body.toString('latin1')}`
  }

  /** What the data are like now; for somebody who is signed in exactly now, so that whoever wrote sees it. */
  revision({ headers, socket }: IncomingMessage): Revision | Promise<Revision> {
    return this.#watch.revision(headers.authorization !== undefined, socket)
  }

  find({ key, revision }: Question): Answer | undefined {
    const answer = this.#kept.get(key)
    if (!answer) return undefined
    if (answer.until > this.#now().getTime() && isRight(answer, revision)) return answer
    this.#drop(key, answer)
    return undefined
  }

  /** Notes what a request asks for, until it is answered. */
  ask(request: IncomingMessage, question: Question): void {
    this.#asked.set(request, question)
  }

  /** An operation has done nothing for this request but read: its answer may be kept. */
  onlyRead(request: IncomingMessage, reading: Reading): void {
    const question = this.#asked.get(request)
    if (question) Object.assign(question, reading)
    else if (request.method === 'POST' && this.#addresses.size < MOST_ADDRESSES)
      this.#addresses.add(addressOf(request.url ?? ''))
  }

  /** Nothing is kept that was made of data which have changed since. */
  keep(request: IncomingMessage, headers: Headers, etag: string, bytes: Buffer): void {
    const { key, revision, op, until = 0, basis } = this.#asked.get(request) ?? {}
    if (
      key === undefined ||
      revision === undefined ||
      op === undefined ||
      until <= this.#now().getTime() ||
      this.#kept.has(key)
    )
      return
    const kept = this.#bodies.get(etag)?.body
    const size = OVERHEAD + (kept === undefined ? bytes.length : 0)
    if (size > MOST_BYTES / 10 || (this.#bytes + size > MOST_BYTES && ++this.#turnedAway % MAKES_ROOM > 0)) return
    const body = bodyOf(bytes)
    if (kept !== undefined && !isSame(kept, body)) return
    const { 'content-type': _, ...unchanged } = headers
    const answer = {
      op,
      url: loggable(request.url ?? ''),
      until,
      revision,
      basis,
      etag,
      body: kept ?? body,
      head: headOf({ ...headers, 'content-length': body.length }),
      unchangedHead: headOf(unchanged),
    }
    this.#put(key, answer)
    for (const [oldest, old] of this.#kept) {
      if (this.#bytes <= MOST_BYTES) break
      this.#drop(oldest, old)
    }
  }

  /** Where people are answered the same, the body is kept once. */
  #put(key: string, answer: Answer) {
    const body = this.#bodies.get(answer.etag) ?? { body: answer.body, uses: 0 }
    if (body.uses++ === 0) this.#bytes += body.body.length
    this.#bodies.set(answer.etag, body)
    this.#kept.set(key, answer)
    this.#bytes += OVERHEAD + key.length
  }

  #drop(key: string, { etag }: Answer) {
    const body = this.#bodies.get(etag)
    if (body && --body.uses === 0) {
      this.#bodies.delete(etag)
      this.#bytes -= body.body.length
    }
    this.#kept.delete(key)
    this.#bytes -= OVERHEAD + key.length
  }
}

const bodyOf = (bytes: Buffer): Body => (bytes.length > LONG ? bytes : bytes.toString('latin1'))

const isSame = (one: Body, other: Body): boolean =>
  typeof one === 'string' ? one === other : typeof other !== 'string' && one.equals(other)

const isRight = (answer: Answer, revision: Revision): boolean => {
  if (answer.revision === revision) return true
  if (Number.isNaN(revision) || !answer.basis?.holds()) return false
  answer.revision = revision
  return true
}

/** The headers in a row, the first without its value. */
const headOf = (headers: Headers): string[] => [
  REQUEST_ID,
  '',
  ...Object.entries(headers).flatMap(([name, value]) => (name === REQUEST_ID ? [] : [name, String(value)])),
]

/** An address as routes are found: without its query, in any letter case, with or without a slash at its end. */
const addressOf = (url: string): string => (url.split('?', 1)[0] ?? '').toLowerCase().replace(/\/$/, '')
