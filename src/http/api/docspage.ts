import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { gzippedFile } from '../../core/built.js'
import { AppError } from '../../core/errors.js'

const PAGE_CSP =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'self'; frame-ancestors 'self'"

const pageOf = (folder: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>feedbackctl API</title>
    <link rel="icon" type="image/png" href="${folder}/favicon-32x32.png">
    <link rel="stylesheet" href="${folder}/swagger-ui.css">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="${folder}/swagger-ui-bundle.js"></script>
    <script src="${folder}/start.js"></script>
  </body>
</html>
`

/** The address of the document is relative to this script, as a proxy may serve the site below a path. */
const START = `SwaggerUIBundle({
  url: new URL('../../openapi.json', document.currentScript.src).href,
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
})
`

/** A page that displays the OpenAPI document, with Swagger UI. */
export function docsPage(server: FastifyInstance): void {
  server.get('/docs', async (request, reply) => {
    const folder = request.url.split('?')[0]?.endsWith('/') ? './static' : './docs/static'
    return reply.headers(HEADERS).type('text/html; charset=utf-8').send(pageOf(folder))
  })
  server.get<{ Params: { name: string } }>('/docs/static/:name', async (request, reply) => {
    const { name } = request.params
    if (name === 'start.js') return reply.headers(HEADERS).type(SCRIPT).send(START)
    const type = TYPES.get(name)
    if (type === undefined) throw new AppError('NOT_FOUND', 'The documentation has no such file.')
    return send({ type, gzipped: gzippedFile(`docs/${name}`) }, request, reply)
  })
}

const HEADERS = { 'content-security-policy': PAGE_CSP, 'cache-control': 'no-cache' }
const SCRIPT = 'text/javascript; charset=utf-8'

/** Files of Swagger UI that the page loads, and their types. */
const TYPES = new Map([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', SCRIPT],
  ['favicon-32x32.png', 'image/png'],
])

async function send(
  { type, gzipped }: { type: string; gzipped: Buffer },
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const isAccepted = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(request.headers['accept-encoding'] ?? '')
  reply.headers({ ...HEADERS, vary: 'accept-encoding' }).type(type)
  if (!isAccepted) return reply.send(await promisify(gunzip)(gzipped))
  return reply.header('content-encoding', 'gzip').send(gzipped)
}

/** Reads the files, which are not read again. */
export const keepDocs = (): void => TYPES.forEach((_, name) => gzippedFile(`docs/${name}`))
