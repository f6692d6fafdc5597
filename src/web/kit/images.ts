import type { FastifyInstance, FastifyRequest } from 'fastify'
import { IMAGES, imageAt } from '../../core/images/address.js'
import { AppError } from '../../core/errors.js'
import { imageFile } from '../../service/images.js'
import type { Actor } from '../../service/lib/access.js'
import type { Context } from '../../service/lib/context.js'

/** Opened by itself an image runs nothing. Pages of every site may show a public one. */
const HEADERS = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none';sandbox",
  'content-disposition': 'inline',
  'x-content-type-options': 'nosniff',
}
/** A deleted image is gone from browsers within an hour. */
const PUBLIC = { 'cache-control': 'public, max-age=3600', 'cross-origin-resource-policy': 'cross-origin' }
const PRIVATE = { 'cache-control': 'private, no-store', 'cross-origin-resource-policy': 'same-site' }

/** Serves the images of posts and comments. Those who may not read a text that shows one get a 404. */
export function serveImages(
  server: FastifyInstance,
  site: Pick<Context, 'db'>,
  actorOf: (request: FastifyRequest) => Promise<Actor>,
): void {
  server.get<{ Params: { name: string } }>(
    `${IMAGES}/:name`,
    { config: { op: 'image', part: 'file' } },
    async (request, reply) => {
      const named = imageAt(`${IMAGES}/${request.params.name}`)
      const file = named && (await imageFile({ db: site.db, actor: await actorOf(request) }, named))
      if (!named || !file) throw new AppError('NOT_FOUND', 'There is no such image.')
      reply.headers({ ...HEADERS, ...(file.isPublic ? PUBLIC : PRIVATE) }).type(file.mediaType)
      // The bytes of an id never change, so they are not read for those who have them
      const tag = `"${named.imageId}"`
      reply.header('etag', tag)
      if (request.headers['if-none-match'] === tag) return reply.code(304).send()
      return reply.send(await file.data())
    },
  )
}
