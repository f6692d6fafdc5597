import { plainText } from './text.js'

/** A link that the owner of a site puts on its pages. */
export interface Link {
  label: string
  url: string
}

/** Characters of a label, and of an address, at most. */
const MAX_LABEL = 60
const MAX_URL = 500

export const LINK_RULE = `a link in Markdown, such as [Imprint](https://example.org/imprint), with at most ${MAX_LABEL} characters of text and ${MAX_URL} of its address`

/** Where a text of several links is divided: at line breaks, and at commas between links. */
export const BETWEEN_LINKS = String.raw`\r?\n|(?<=\))\s*,\s*(?=\[)`

/** The address may have parentheses in pairs, as in Markdown. */
const LINK = /^\[([^[\]\n\r]+)\]\(((?:[^\s()\\]|\([^\s()\\]*\))+)\)$/

/** The link that a line of Markdown is; undefined for anything else, and for an address that no link may have. */
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
