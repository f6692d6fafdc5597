import Fastify, { type FastifyInstance } from 'fastify'
import { AppError } from '../../core/errors.js'
import { API_ROOT } from '../../core/wire.js'
import type { AnyOperation } from '../../service/lib/operation.js'
import { openapi } from './openapi.js'

/** The API document, and the page that shows it. */
export function docs(server: FastifyInstance, operations: readonly AnyOperation[]): void {
  let document: object | undefined
  const documented = () => (document ??= openapi(operations, API_ROOT))
  server.get('/openapi.json', async () => documented())
  docsPage(server, documented)
}

/** The page is built when it is first asked for: it takes longer to load than everything else together. */
function docsPage(server: FastifyInstance, document: () => object): void {
  let page: Promise<FastifyInstance> | undefined
  for (const url of ['/docs', '/docs/*']) {
    server.route({
      method: ['GET', 'HEAD'],
      url,
      handler: async (request, reply) => {
        page ??= buildPage(document())
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

/** The page's own files only; no https upgrade, which would break a site that is served on plain HTTP. */
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
    reply.code(404).send(new AppError('NOT_FOUND', 'The page has no such part.').body),
  )
  await page.ready()
  return page
}
