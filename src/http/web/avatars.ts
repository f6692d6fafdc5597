import { AppError } from '../../core/errors.js'
import { AVATARS, drawAvatar, OLD_AVATARS } from '../../service/lib/avatars.js'
import type { Surface } from '../surface.js'

/** Pages of every site may show a picture; opened by itself it runs nothing. */
const HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none';frame-ancestors 'none';sandbox",
  'content-type': 'image/svg+xml; charset=utf-8',
  'cross-origin-resource-policy': 'cross-origin',
}

/** The pictures of people. */
export const avatars: Surface = (server, { responses }) => {
  for (const path of [AVATARS, OLD_AVATARS])
    server.get<{ Params: { id: string } }>(
      `${path}/:id.svg`,
      { config: { op: 'avatar', part: 'file', cache: { vary: [] } } },
      async ({ raw, params }, reply) => {
        const { db, allowCaching } = await responses.open(raw)
        const picture = await drawAvatar({ db }, params.id)
        if (picture === undefined) throw new AppError('NOT_FOUND', 'There is no such person.')
        allowCaching('avatar')
        reply.headers(HEADERS)
        return picture
      },
    )
}
