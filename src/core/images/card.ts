import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { builtPath, builtText } from '../built.js'
import { AppError } from '../errors.js'
import { hasSharp, inProcess, Turns } from './process.js'

/** The content of the preview image that chats show with the link of a post. */
export interface Card {
  title: string
  /** Above the title. */
  site: string | undefined
  place: string | undefined
  /** `#` and six hexadecimal digits. */
  accent: string
}

/** Maximum length of the title, and of the other lines, in characters. */
const [MAX_TITLE, MAX_LINE] = [160, 60]
/** Maximum time for drawing, and for waiting before it, in milliseconds. Drawing usually takes half a second. */
const [MAX_MS, PATIENCE_MS] = [15_000, 3000]

/** Maximum number of waiting drawings. Anyone can request one, so the queue is bounded. */
const MOST_WAITING = 20
/** The nice value of drawing, so that requests of users come first. */
const LOW = 10

/** Recently drawn images, about 20 kB each. */
const drawn = new LRUCache<string, Promise<Buffer>>({ max: 500 })

const turns = new Turns(
  { patienceMs: PATIENCE_MS, most: MOST_WAITING },
  () => new AppError('SERVER_BUSY', 'Too many images are being drawn. Try again in a moment.', { retryAfter: 5 }),
)

let covered: Set<number> | undefined

/** The code points that the bundled fonts cover. */
function coverage(): Set<number> {
  if (!covered) {
    covered = new Set()
    const ranges = JSON.parse(builtText('fonts/coverage.json')) as [number, number][]
    for (const [first, last] of ranges) for (let point = first; point <= last; point++) covered.add(point)
  }
  return covered
}

/** Removes what the fonts lack, such as emoji. Undefined if they lack a letter or digit, or if none is left. */
function drawable(text: string, most: number): string | undefined {
  const has = (character: string) => coverage().has(character.codePointAt(0) ?? 0)
  const points = Array.from(text.normalize('NFC').replaceAll(/\s+/gu, ' '))
  if (points.some((point) => /[\p{L}\p{N}]/u.test(point) && !has(point))) return undefined
  const left = points.filter(has).join('').trim()
  if (!/[\p{L}\p{N}]/u.test(left)) return undefined
  return Array.from(left).length > most
    ? `${Array.from(left)
        .slice(0, most - 1)
        .join('')
        .trim()}…`
    : left
}

interface Shown {
  title: string
  site: string
  place?: string | undefined
  accent: string
}

/**
 * Returns the content of a card. If the fonts lack letters of the title, the name of the site takes its place. Returns
 * undefined if the fonts lack letters of both, or if `sharp` is not installed.
 */
export function cardOf({ title, site, place, accent }: Shown): Card | undefined {
  if (!hasSharp) return undefined
  const [name, siteName] = [drawable(title, MAX_TITLE), drawable(site, MAX_LINE)]
  const large = name ?? siteName
  if (large === undefined) return undefined
  return {
    title: large,
    site: name === undefined ? undefined : siteName,
    place: place === undefined ? undefined : drawable(place, MAX_LINE),
    accent,
  }
}

/** Draws a card as PNG. Throws SERVER_BUSY if too many drawings wait. */
export function draw(card: Card): Promise<Buffer> {
  const text = JSON.stringify(card)
  const key = createHash('sha256').update(text).digest('base64')
  let image = drawn.get(key)
  if (!image) {
    image = turns.run(() => paint(text))
    drawn.set(key, image)
    image.catch(() => drawn.delete(key)) // the next request tries again
  }
  return image
}

async function paint(text: string): Promise<Buffer> {
  const fonts = builtPath('fonts/fonts.conf')
  // An upgrade may have removed the fonts
  const options = { env: { FONTCONFIG_FILE: fonts ?? '' }, maxMs: MAX_MS, priority: LOW }
  const image = fonts === undefined ? undefined : await inProcess('threads/cards.js', text, options)
  if (image === undefined || image.length === 0)
    throw new AppError('SERVER_BUSY', 'The image could not be drawn. Try again in a moment.', { retryAfter: 60 })
  return image
}
