import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger } from 'fastify'
import fresh from 'fresh'
import type { Answer } from './answers.js'
import { outcome, requestId } from './lines.js'

type Send = (answer: Answer, request: IncomingMessage, response: ServerResponse) => void

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
 * Sends kept answers, all of one turn of the event loop together when it ends, and then logs them: to send wakes whoever waits for it, and a
 * proxy on the same machine that gets one answer at a time falls asleep, and is woken, for each.
 */
export function sending(log: () => FastifyBaseLogger): Send {
  let waiting: Waiting[] = []
  const flush = () => {
    const these = waiting
    waiting = []
    for (const one of these) send(one)
    const now = performance.now()
    for (const { answer, request, response, reqId, since } of these) {
      answer.log ??= log().child({ op: answer.op, method: request.method, url: answer.url })
      answer.log.info({ reqId, ...outcome(response.statusCode, now - since) }, 'request')
    }
  }
  return (answer, request, response) => {
    if (waiting.length === 0) setImmediate(flush)
    waiting.push({ answer, request, response, reqId: requestId(request), since: performance.now() })
    if (waiting.length === TOGETHER) flush()
  }
}

function send({ answer: { head, unchangedHead, etag, body }, request, response, reqId }: Waiting): void {
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
