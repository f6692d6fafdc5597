import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { FastifyServerOptions } from 'fastify'
import type { Answers, Question } from './responses.js'
import type { Sending } from './batch.js'

interface Kept {
  answers: Answers
  sending: Sending
}

interface Framework {
  handle: RequestListener
  options: FastifyServerOptions
}

interface Asked {
  request: IncomingMessage
  response: ServerResponse
  revision?: ReturnType<Answers['revision']>
  body?: Buffer | undefined
}

/**
 * A server that answers what it has answered before, and leaves the rest to the framework: to find a route, read a body, check and run
 * takes several times as long as to send bytes.
 */
export function serverWith(kept: Kept | undefined, { handle, options }: Framework): Server {
  const server = createServer(kept ? listener(kept) : handle)
  server.on('clientError', () => kept?.sending.flush()) // what was asked before is answered before
  server.keepAliveTimeout = options.keepAliveTimeout ?? server.keepAliveTimeout
  server.requestTimeout = options.requestTimeout ?? server.requestTimeout
  return server

  function listener(kept: Kept): RequestListener {
    const { answers, sending } = kept
    return (request, response) => {
      sending.requested()
      if (!answers.asksWithBody(request)) return answer(kept, { request, response })
      const revision = answers.revision(request) // now, and not when the body is there
      withBody(request, (body) => answer(kept, { request, response, revision, body }))
    }
  }

  function answer({ answers, sending }: Kept, { request, response, body, ...given }: Asked): void {
    const key = answers.keyOf(request, body)
    if (key === undefined) return handle(request, response)
    const revision = given.revision ?? answers.revision(request)
    const asked = (question: Question) => {
      const known = answers.find(question)
      if (known) return sending.send(known, request, response)
      answers.ask(request, question)
      handle(request, response)
    }
    if (typeof revision !== 'object') return asked({ key, revision })
    void revision.then((now) => asked({ key, revision: now })) // it never rejects
  }
}

/** Looks at a body that arrives with its request, and puts it back. One that is still to come is the framework's to wait for. */
function withBody(request: IncomingMessage, then: (body: Buffer | undefined) => void): void {
  const look = (isLast: boolean) => {
    const body = request.read() as Buffer | null // no encoding is set
    if (!body && !isLast) return void setImmediate(look, true)
    if (body) request.unshift(body)
    then(body ?? undefined)
  }
  process.nextTick(look, false)
}
