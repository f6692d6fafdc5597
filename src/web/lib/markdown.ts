import { LRUCache } from 'lru-cache'
import MarkdownIt, { type Token } from 'markdown-it'
import sanitize from 'sanitize-html'

const parser = new MarkdownIt('commonmark', { html: false, linkify: true }).enable([
  'table',
  'strikethrough',
  'linkify',
])

/** Only what Markdown makes. Links of visitors earn nothing in search engines, and open without our address. */
const RULES: sanitize.IOptions = {
  allowedTags: 'p br hr h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s a img table thead tbody tr th td'.split(
    ' ',
  ),
  allowedAttributes: {
    a: ['href', 'title', 'rel'],
    img: ['src', 'alt', 'title', 'loading'],
    ol: ['start'],
    pre: ['tabindex'],
  },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowedSchemesByTag: { img: ['https'] },
  allowProtocolRelative: false,
  transformTags: {
    a: sanitize.simpleTransform('a', { rel: 'ugc nofollow noopener' }),
    pre: sanitize.simpleTransform('pre', { tabindex: '0' }), // long lines scroll, by keyboard too
    img: sanitize.simpleTransform('img', { loading: 'lazy' }),
  },
}

/** To make HTML of twenty posts takes longer than to make the rest of their page. */
const made = new LRUCache<string, string>({ max: 2000, maxSize: 8_000_000, sizeCalculation: (html, text) => html.length + text.length + 100 }) // prettier-ignore

/**
 * Markdown of visitors as HTML that runs nothing. Its headings begin at this level and leave none out, so that they fit
 * below those of the page.
 */
export function htmlOf(markdown: string, level: 2 | 3 = 2): string {
  const key = `${level}${markdown}`
  let html = made.get(key)
  if (html === undefined) made.set(key, (html = sanitize(rendered(markdown, level), RULES)))
  return html
}

function rendered(markdown: string, level: number): string {
  const tokens = parser.parse(markdown, {})
  const headings = tokens.filter(({ type }) => type === 'heading_open' || type === 'heading_close')
  const used = [...new Set(headings.map(({ tag }) => tag))].toSorted()
  let last = level - 1
  for (const heading of headings) {
    if (heading.type === 'heading_open') last = Math.min(level + used.indexOf(heading.tag), last + 1, 6)
    heading.tag = `h${last}`
  }
  limitAddresses(tokens)
  return parser.renderer.render(tokens, parser.options, {})
}

/** Characters of addresses and titles that the links of one text have together. */
const MAX_ADDRESSES = 65_536

/** A text can repeat one long address thousands of times by reference. Further links have none. */
function limitAddresses(tokens: readonly Token[]): void {
  let left = MAX_ADDRESSES
  for (const inline of tokens)
    for (const token of inline.children ?? []) {
      for (const [, value] of token.attrs ?? []) left -= String(value).length
      if (left < 0 && token.attrs) token.attrs = token.attrs.map(([name]) => [name, ''])
    }
}

/** The first words of a text, without its Markdown, at most `length` characters. */
export function excerptOf(markdown: string, length = 240): string {
  const words = textOf(parser.parse(markdown.slice(0, length * 4), {}))
  const plain = words.replaceAll(/\s+/g, ' ').trim()
  if (plain.length <= length) return plain
  return `${plain
    .slice(0, length)
    .replace(/\s\S*$/, '')
    .toWellFormed()}…`
}

/** The words of parsed Markdown, with a space between its blocks. */
const textOf = (tokens: readonly Token[]): string =>
  tokens
    .map(({ type, content, children }) =>
      type === 'inline' ? ` ${inlineText(children ?? [])}` : BLOCKS.has(type) ? ` ${content}` : '',
    )
    .join('')

const inlineText = (tokens: readonly Token[]): string =>
  tokens
    .map(({ type, content }) => (type === 'softbreak' || type === 'hardbreak' ? ' ' : type === 'image' ? '' : content))
    .join('')

const BLOCKS = new Set(['fence', 'code_block'])

/** Excerpts of a list, shown many times. */
const excerpts = new LRUCache<string, string>({ max: 5000 })

export function excerptCached(markdown: string): string {
  const key = markdown.slice(0, 1000)
  let text = excerpts.get(key)
  if (text === undefined) excerpts.set(key, (text = excerptOf(markdown)))
  return text
}
