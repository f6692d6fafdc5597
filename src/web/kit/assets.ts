import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Encoding } from '../../http/encoding.js'
import { ASSETS } from './assetfolder.js'

interface Asset {
  /** Of its bytes, so that browsers may keep it for ever. */
  path: string
  type: string
  bytes: Buffer
  /** Compressed at the first request. */
  compressed(this: void, encoding: Encoding): Promise<Buffer>
}

const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  png: 'image/png',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
}

const read = (name: string): Buffer => readFileSync(path.join(ASSETS, name))

function assetOf(name: string, bytes = read(name)): Asset {
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 10)
  const [stem = '', extension = ''] = name.split('.')
  const made: Partial<Record<Encoding, Promise<Buffer>>> = {}
  return {
    path: `/assets/${stem}.${hash}.${extension}`,
    type: TYPES[extension] ?? 'application/octet-stream',
    bytes,
    compressed: (encoding) => (made[encoding] ??= COMPRESS[encoding](bytes)),
  }
}

const COMPRESS: Record<Encoding, (bytes: Buffer) => Promise<Buffer>> = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 9 }),
}

export const style = assetOf('site.css')
/** Loaded by all pages outside the dashboard: lists of posts, boards and roadmaps, and the page of a post. */
export const publicStyle = assetOf('public.css')
/** One file to load. The later parts use what the first one declares. */
export const script = assetOf('site.js', Buffer.concat(['site.js', 'votes.js', 'writing.js'].map(read)))
/** Loaded where somebody who is signed in can comment. */
export const mentionsScript = assetOf('mentions.js')
/** Loaded where somebody who is signed in writes a text. */
export const imagesScript = assetOf('images.js')
/** Loaded where somebody writes Markdown. */
export const editorScript = assetOf('editor.js')
/** Loaded by the form of a post where boards are found by name. */
export const boardsScript = assetOf('boards.js')
/** Loaded by the form that merges a post. */
export const mergingScript = assetOf('merging.js')
/** Loaded by the search page only. */
export const searchScript = assetOf('search.js')
/** Loaded by the roadmap page for people who may move posts. */
export const roadmapScript = assetOf('roadmap.js')
/** Loaded by the dashboard only. */
export const dashboardStyle = assetOf('dashboard.css')
/** Loaded by the pages of the dashboard that set the site up. */
export const settingsStyle = assetOf('settings.css')
export const dashboardScript = assetOf('dashboard.js')
/** Loaded where a form is a step of several, orders rows, previews a colour, or is saved as a whole. */
export const formsScript = assetOf('forms.js')
/** Loaded while an import or a backup runs. */
export const progressScript = assetOf('progress.js')
export const icon = assetOf('icon.svg')
/** The same icon on a full square. Home screens round the corners themselves. */
export const squareIcon = assetOf('icon.png')

let last: { css: string; asset: Asset } | undefined

/** The style sheet of the owner, which is made anew when it changes. */
export function customStyle(css: string): Asset {
  if (last?.css !== css) last = { css, asset: assetOf('custom.css', Buffer.from(css)) }
  return last.asset
}

/** The last one, if it is at this path: pages are shown while the database is away. */
export const lastCustomStyle = (path: string): Asset | undefined => (last?.asset.path === path ? last.asset : undefined)

export const assets = new Map(
  [
    style,
    publicStyle,
    script,
    mentionsScript,
    mergingScript,
    boardsScript,
    imagesScript,
    editorScript,
    searchScript,
    roadmapScript,
    dashboardStyle,
    settingsStyle,
    dashboardScript,
    formsScript,
    progressScript,
    icon,
    squareIcon,
  ].map((asset) => [asset.path, asset]),
)
