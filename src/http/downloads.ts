import type { ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../core/errors.js'
import { rateLimited } from '../core/limits.js'
import type { Repeats } from '../core/repeats.js'
import type { LongBody, Piece } from '../service/lib/download.js'
import type { Connections } from './lib/connections.js'
import { asAppError } from './errors.js'

/** How long a client may take no bytes before its place goes to another, where all are taken. */
const SLOW_MS = 10_000
/** Seconds after which a client should ask again for a place. */
const RETRY_SECONDS = 10

interface Running {
  who: string | undefined
  response: ServerResponse
  /** Since when it waits for its client, of `performance.now()`. Infinity while it reads. */
  waitsSince: number
}

interface Parts {
  connections: Connections
  log(this: void): FastifyBaseLogger
  repeats: Repeats
}

/**
 * Sends long bodies. Of each, a chunk and a page of rows are in memory: the next is read when the client has taken those
 * before. Only some run at a time, in all and for each person.
 */
export class Downloads {
  readonly #parts: Parts
  readonly #running = new Set<Running>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Sends the body, and returns when the client has it or is gone. Rejects before the first byte; after it, an error breaks
   * the connection, so that no client takes a part for the whole. `who` is a person, or an address.
   */
  async send(
    request: FastifyRequest,
    reply: FastifyReply,
    { file, type, pieces }: LongBody,
    who: string | undefined,
  ): Promise<FastifyReply> {
    const headers = {
      'content-type': `${type}; charset=utf-8`,
      'content-disposition': `attachment; filename="${file}"`,
      'cache-control': 'no-store',
    }
    if (request.method === 'HEAD') return reply.code(200).headers(headers).send()
    const running = this.#admit(reply.raw, who)
    const iterator = pieces[Symbol.asyncIterator]()
    try {
      const first = await iterator.next() // what it throws is answered like any error
      reply.headers(headers).hijack() // Fastify would log a failure without its request
      await this.#stream(request, reply, running, { first, iterator })
    } finally {
      this.#running.delete(running)
      await iterator.return?.()
    }
    return reply
  }

  #admit(response: ServerResponse, who: string | undefined): Running {
    const { downloads, ownDownloads } = this.#parts.connections.limits
    const own = [...this.#running].filter((each) => who !== undefined && each.who === who)
    if (own.length >= ownDownloads)
      throw rateLimited(`${ownDownloads} downloads of yours are running. Let one of them end.`, RETRY_SECONDS)
    if (this.#running.size >= downloads) this.#makeRoom()
    const running: Running = { who, response, waitsSince: Infinity }
    this.#running.add(running)
    return running
  }

  /** Cuts the download whose client has taken nothing for the longest time. */
  #makeRoom(): void {
    const [slowest] = [...this.#running].toSorted((one, other) => one.waitsSince - other.waitsSince)
    if (!slowest || performance.now() - slowest.waitsSince < SLOW_MS)
      throw new AppError('SERVER_BUSY', 'Too many downloads are running. Try again in a moment.', {
        retryAfter: RETRY_SECONDS,
      })
    const { remoteAddress } = slowest.response.req.socket
    this.#parts.log().info({ remoteAddress }, 'download cut: its client takes nothing, and another waits')
    this.#running.delete(slowest)
    slowest.response.destroy()
  }

  async #stream(
    request: FastifyRequest,
    reply: FastifyReply,
    running: Running,
    { first, iterator }: { first: IteratorResult<Piece>; iterator: AsyncIterator<Piece> },
  ): Promise<void> {
    const { connections, log } = this.#parts
    const { raw } = reply
    const isGone = new Promise((resolve) => raw.once('close', resolve))
    const sent = { rows: 0, bytes: 0 }
    if (connections.isDraining) raw.shouldKeepAlive = false
    try {
      raw.writeHead(200, reply.getHeaders() as Record<string, string>)
      for (let next = first; !next.done && !raw.destroyed; next = await iterator.next()) {
        const bytes = Buffer.from(next.value.text)
        connections.produce(bytes.length)
        sent.rows += next.value.rows
        sent.bytes += bytes.length
        running.waitsSince = performance.now()
        if (!raw.write(bytes)) await Promise.race([new Promise((resolve) => raw.once('drain', resolve)), isGone])
        running.waitsSince = Infinity
        await setImmediate() // other requests have their turn
      }
      if (raw.destroyed) log().info({ reqId: request.id, ...sent }, 'download ended: its client is gone')
      else raw.end()
    } catch (error) {
      this.#failed(request, error)
      cut(raw)
    }
  }

  #failed(request: FastifyRequest, error: unknown): void {
    const known = asAppError(error)
    const { id: reqId } = request
    if (known.status < 500) this.#parts.log().info({ reqId, code: known.code }, 'download ended before its end')
    else this.#parts.repeats.report(known, reqId, { reqId }, 'a download failed before its end')
  }
}

/** A reset tells clients of HTTP/1.0 too, for whom a body ends where its connection ends. */
function cut(raw: ServerResponse): void {
  if (raw.socket && 'resetAndDestroy' in raw.socket) raw.socket.resetAndDestroy()
  raw.destroy()
}
