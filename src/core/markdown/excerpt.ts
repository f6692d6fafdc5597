import { LRUCache } from 'lru-cache'
import type { Token } from 'markdown-it'
import { makeParser } from './parser.js'

const parser = makeParser({ html: false, linkify: true }).enable(['strikethrough', 'linkify'])

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
