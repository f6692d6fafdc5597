import Fastify, { type FastifyInstance } from 'fastify'
import { AppError } from '../../core/errors.js'
import { API_ROOT } from '../../core/wire.js'
import type { AnyOperation } from '../../service/lib/operation.js'
import { openapi } from './openapi.js'

/** Serves the OpenAPI document, and a page that displays it. */
export function docs(server: FastifyInstance, operations: readonly AnyOperation[]): void {
  let document: object | undefined
  let text: Buffer | undefined
  const getDocument = () => (document ??= openapi(operations, API_ROOT))
  server.get('/openapi.json', async (_request, reply) => {
    text ??= Buffer.from(JSON.stringify(getDocument())) // one for all responses: a Buffer is sent without a copy
    return reply.type('application/json; charset=utf-8').send(text)
  })
  docsPage(server, getDocument)
}

/** Built on the first request, because Swagger UI takes longer to load than the rest of the server. */
function docsPage(server: FastifyInstance, getDocument: () => object): void {
  let page: Promise<FastifyInstance> | undefined
  for (const url of ['/docs', '/docs/*']) {
    server.route({
      method: ['GET', 'HEAD'],
      url,
      handler: async (request, reply) => {
        page ??= buildPage(getDocument())
        const built = await page
        for (const [name, value] of Object.entries(reply.getHeaders()))
          if (value !== undefined) reply.raw.setHeader(name, value)
        reply.hijack()
        built.routing(request.raw, reply.raw)
      },
    })
  }
  server.addHook('onClose', async () => (await page)?.close())
}

/** Unlike the default of Swagger UI, it has no `upgrade-insecure-requests`, which would break a site on plain HTTP. */
const PAGE_CSP =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'self'; frame-ancestors 'self'"

async function buildPage(document: object): Promise<FastifyInstance> {
  const [{ default: swagger }, { default: swaggerUi }] = await Promise.all([
    import('@fastify/swagger'),
    import('@fastify/swagger-ui'),
  ])
  const page = Fastify({ routerOptions: { caseSensitive: false } })
  await page.register(swagger, { mode: 'static', specification: { document: document as never } })
  await page.register(swaggerUi, {
    routePrefix: `${API_ROOT}/docs`,
    staticCSP: PAGE_CSP,
    theme: { title: 'feedbackctl API' },
    uiConfig: { layout: 'BaseLayout' },
  })
  page.setNotFoundHandler(async (_request, reply) =>
    reply.code(404).send(new AppError('NOT_FOUND', 'The documentation has no such file.').body),
  )
  await page.ready()
  return page
}
