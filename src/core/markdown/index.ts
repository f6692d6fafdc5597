import { LRUCache } from 'lru-cache'
import type { Text } from './html.js'

export type { Text }

/** Characters that this thread works on at once: 20 ms at most. Longer texts go to another thread. */
const SHORT = 2000

/** Cache of rendered texts, limited by their total number of characters. */
const cacheOf = (maxSize: number) =>
  new LRUCache<string, string>({ max: 2000, maxSize, sizeCalculation: (html, key) => html.length + key.length + 100 })

/** Rendering the texts of twenty posts takes longer than the rest of their page. */
const rendered = cacheOf(6_000_000)
/** Texts and HTML above this size go to their own cache: thirty of them would evict all other texts. */
const LARGE = 50_000
const renderedLarge = cacheOf(2_000_000)

const keyOf = ({ markdown, level }: Text): string => `${level}${markdown}`

/** The HTML of texts, by text. */
export type Html = (text: Text) => string

export interface Rendered {
  html: Html
  /** False if a text is shown as plain text only because the render queue was full. */
  isFinal: boolean
}

/** Renders texts. What takes too long is shown as it was written. */
export async function render(texts: readonly Text[]): Promise<Rendered> {
  const found = new Map<string, string>()
  let isFinal = true
  const missing: Text[] = []
  for (const text of texts) {
    const html = rendered.get(keyOf(text)) ?? renderedLarge.get(keyOf(text))
    if (html === undefined) missing.push(text)
    else found.set(keyOf(text), html)
  }
  if (missing.length > 0) {
    const isShort = missing.reduce((sum, { markdown }) => sum + markdown.length, 0) <= SHORT
    for (const { text, html, isSkipped = false } of isShort ? await hereAll(missing) : await elsewhere(missing)) {
      found.set(keyOf(text), html)
      if (isSkipped) isFinal = false
    }
  }
  const html: Html = (text) => {
    const made = found.get(keyOf(text))
    if (made === undefined) throw new Error('A page shows a text that it does not declare in `texts`.')
    return made
  }
  return { html, isFinal }
}

interface Made {
  text: Text
  html: string
  isSkipped?: boolean
}

async function hereAll(texts: readonly Text[]): Promise<Made[]> {
  const { htmlOf } = await import('./html.js')
  return texts.map((text) => ({ text, html: cacheRendered(text, htmlOf(text)) }))
}

async function elsewhere(texts: readonly Text[]): Promise<Made[]> {
  const { inThread } = await import('./thread.js')
  return Promise.all(
    texts.map(async (text): Promise<Made> => {
      const { text: html, isSkipped } = await inThread({ render: text })
      return { text, html: isSkipped ? html : cacheRendered(text, html), isSkipped }
    }),
  )
}

function cacheRendered(text: Text, html: string): string {
  const cache = html.length + text.markdown.length > LARGE ? renderedLarge : rendered
  cache.set(keyOf(text), html)
  return html
}

/**
 * Escapes raw HTML in Markdown, see escape.ts. Where that takes too long, every `<` is escaped.
 */
export async function withoutHtml(markdown: string): Promise<string> {
  if (!markdown.includes('<')) return markdown
  if (markdown.length <= SHORT) return (await import('./escape.js')).escapeHtml(markdown)
  return (await (await import('./thread.js')).inThread({ escape: markdown })).text
}

/** The user names that Markdown mentions, see mentions.ts. None where that takes too long. */
export async function mentionsIn(markdown: string): Promise<string[]> {
  if (!markdown.includes('@')) return []
  if (markdown.length <= SHORT) return (await import('./mentions.js')).mentionsOf(markdown)
  const { text } = await (await import('./thread.js')).inThread({ mentions: markdown })
  return text === '' ? [] : text.split(' ')
}
