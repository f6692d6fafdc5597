import type { FastifyInstance } from 'fastify'
import { accentOf, isColor } from '../../core/colors.js'
import { AppError } from '../../core/errors.js'
import { encodingOf } from '../../http/encoding.js'

const KEPT = { 'cache-control': 'public, max-age=31536000, immutable', vary: 'accept-encoding' }

/** The files that pages load. Their names change with what is in them. */
export function serveFiles(server: FastifyInstance, customCss: () => Promise<string | null>): void {
  async function assetAt(path: string) {
    const { assets, customStyle, lastCustomStyle } = await import('./assets.js')
    const known = assets.get(path) ?? lastCustomStyle(path)
    if (known || !path.startsWith('/assets/custom.')) return known
    const css = await customCss()
    const asset = css === null ? undefined : customStyle(css)
    return asset?.path === path ? asset : undefined
  }
  server.get<{ Params: { name: string } }>(
    '/assets/:name',
    { config: { op: 'asset', part: 'file', isImmutable: true } },
    async (request, reply) => {
      const asset = await assetAt(`/assets/${request.params.name}`)
      if (!asset) throw new AppError('NOT_FOUND', 'There is no such file.')
      const encoding = encodingOf(request)
      if (encoding) reply.header('content-encoding', encoding)
      reply.headers(KEPT).type(asset.type)
      return encoding ? asset.compressed(encoding) : asset.bytes
    },
  )
  server.get<{ Params: { hex: string } }>(
    '/assets/accent/:hex.css',
    { config: { op: 'asset', part: 'file', isImmutable: true } },
    async (request, reply) => {
      const { hex } = request.params
      if (!isColor(hex)) throw new AppError('NOT_FOUND', 'There is no such file.')
      reply.headers(KEPT).type('text/css; charset=utf-8')
      return accentStyle(hex)
    },
  )
}

/** Text uses a readable variant of the accent; buttons use the accent itself. */
function accentStyle(hex: string): string {
  const { light, dark, fill, onFill } = accentOf(hex)
  return `:root{--accent:light-dark(#${light},#${dark});--fill:#${fill};--on-fill:#${onFill}}`
}
