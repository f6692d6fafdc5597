import { STATUS_KINDS } from '../statuskinds.js'
import { searchWords } from './words.js'

/** What was typed into a search. Every text is one: what is no filter is words. */
export interface SearchQuery {
  /** The words, apart from phrases. */
  text: string
  /** Texts in quotation marks. */
  phrases: readonly string[]
  /** Words and phrases that must not be there. */
  without: readonly string[]
  board: readonly string[]
  status: readonly string[]
  author: readonly string[]
  tag: readonly string[]
  withoutTag: readonly string[]
  is: readonly Is[]
  /** Both included. */
  votes: { min?: number; max?: number }
  /** ISO 8601: from this time on, and before that one. */
  since?: string
  until?: string
  /** Numbers of posts. */
  numbers: readonly number[]
  /** Negated filters that are not supported, such as -board:ideas. */
  unknown: readonly string[]
}

const STATES = [...STATUS_KINDS, 'mine'] as const
type Is = (typeof STATES)[number]

/** The words before a colon. */
const NAMES = ['board', 'status', 'author', 'tag'] as const

/** Parts of a query that count. */
const MAX_PARTS = 40

const PART = /-?(?:[a-z]+:)?(?:"[^"]*"?|[^\s"]+)/gi
const QUOTES = /[“”„‟«»「」]/g
const HIGHEST = 999_999_999

interface Found {
  text: string[]
  phrases: string[]
  without: string[]
  board: string[]
  status: string[]
  author: string[]
  tag: string[]
  withoutTag: string[]
  is: Set<Is>
  votes: { min?: number; max?: number }
  since?: string
  until?: string
  numbers: number[]
  unknown: string[]
}

/** Reads a query. It refuses nothing: `votes:many` is the words "votes" and "many". */
export function parseQuery(query: string): SearchQuery {
  const found: Found = {
    text: [],
    phrases: [],
    without: [],
    board: [],
    status: [],
    author: [],
    tag: [],
    withoutTag: [],
    is: new Set(),
    votes: {},
    numbers: [],
    unknown: [],
  }
  const plain = query.replaceAll(QUOTES, '"').replaceAll('：', ':')
  for (const part of (plain.match(PART) ?? []).slice(0, MAX_PARTS)) read(part, found)
  return { ...found, text: found.text.join(' '), is: [...found.is] }
}

function read(part: string, found: Found): void {
  const isNot = part.startsWith('-') && part.length > 1
  const said = isNot ? part.slice(1) : part
  const [, name = '', given = ''] = /^([a-z]+):(.+)$/i.exec(said) ?? []
  const value = given.replaceAll('"', '').trim()
  const number = /^#0*([1-9]\d{0,8})$/.exec(said)?.[1]
  if (isNot && (number !== undefined || (value !== '' && isFilterName(name)))) {
    if (name.toLowerCase() === 'tag') found.withoutTag.push(value)
    else found.unknown.push(part)
    return
  }
  if (value !== '' && readFilter(name.toLowerCase(), value, found)) return
  if (number !== undefined) found.numbers.push(Number(number))
  else if (searchWords(said).length === 0) return
  else if (isNot) found.without.push(said.replaceAll('"', ' ').trim())
  else if (said.startsWith('"')) found.phrases.push(said.replaceAll('"', '').trim())
  else found.text.push(said)
}

const isFilterName = (name: string): boolean =>
  [...NAMES, 'is', 'votes', 'before', 'after'].some((each) => each === name.toLowerCase())

/** Whether it is a filter. */
function readFilter(name: string, value: string, found: Found): boolean {
  const list = NAMES.find((each) => each === name)
  if (list !== undefined) {
    found[list].push(value)
    return true
  }
  if (name === 'is') {
    const state = STATES.find((each) => each === value.toLowerCase())
    if (state === undefined) return false
    found.is.add(state)
    return true
  }
  if (name === 'votes') return readVotes(value, found)
  const time = name === 'before' || name === 'after' ? timeOf(value) : undefined
  if (time === undefined) return false
  if (name === 'before') found.until = time
  else found.since = time
  return true
}

function readVotes(value: string, { votes }: Found): boolean {
  const [, sign = '', first = '', last] = /^(>=|<=|>|<|=)?(\d{1,9})(?:\.\.(\d{1,9}))?$/.exec(value) ?? []
  if (first === '' || (last !== undefined && sign !== '')) return false
  const number = Number(first)
  if (sign === '>') votes.min = Math.min(number + 1, HIGHEST)
  else if (sign === '>=') votes.min = number
  else if (sign === '<') votes.max = number - 1
  else if (sign === '<=') votes.max = number
  else [votes.min, votes.max] = [number, last === undefined ? number : Number(last)]
  return true
}

/** A year, a month or a day, from its start in UTC. */
function timeOf(value: string): string | undefined {
  const [, year, month = '01', day = '01'] = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?$/.exec(value) ?? []
  if (year === undefined) return undefined
  const time = Date.parse(`${year}-${month}-${day}`)
  if (Number.isNaN(time)) return undefined
  const text = new Date(time).toISOString()
  return text.startsWith(`${year}-${month}-${day}`) ? text : undefined // not 2 March for 30 February
}
