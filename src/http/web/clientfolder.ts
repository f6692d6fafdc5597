import { createReadStream, realpathSync, statSync, type Stats } from 'node:fs'
import path from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../core/errors.js'
import { API_ROOT, SHORT } from '../../core/wire.js'
import { encodingOf } from '../encoding.js'
import type { Surface } from '../surface.js'
import { CompressedFiles, LARGEST } from './compressedfiles.js'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
  '.xml': 'application/xml; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.avif': 'image/avif',
  '.ico': 'image/x-icon',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
  '.ttf': 'font/ttf',
  '.wasm': 'application/wasm',
}

/** Other files are compressed already. */
const COMPRESSIBLE = /^text\/|javascript|json|xml|wasm|ttf|x-icon/

/** What a client loads is its own matter; nobody else shows it in a frame. */
const POLICY = "frame-ancestors 'self';base-uri 'self';object-src 'none'"

/** A hash before the extension, as bundlers write it: with such a name the content never changes. */
const HASHED = /[-.](?=[\w-]*\d)[\w-]{8,}\.\w+$/

interface Found {
  file: string
  stats: Stats
}

/**
 * Serves another web client from a folder, where no route matches: `index.html` in place of what looks like a page. It
 * serves no file whose name, or that of a folder of it, begins with a dot, and none that a link leads to outside.
 * Throws CONFIG_INVALID where the folder has no index.html.
 */
export function clientFolder(folder: string): Surface {
  const root = realFolder(folder)
  if (root === undefined || !find(root, 'index.html'))
    throw new AppError('CONFIG_INVALID', `web.root is ${folder}, which has no index.html. Name the folder of a built web client.`) // prettier-ignore
  const compressed = new CompressedFiles()
  return (_server, { onMissing }) =>
    onMissing((request, reply) => {
      if (request.method !== 'GET' && request.method !== 'HEAD') return false
      const wanted = pathOf(request)
      if (wanted === undefined) return false
      const found = find(root, wanted) ?? (isPage(wanted, request) ? find(root, 'index.html') : undefined)
      return found ? send(found, request, { reply, compressed }) : false
    })
}

function realFolder(folder: string): string | undefined {
  try {
    return realpathSync(folder)
  } catch {
    return undefined
  }
}

/** Without the slash at the start. Undefined for the API, and for what no file may be named. */
function pathOf({ url }: FastifyRequest): string | undefined {
  const [encoded = ''] = url.split('?')
  if (encoded === API_ROOT || encoded.startsWith(`${API_ROOT}/`)) return undefined
  try {
    const wanted = decodeURIComponent(encoded.slice(1))
    const isPlain = !/[\0\\]/.test(wanted) && !wanted.split('/').some((part) => part.startsWith('.'))
    return isPlain ? wanted : undefined
  } catch {
    return undefined
  }
}

/** Whether a browser goes there, rather than loading a part of a page that is not there. */
const isPage = (wanted: string, { headers }: FastifyRequest): boolean =>
  path.extname(wanted) === '' || (headers.accept ?? '').includes('text/html')

function find(root: string, wanted: string): Found | undefined {
  try {
    const file = realpathSync(path.join(root, wanted))
    const inside = path.relative(root, file)
    if (path.isAbsolute(inside) || inside.split(path.sep).some((part) => part.startsWith('.'))) return undefined
    const stats = statSync(file)
    return stats.isFile() ? { file, stats } : undefined
  } catch {
    return undefined
  }
}

interface To {
  reply: FastifyReply
  compressed: CompressedFiles
}

async function send({ file, stats }: Found, request: FastifyRequest, { reply, compressed }: To) {
  const { method, headers } = request
  const type = TYPES[path.extname(file).toLowerCase()] ?? 'application/octet-stream'
  reply.headers({
    'content-type': type,
    'content-security-policy': POLICY,
    'cache-control': HASHED.test(file) ? 'public, max-age=31536000, immutable' : 'no-cache',
  })
  if (COMPRESSIBLE.test(type) && stats.size >= SHORT && stats.size <= LARGEST) {
    reply.header('vary', 'accept-encoding')
    const encoding = encodingOf(request)
    if (encoding) {
      const bytes = await compressed.get(file, stats, encoding)
      return reply.code(200).header('content-encoding', encoding).send(bytes)
    }
  }
  const etag = `W/"${stats.size.toString(36)}-${stats.mtimeMs.toString(36)}"`
  reply.header('etag', etag)
  if (headers['if-none-match'] === etag) return reply.code(304).send()
  reply.code(200).header('content-length', stats.size)
  return reply.send(method === 'HEAD' || stats.size === 0 ? '' : createReadStream(file, { end: stats.size - 1 }))
}
