import Markdown, { type MarkdownIt, type Token } from 'markdown-it'

/** Escaping an HTML block can reveal more HTML, so the text is parsed again. After this many passes every `<` is escaped. */
const MAX_PASSES = 10

const parser = load()

/**
 * Escapes raw HTML in Markdown: the `<` of each tag, comment or declaration becomes `&lt;`. Code and autolinks stay as
 * they are. Published clients render texts as HTML, so a script in a post would run for everyone who reads it.
 */
export function escapeHtml(markdown: string): string {
  let text = markdown
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const all = bracketsOf(text)
    const found = new Set(parser.parse(text, {}).flatMap((token) => htmlIn(token, all)))
    if (found.size === 0) return text
    let number = 0
    text = text.replaceAll('<', () => (found.has(number++) ? '&lt;' : '<'))
  }
  return escapeAll(text)
}

/** What never lets HTML through, and changes code too. */
export const escapeAll = (markdown: string): string => markdown.replaceAll('<', '&lt;')

function load(): MarkdownIt {
  const only = new Markdown()
  only.inline.ruler.enableOnly(['html_inline'])
  const [htmlInline] = only.inline.ruler.getRules('')
  if (!htmlInline) throw new Error('markdown-it has no rule for HTML.')
  // The alternative text of an image is parsed apart: without images, each place is one in the text of its block.
  const markdownIt = new Markdown('commonmark', { html: true }).disable('image')
  markdownIt.inline.ruler.at('html_inline', (state, silent) => {
    const { pos } = state
    const isHtml = htmlInline(state, silent)
    const token = state.tokens.at(-1)
    if (isHtml && !silent && token) token.meta = { pos }
    return isHtml
  })
  return markdownIt
}

/**
 * The numbers of each `<` that is HTML, of all in the text. The parser takes the marks of quotes and lists off the lines
 * of a block, but none of these is a `<`: so those of the block are those of its lines.
 */
function htmlIn({ type, map, content, children }: Token, all: Brackets): number[] {
  if (!map || (type !== 'html_block' && type !== 'inline')) return []
  const first = all.before(map[0])
  if (type === 'html_block') {
    // A fence in it begins a code block once the lines before it are text: the next pass finds that
    const fence = content.split('\n').findIndex((line, index) => index > 0 && /^ {0,3}(```|~~~)/.test(line))
    const end = all.before(fence < 0 ? map[1] : map[0] + fence)
    return Array.from({ length: end - first }, (_, index) => first + index)
  }
  const starts = new Set(
    (children ?? []).filter((child) => child.type === 'html_inline').map(({ meta }) => (meta as { pos: number }).pos),
  )
  return Array.from(content.matchAll(/</g)).flatMap(({ index }, number) => (starts.has(index) ? first + number : []))
}

interface Brackets {
  /** How many `<` there are before this line, counted from 0. */
  before(this: void, line: number): number
}

function bracketsOf(text: string): Brackets {
  const counts = [0]
  for (const line of text.split(/\r\n|\r|\n/)) counts.push((counts.at(-1) ?? 0) + line.split('<').length - 1)
  return { before: (line) => counts[Math.min(line, counts.length - 1)] ?? 0 }
}
