/** A link that the owner of a site puts on its pages. */
export interface Link {
  label: string
  url: string
}

export const LINK_RULE = 'a link in Markdown, such as [Imprint](https://example.org/imprint)'

/** Characters of a label, and of an address, at most. */
const MAX_LABEL = 60
const MAX_URL = 500

const LINK = /^\[([^[\]]+)\]\(([^\s()]+)\)$/

/** The link that a line of Markdown is; undefined for anything else, and for an address that no link may have. */
export function linkIn(line: string): Link | undefined {
  const [, label = '', url = ''] = LINK.exec(line.trim()) ?? []
  if (label.trim() === '' || label.length > MAX_LABEL || url.length > MAX_URL) return undefined
  return isAddress(url) ? { label: label.trim(), url } : undefined
}

/** A web or mail address, or a path of the same host. */
function isAddress(url: string): boolean {
  if (/^\/(?!\/)/.test(url)) return true
  try {
    const { protocol, username, hostname } = new URL(url)
    if (protocol === 'mailto:') return true
    return ['http:', 'https:'].includes(protocol) && username === '' && hostname !== ''
  } catch {
    return false
  }
}
