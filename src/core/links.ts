import { plainText } from './text.js'

/** A link that the owner of a site puts on its pages. */
export interface Link {
  label: string
  url: string
}

/** The most characters of a label, and of an address. */
const MAX_LABEL = 60
const MAX_URL = 500

export const LINK_RULE = `a link in Markdown, such as [Imprint](https://example.org/imprint), with at most ${MAX_LABEL} characters of text and ${MAX_URL} of its address`

/** Matches what separates links in a text: a line break, or a comma between two links. */
export const BETWEEN_LINKS = String.raw`\r?\n|(?<=\))\s*,\s*(?=\[)`

/** As in Markdown, an address may contain pairs of parentheses. */
const LINK = /^\[([^[\]\n\r]+)\]\(((?:[^\s()\\]|\([^\s()\\]*\))+)\)$/

/** Parses a line of Markdown that is one link. Returns undefined for other text, and for an address that is not allowed. */
export function linkIn(line: string): Link | undefined {
  const [, text = '', url = ''] = LINK.exec(line.trim()) ?? []
  const label = plainText(text).trim()
  if (label === '' || Array.from(label).length > MAX_LABEL || url.length > MAX_URL) return undefined
  return isAddress(url) ? { label, url } : undefined
}

/** A web or mail address, or a path of the same host. */
function isAddress(url: string): boolean {
  if (/^\/(?!\/)/.test(url)) return true
  if (/^mailto:[^\s@?]+@[^\s@]+$/i.test(url)) return true
  if (!/^https?:\/\/[^/]/i.test(url)) return false
  try {
    const { username, hostname } = new URL(url)
    return username === '' && hostname !== ''
  } catch {
    return false
  }
}
