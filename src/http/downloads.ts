import type { ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import type { Repeats } from '../core/repeats.js'
import type { LongBody, Piece } from '../service/lib/download.js'
import type { Connections } from './lib/connections.js'
import { asAppError, isAnswer, publicError } from './errors.js'
import { Places, type Place } from './places.js'

/**
 * Bytes of an answer to an upload that its client has not taken. A client that sends all before it reads can send so long
 * as the answer fits.
 */
const UNREAD = 1024 * 1024

interface Parts {
  connections: Connections
  log(this: void): FastifyBaseLogger
  repeats: Repeats
}

interface Sending {
  /** A person, or an address. */
  who: string | undefined
  /** That of an upload, whose answer it is. */
  place?: Place | undefined
}

/**
 * Sends long bodies. Of each, a chunk and a page of rows are in memory: the next is read when the client has taken those
 * before. Only some run at a time, in all and for each person.
 */
export class Downloads {
  readonly #parts: Parts
  readonly #places: Places

  constructor(parts: Parts) {
    this.#parts = parts
    const { limits } = parts.connections
    this.#places = new Places({
      what: 'downloads',
      most: () => ({ all: limits.downloads, own: limits.ownDownloads }),
    })
  }

  /**
   * Sends the body, and returns when the client has it or is gone. Rejects before the first byte; after it, an error breaks
   * the connection, so that no client takes a part for the whole, unless the body has an end for it.
   */
  async send(
    request: FastifyRequest,
    reply: FastifyReply,
    body: LongBody,
    { who, place: ofUpload }: Sending,
  ): Promise<FastifyReply> {
    const headers = {
      'content-type': body.type === 'application/zip' ? body.type : `${body.type}; charset=utf-8`,
      ...(body.file !== undefined && { 'content-disposition': `attachment; filename="${body.file}"` }),
      'cache-control': 'no-store',
    }
    if (request.method === 'HEAD') return reply.code(200).headers(headers).send()
    const place = ofUpload ?? this.#take(reply.raw, who)
    const iterator = body.pieces[Symbol.asyncIterator]()
    try {
      const first = await iterator.next() // what it throws is answered like any error
      reply.headers(headers).hijack() // Fastify would log a failure without its request
      await this.#stream(request, reply, { place, unread: ofUpload ? UNREAD : 0, end: body.end }, { first, iterator })
    } finally {
      this.#places.leave(place)
      await iterator.return?.()
    }
    return reply
  }

  #take(response: ServerResponse, who: string | undefined): Place {
    const cut = () => {
      const { remoteAddress } = response.req.socket
      this.#parts.log().info({ remoteAddress }, 'download cut: its client takes nothing, and another waits')
      response.destroy()
    }
    const place: Place = { who, waitsSince: Infinity, cut }
    this.#places.take(place)
    return place
  }

  async #stream(
    request: FastifyRequest,
    reply: FastifyReply,
    { place, unread, end }: { place: Place; unread: number; end: LongBody['end'] },
    { first, iterator }: { first: IteratorResult<Piece>; iterator: AsyncIterator<Piece> },
  ): Promise<void> {
    const { connections, log } = this.#parts
    const { raw } = reply
    const isGone = new Promise((resolve) => raw.once('close', resolve))
    const sent = { rows: 0, bytes: 0 }
    const write = async ({ text, bytes = Buffer.from(text), rows }: Piece) => {
      connections.produce(bytes.length)
      sent.rows += rows
      sent.bytes += bytes.length
      const since = performance.now()
      if (raw.write(bytes) || waitingIn(raw) < unread) return
      place.waitsSince = since
      await Promise.race([new Promise((resolve) => raw.once('drain', resolve)), isGone])
      place.waitsSince = Infinity
    }
    if (connections.isDraining) raw.shouldKeepAlive = false
    try {
      raw.writeHead(200, reply.getHeaders() as Record<string, string>)
      for (let next = first; !next.done && !raw.destroyed; next = await iterator.next()) {
        await write(next.value)
        await setImmediate() // other requests have their turn
      }
      if (raw.destroyed) log().info({ reqId: request.id, ...sent }, 'download ended: its client is gone')
      else raw.end()
    } catch (error) {
      const known = this.#failed(request, error)
      if (!end || raw.destroyed) return cut(raw)
      await write(end(isAnswer(known) ? known : publicError(known)))
      raw.end()
    }
  }

  #failed(request: FastifyRequest, error: unknown) {
    const known = asAppError(error)
    const { id: reqId } = request
    const { method } = request
    const what = method === 'GET' ? 'download' : 'upload'
    if (known.status < 500) this.#parts.log().info({ reqId, code: known.code }, `${what} ended before its end`)
    else this.#parts.repeats.report(known, reqId, { reqId }, `${method === 'GET' ? 'a download' : 'an upload'} failed before its end`) // prettier-ignore
    return known
  }
}

/** Bytes of a response that have not left this process. */
const waitingIn = ({ writableLength, socket }: ServerResponse): number => writableLength + (socket?.writableLength ?? 0)

/** A reset tells clients of HTTP/1.0 too, for whom a body ends where its connection ends. A Unix socket has none. */
function cut(raw: ServerResponse): void {
  try {
    raw.socket?.resetAndDestroy()
  } catch {
    // not TCP
  }
  raw.destroy()
}
