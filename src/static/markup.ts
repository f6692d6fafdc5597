/** A tag as our pages write it: attributes have double quotes, and no text has a `<`. */
const TAG = /<(\/?)([a-z][\w-]*)((?:\s+[^\s"'>/=]+(?:="[^"]*")?)*)\s*\/?>/gi
const ADDRESS = /(\s)(href|src|srcset)="([^"]*)"/g

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', quot: '"', lt: '<', gt: '>', '#39': "'", '#34': '"' }
const unescaped = (text: string): string => text.replaceAll(/&(amp|quot|lt|gt|#39|#34);/g, (_, name: string) => ENTITIES[name] ?? '') // prettier-ignore
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

/** Every address that tags name. */
export const addressesIn = (html: string): string[] =>
  Array.from(html.matchAll(TAG)).flatMap(([, , , attributes = '']) =>
    Array.from(attributes.matchAll(ADDRESS), ([, , , value = '']) => unescaped(value)),
  )

/** Where addresses lead in the copy; null for what is not in it. Those that are not named stay. */
export type Ways = ReadonlyMap<string, string | null>

/**
 * Writes other addresses into tags. A link to what is not in the copy goes, with its text where it is one of the page and
 * not of what people wrote; so do its images and files.
 */
export function withAddresses(html: string, ways: Ways, { isProse = false } = {}): string {
  let [result, at, prose, dropping] = ['', 0, isProse ? 1 : 0, '']
  let divisions: boolean[] = []
  const emit = (text: string) => void (dropping === '' && (result += text))
  const open: boolean[] = [] // whether each open link was left out
  for (const match of html.matchAll(TAG)) {
    const [tag, slash, rawName = '', attributes = ''] = match
    emit(html.slice(at, match.index))
    at = match.index + tag.length
    const name = rawName.toLowerCase()
    if (name === 'div') {
      if (slash) {
        if (divisions.pop()) prose--
      } else {
        const isText = /\sclass="prose"/.test(attributes)
        divisions = [...divisions, isText]
        if (isText) prose++
      }
    }
    if (name === 'a' && slash) {
      const isOut = open.pop() ?? false
      if (dropping === 'a') dropping = ''
      else if (!isOut) emit(tag)
      continue
    }
    let isGone = false
    const written = attributes.replaceAll(ADDRESS, (whole, space: string, attribute: string, value: string) => {
      const way = ways.get(unescaped(value))
      if (way === undefined) return whole
      if (way === null) isGone = true
      return `${space}${attribute}="${escaped(way ?? '')}"`
    })
    // The canonical address says where the page is at home
    if (name === 'link' && /\srel="canonical"/.test(attributes)) emit(tag)
    else if (name === 'a') {
      open.push(isGone)
      if (isGone && prose === 0) dropping = 'a'
      else if (!isGone) emit(tag.replace(attributes, () => written))
    } else if (!isGone) emit(attributes === '' ? tag : tag.replace(attributes, () => written))
  }
  emit(html.slice(at))
  return result
}

/** The text of an element of a feed that has HTML, and back. */
const decodedXml = (text: string): string => text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code))) // prettier-ignore
const encodedXml = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

const CONTENT = /<content type="html"(?: xml:base="[^"]*")?>([^<]*)<\/content>/g
const LINK = /(<link [^>]*href=")([^"]*)("\/>\n?)/g

/** The same for a feed: its links, and those in the texts of its entries. */
export const feedAddressesIn = (feed: string): string[] => [
  ...Array.from(feed.matchAll(LINK), ([, , value = '']) => decodedXml(value)),
  ...Array.from(feed.matchAll(CONTENT)).flatMap(([, text = '']) => addressesIn(decodedXml(text))),
]

export const feedWithAddresses = (feed: string, ways: Ways): string =>
  feed
    .replaceAll(LINK, (whole, before: string, value: string, after: string) => {
      const way = ways.get(decodedXml(value))
      if (way === undefined) return whole
      return way === null ? '' : `${before}${encodedXml(way)}${after}`
    })
    .replaceAll(
      CONTENT,
      (_, text: string) =>
        `<content type="html">${encodedXml(withAddresses(decodedXml(text), ways, { isProse: true }))}</content>`,
    )
