import type { FastifyInstance } from 'fastify'
import { API_ROOT } from '../../core/wire.js'
import type { AnyOperation } from '../../service/lib/operation.js'
import { docsPage } from './docspage.js'
import { openapi } from './openapi.js'

/** Serves the OpenAPI document, and a page that displays it. */
export function docs(server: FastifyInstance, operations: readonly AnyOperation[]): void {
  let text: Buffer | undefined
  for (const url of ['/openapi.json', '/docs/json'])
    server.get(url, async (_request, reply) => {
      text ??= Buffer.from(JSON.stringify(openapi(operations, API_ROOT))) // one for all: a Buffer is sent without a copy
      return reply.type('application/json; charset=utf-8').send(text)
    })
  docsPage(server)
}
