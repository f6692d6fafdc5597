import type { RendererRule, Token } from 'markdown-it'
import sanitize from 'sanitize-html'
import { imageAt, imagePath } from '../images/address.js'
import { makeParser } from './parser.js'

const parser = makeParser({ html: false, linkify: true }).enable(['strikethrough', 'linkify'])
const { image: showImage } = parser.renderer.rules
parser.renderer.rules.image = (...args) => imageOrLink(...args)
parser.renderer.rules.table_open = (tokens, index) => `<div class="table" role="group" tabindex="0"${namedBy(tokens, index)}><table>\n` // prettier-ignore
parser.renderer.rules.table_close = () => '</table>\n</div>\n'

/** Characters of the name of a table. */
const MAX_NAME = 100

/** A wide table scrolls, by keyboard too. Its head names what scrolls, in the language of the text. */
function namedBy(tokens: readonly Token[], start: number): string {
  const cells = []
  for (let index = start; index < tokens.length && tokens[index]?.type !== 'thead_close'; index++)
    if (tokens[index]?.children?.length) cells.push(tokens[index]?.children?.map(({ content }) => content).join(''))
  const name = cells.join(', ').slice(0, MAX_NAME).toWellFormed()
  return name === '' ? '' : ` aria-label="${parser.utils.escapeHtml(name)}"`
}

/** The class of a link to an image of another host. */
const IMAGE_LINK = 'image'

/**
 * Only what Markdown makes. Links of visitors earn nothing in search engines, and open without our address. Images are
 * those of this site: a page tells no other host who reads it.
 */
const RULES: sanitize.IOptions = {
  allowedTags:
    'p br hr h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s a img div table thead tbody tr th td'.split(' '),
  allowedAttributes: {
    a: ['href', 'title', 'rel', 'class'],
    img: ['src', 'alt', 'title', 'width', 'height', 'loading'],
    ol: ['start'],
    pre: ['tabindex'],
    div: ['class', 'role', 'tabindex', 'aria-label'],
  },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowedSchemesByTag: { img: [] },
  allowProtocolRelative: false,
  transformTags: {
    a: sanitize.simpleTransform('a', { rel: 'ugc nofollow noopener noreferrer' }),
    pre: sanitize.simpleTransform('pre', { tabindex: '0' }), // long lines scroll, by keyboard too
    img: sanitize.simpleTransform('img', { loading: 'lazy' }),
  },
}

/** How many characters of HTML one character of Markdown may become, and what any text may become. */
const MAX_GROWTH = 10
const MIN_HTML = 2000

/** A text that is rendered. Its headings begin at this level and leave none out, to fit below those of the page. */
export interface Text {
  markdown: string
  level: 2 | 3
}

/** Markdown of visitors as HTML that runs nothing. A text that would become too much HTML is shown as it was written. */
export function htmlOf({ markdown, level }: Text): string {
  const html = rendered(markdown, level)
  return html.length > MIN_HTML + markdown.length * MAX_GROWTH ? plainHtmlOf(markdown) : sanitize(html, RULES)
}

/** A text as it was written, as HTML. */
export const plainHtmlOf = (markdown: string): string =>
  `<p>${parser.utils.escapeHtml(markdown).replaceAll('\n', '<br>')}</p>`

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
  markLinked(tokens)
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

/** Marks images in links, which cannot be links themselves. */
function markLinked(tokens: readonly Token[]): void {
  for (const { children } of tokens) {
    let links = 0
    for (const token of children ?? [])
      if (token.type === 'image') token.meta = { isLinked: links > 0 }
      else if (token.type === 'link_open') links++
      else if (token.type === 'link_close') links--
  }
}

/** Stands for this site, whichever it is. */
const HERE = 'http://site.invalid'

/** An image of another host is a link to it, named by its alternative text. One of this site is shown. */
const imageOrLink: RendererRule = (tokens, index, options, env, self) => {
  const token = tokens[index]
  const src = String(token?.attrGet('src') ?? '')
  if (!token || !showImage) return ''
  const url = URL.canParse(src, HERE) ? new URL(src, HERE) : undefined
  const uploaded = url && imageAt(url.pathname)
  if (uploaded) {
    // Whatever host it names: a site may have had another address when the text was written
    token.attrs = [['src', imagePath(uploaded)], ['alt', ''], ...(token.attrs ?? []).filter(([name]) => name === 'title'), ['width', String(uploaded.width)], ['height', String(uploaded.height)]] // prettier-ignore
    const image = showImage(tokens, index, options, env, self)
    const { isLinked } = token.meta as { isLinked: boolean }
    return isLinked ? image : `<a href="${imagePath(uploaded)}">${image}</a>` // to look at its details
  }
  if (src !== '' && url?.origin === HERE) return showImage(tokens, index, options, env, self)
  const alt = self.renderInlineAsText(token.children ?? [], options, env)
  const { escapeHtml } = parser.utils
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return escapeHtml(alt)
  const name = escapeHtml(`${alt || (url.pathname.split('/').at(-1) ?? '')} (${url.host})`.trim())
  const { isLinked } = token.meta as { isLinked: boolean }
  return isLinked ? name : `<a href="${escapeHtml(src)}" class="${IMAGE_LINK}">${name}</a>`
}
