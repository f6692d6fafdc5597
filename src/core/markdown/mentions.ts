import type { Token } from 'markdown-it'
import { makeParser } from './parser.js'

/** Names that one text can mention. Further ones are text. */
const MOST = 20

/**
 * A user name after an @ that belongs to no word, address or path. A name that begins or ends with a dot or a hyphen cannot
 * be mentioned, as the end of a sentence may have one. Scripts that write no spaces between words may stand right before it.
 */
const MENTION =
  /(?<![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{N}_.@/+-])@(?<name>\w(?:[\w.-]{0,28}\w)?)(?!\w|[.-]+\w|[\w.-]*@)/gu

const parser = makeParser({ html: false, linkify: true }).enable(['strikethrough', 'linkify'])
// So that an escaped @ can be told from one that mentions
parser.core.ruler.disable('text_join')

/** The user names that Markdown mentions, each once, in their order: not in code, links or mail addresses. */
export function mentionsOf(markdown: string): string[] {
  const names = new Set<string>()
  for (const { type, children } of parser.parse(markdown, {})) {
    if (type !== 'inline') continue
    for (const { groups } of textOf(children ?? []).matchAll(MENTION)) {
      if (groups?.name) names.add(groups.name)
      if (names.size === MOST) return [...names]
    }
  }
  return [...names]
}

/** The text of a paragraph, with a space for whatever is no text. */
function textOf(tokens: readonly Token[]): string {
  let links = 0
  let text = ''
  for (const { type, content } of tokens) {
    if (type === 'link_open') links++
    if (type === 'link_close') links--
    const isText = links === 0 && (type === 'text' || (type === 'text_special' && content !== '@'))
    text += isText ? content : ' '
  }
  return text
}
