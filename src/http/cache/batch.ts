import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger } from 'fastify'
import fresh from 'fresh'
import type { Answer } from './responses.js'
import { outcome, requestId } from '../logging.js'

interface Waiting {
  answer: Answer
  request: IncomingMessage
  response: ServerResponse
  reqId: string
  /** When it was asked for, in milliseconds of the process. */
  since: number
}

/** Answers that wait for each other, at most. */
const TOGETHER = 32

/**
 * Sends kept answers, all of one turn of the event loop together when it ends, and then logs them. To send an answer wakes whoever waits
 * for it; where that is on the same machine and gets one at a time, it has fallen asleep again before the next, and waking takes as long as
 * everything else.
 */
export class Sending {
  readonly #log: () => FastifyBaseLogger
  #waiting: Waiting[] = []
  #isDue = false

  constructor(log: () => FastifyBaseLogger) {
    this.#log = log
  }

  /** To be called first when a request has been read: what else it leaves for the end of the turn then comes after the answers. */
  requested(): void {
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(() => {
      this.#isDue = false
      this.flush()
    })
  }

  send(answer: Answer, request: IncomingMessage, response: ServerResponse): void {
    this.requested() // again, as the turn may be another one by now
    this.#waiting.push({ answer, request, response, reqId: requestId(request), since: performance.now() })
    if (this.#waiting.length === TOGETHER) this.flush()
  }

  /** Sends what waits now. */
  flush(): void {
    const these = this.#waiting
    this.#waiting = []
    for (const one of these) write(one)
    const now = performance.now()
    for (const { answer, request, response, reqId, since } of these) {
      answer.log ??= this.#log().child({ op: answer.op, method: request.method, url: answer.url })
      answer.log.info({ reqId, ...outcome(response.statusCode, now - since) }, 'request')
    }
  }
}

function write({ answer: { head, unchangedHead, etag, body }, request, response, reqId }: Waiting): void {
  const isRead = request.method === 'GET'
  if (!isRead) request.resume()
  if (isRead && fresh(request.headers, { etag })) response.writeHead(304, named(unchangedHead, reqId)).end()
  else response.writeHead(200, named(head, reqId)).end(body, 'latin1') // as bytes it has no encoding
}

function named(head: readonly string[], reqId: string): string[] {
  const copy = head.slice()
  copy[1] = reqId
  return copy
}
