import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Token } from 'markdown-it'
import { makeParser } from './parser.js'

const parser = makeParser({ html: false, linkify: true }).enable(['strikethrough', 'linkify'])

/** Characters of an excerpt in a list. */
const LENGTH = 240
/** Characters of Markdown that are read for each character of an excerpt. */
const READ_PER_CHARACTER = 4

/** The first words of a text, without its Markdown, at most `length` characters. */
export function excerptOf(markdown: string, length = LENGTH): string {
  const words = textOf(parser.parse(markdown.slice(0, length * READ_PER_CHARACTER), {}))
  const plain = words
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(?<=[:：]) ·(?= )/g, '')
    .trim()
  if (plain.length <= length) return plain
  return `${plain
    .slice(0, length)
    .replace(/\s\S*$/, '')
    .replace(/ ·$/, '')
    .toWellFormed()}…`
}

/** Between blocks, items of a list and rows of a table. A colon before it says as much. */
const BETWEEN = ' · '

/** The words of a text without its Markdown, at most `length` characters, with an empty line between blocks. For mails. */
export function proseOf(markdown: string, length: number): string {
  const text = textOf(parser.parse(markdown.slice(0, length * READ_PER_CHARACTER), {}), '\n\n')
  const plain = text.replaceAll(/[^\S\n]+/g, ' ').replaceAll(/\n{3,}/g, '\n\n').trim() // prettier-ignore
  if (plain.length <= length) return plain
  return `${plain
    .slice(0, length)
    .replace(/\s\S*$/, '')
    .toWellFormed()}…`
}

/** The words of parsed Markdown. */
function textOf(tokens: readonly Token[], betweenBlocks = BETWEEN): string {
  const parts: string[] = []
  let [between, isInRow] = [betweenBlocks, false]
  for (const { type, content, children } of tokens) {
    if (type === 'tr_open' || type === 'tr_close') [between, isInRow] = [betweenBlocks, type === 'tr_open']
    const words = type === 'inline' ? inlineText(children ?? []) : BLOCKS.has(type) ? content : ''
    if (words.trim() === '') continue
    parts.push(between, words)
    between = isInRow ? ' ' : betweenBlocks
  }
  return parts.slice(1).join('')
}

const inlineText = (tokens: readonly Token[]): string =>
  tokens
    .map(({ type, content }) => (type === 'softbreak' || type === 'hardbreak' ? ' ' : type === 'image' ? '' : content))
    .join('')

const BLOCKS = new Set(['fence', 'code_block'])

/** Excerpts of lists, by the hash of what was read for them: a slice of the text as the key would keep all of it in memory. */
const excerpts = new LRUCache<string, string>({ max: 2000 })

export function excerptCached(markdown: string): string {
  const key = hash('sha1', markdown.slice(0, LENGTH * READ_PER_CHARACTER))
  let text = excerpts.get(key)
  if (text === undefined) excerpts.set(key, (text = excerptOf(markdown)))
  return text
}
