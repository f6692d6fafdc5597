import { createHash } from 'node:crypto'

/** File names that every file system accepts, with room for an extension. */
const PLAIN = /^[a-z\d][\w-]{0,99}$/
/** Names of devices on Windows, whatever their ending. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)$/
/** Characters of the start of a name that is kept. */
const KEPT = 60

/**
 * A segment of a path as the name of a file: itself, or its plain characters and a hash of all. No two segments have one
 * name, also where a file system does not tell capitals from small letters. A dot is in no plain name.
 */
export function safeName(segment: string): string {
  if (PLAIN.test(segment) && segment === segment.toLowerCase() && !RESERVED.test(segment)) return segment
  const start = segment
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, '-')
    .replaceAll(/^-+/g, '')
    .slice(0, KEPT)
    .replace(/-+$/, '')
  return `${start || 'n'}.${createHash('sha256').update(segment).digest('hex').slice(0, 16)}`
}

/** A path segment that already has a file extension: an asset, a feed or an image. */
const FILE = /^[\w-]+(\.[\w-]+)+$/

/** The file of an address without its fragment: `/boards/ideas?page=2` is `boards/ideas.page-2.html`. */
export function fileOf(address: string): string {
  const { pathname, searchParams } = new URL(address, 'http://site.invalid')
  const segments = pathname.split('/').filter(Boolean).map(decoded)
  const tag = searchParams.get('q')?.slice('tag:'.length)
  if (tag !== undefined) segments.splice(0, 1, 'tags', tag) // `/search?q=tag:mobile`
  const query = Array.from(searchParams)
    .filter(([name]) => name !== 'q')
    .map(([name, value]) => `.${name}-${safeName(value)}`)
  return `${segments.length === 0 ? 'index' : segments.map(safeName).join('/')}${query.join('')}.html`
}

/** The same for what is no page: `/boards/ideas/feed.atom`. */
export function assetFile(path: string): string {
  const segments = path.split('/').filter(Boolean).map(decoded)
  const last = segments.pop() ?? ''
  return [...segments.map(safeName), FILE.test(last) ? last : safeName(last)].join('/')
}

export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The way from one file of the copy to another. Names have nothing that an address escapes. */
export function wayTo(from: string, to: string): string {
  const [here, there] = [from.split('/').slice(0, -1), to.split('/')]
  let common = 0
  while (common < here.length && common < there.length - 1 && here[common] === there[common]) common++
  return [...here.slice(common).map(() => '..'), ...there.slice(common)].join('/')
}
