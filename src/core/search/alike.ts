import { MAX_LENGTH, pairsOf, WORDS_AND_RUNS } from './words.js'
import { COMMON_WORDS } from './commonwords.js'
import { foldedText } from './marks.js'
import { meaningsIn, meaningsOf } from './meanings.js'
import { stemOf } from './stem.js'

// How alike two titles are: `docs/search.md` says it in words.

/** A word as it is compared: a word between spaces, or a pair of letters of a script without spaces. */
export interface Token {
  /** Its stem, or the pair. */
  key: string
  word: string
  isPair: boolean
}

/** A token with what finds other words for it. */
export interface Part extends Token {
  meanings: readonly number[]
  /** Groups of three letters, which find other spellings. Undefined for pairs and for short words. */
  windows: ReadonlySet<string> | undefined
}

/** At most this many tokens of a text are compared. */
const MOST_TOKENS = 200
/** Shorter words have no windows: they resemble too many others. */
const SHORTEST = 4
/** The weight of a pair of letters, relative to a word. */
const OF_PAIR = 0.6

/** How much a match counts, where the same word counts 1. */
const SAID = { meaning: 0.55, inside: 0.75, letters: 0.3, text: 0.3, near: 0.8 }
/** Words that share at least this part of their windows count as one word with another ending or a typing error. */
const NEAR = 0.5
const OF_WINDOWS = 0.8
const LEAST_OF_WINDOWS = 0.1
/** How much the length of a title lowers its score: from 0, not at all, to 1, in proportion. */
const OF_LENGTH = 0.5
const USUAL_LENGTH = 5

/** Hiragana are mostly endings and particles. */
const isEnding = (pair: string): boolean => COMMON_WORDS.has(pair) || /\p{sc=Hiragana}/u.test(pair)

/** The significant words of a text, each once, in their order. */
export const tokensOf = (text: string): Token[] => [...tokensByKey(text).values()]

/** The same, with meanings and windows. */
export function partsOf(text: string): Part[] {
  const known = new Map<string, ReturnType<typeof meaningsIn>>()
  const inRun = (run: string) => {
    const found = known.get(run) ?? meaningsIn(run)
    known.set(run, found)
    return found
  }
  return [...tokensByKey(text).values()].map(({ key, word, isPair, run }) => {
    const meant = inRun(run).filter(({ part }) => !isPair || overlaps(part, word))
    return {
      key,
      word,
      isPair,
      windows: isPair ? undefined : windowsOf(word),
      meanings: [...(isPair ? [] : meaningsOf(key)), ...meant.map(({ meaning }) => meaning)],
    }
  })
}

/** Tokens with the run of letters that they are in. */
function tokensByKey(text: string): Map<string, Token & { run: string }> {
  const found = new Map<string, Token & { run: string }>()
  for (const run of foldedText(text).match(WORDS_AND_RUNS) ?? []) {
    if (found.size >= MOST_TOKENS) break
    const pairs = pairsOf(run)
    for (const pair of pairs) if (!isEnding(pair)) found.set(pair, { key: pair, word: pair, isPair: true, run })
    if (pairs.length > 0) continue
    const word = run.slice(0, MAX_LENGTH).toWellFormed()
    if (COMMON_WORDS.has(word) || (word.length < 2 && !/[\p{Lo}\p{N}]/u.test(word))) continue
    const key = stemOf(word)
    found.set(key, { key, word, isPair: false, run })
  }
  return found
}

const overlaps = (part: string, pair: string): boolean => part.includes(pair) || pair.includes(part)

function windowsOf(word: string): ReadonlySet<string> | undefined {
  const signs = Array.from(word)
  if (signs.length < SHORTEST) return undefined
  const all = [' ', ...signs, ' ']
  return new Set(all.slice(2).map((_, at) => all.slice(at, at + 3).join('')))
}

/** The parts of a title or a text, as others are compared with it. */
export interface Compared {
  parts: readonly Part[]
  keys: ReadonlySet<string>
  meanings: ReadonlySet<number>
  letters: ReadonlySet<string>
}

export function comparedOf(text: string): Compared {
  const parts = partsOf(text)
  return {
    parts,
    keys: new Set(parts.map(({ key }) => key)),
    meanings: new Set(parts.flatMap(({ meanings }) => meanings)),
    letters: new Set(parts.flatMap((part) => (part.isPair ? lettersOf(part) : []))),
  }
}

const lettersOf = ({ word }: Part): string[] => Array.from(word)

/** How well a title matches a part: from 0 to 1, which is the word itself. */
export function saidBy(part: Part, title: Compared): number {
  if (title.keys.has(part.key)) return 1
  const meant = part.meanings.some((meaning) => title.meanings.has(meaning)) ? SAID.meaning : 0
  if (part.isPair) {
    const letters = lettersOf(part)
    return Math.max(meant, (SAID.letters * letters.filter((sign) => title.letters.has(sign)).length) / (letters.length || 1)) // prettier-ignore
  }
  return Math.max(meant, ...title.parts.map((other) => nearness(part, other)))
}

function nearness({ word, key, windows }: Part, other: Part): number {
  if (windows === undefined || other.windows === undefined) return 0
  const inside = isInside(key, other.word) || isInside(other.key, word) ? SAID.inside : 0
  let shared = 0
  for (const each of windows) if (other.windows.has(each)) shared += 1
  const share = (2 * shared) / (windows.size + other.windows.size)
  return Math.max(inside, share >= NEAR ? OF_WINDOWS * share + LEAST_OF_WINDOWS : 0)
}

/** Whether a word has another, or its stem, inside: "filename" has that of "files". */
const isInside = (key: string, word: string): boolean => key.length >= SHORTEST && word.includes(key)

/** The weight of a part: the fewer of all posts have it, the more it counts. */
export const weightOf = ({ isPair }: Part, having: number, all: number): number =>
  Math.log(1 + all / (having + 0.5)) * (isPair ? OF_PAIR : 1)

/** A part of the new post's title or text, with its weight. */
export interface Weighed {
  part: Part
  weight: number
  /** The part is only in the text. It can raise a score, and its absence lowers none. */
  isExtra?: boolean
  /** Words that differ from it by a letter, where it may have a typing error. */
  near?: ReadonlySet<string>
}

/** How alike a title is: 1 where it says every part and is of the usual length. `text` is what else the post says, folded. */
export function likenessOf(asked: readonly Weighed[], title: Compared, text = ''): number {
  let [said, all] = [0, 0]
  for (const { part, weight, isExtra, near } of asked) {
    if (!isExtra) all += weight
    const isNear = near !== undefined && title.parts.some(({ word }) => near.has(word))
    const inTitle = Math.max(saidBy(part, title), isNear ? SAID.near : 0)
    said += weight * (inTitle < SAID.text && text.includes(part.key) ? SAID.text : inTitle)
  }
  const length = title.parts.reduce((sum, { isPair }) => sum + (isPair ? OF_PAIR : 1), 0)
  return all === 0 ? 0 : said / all / (1 - OF_LENGTH + (OF_LENGTH * length) / USUAL_LENGTH)
}

/** Pairs of letters that overlap are one word again. */
export function joined(parts: readonly Pick<Part, 'word'>[]): string[] {
  const words: string[] = []
  let last: string | undefined
  for (const { word } of parts) {
    const isPair = pairsOf(word).length === 1
    if (isPair && last !== undefined && word.startsWith(last)) words.push(`${words.pop()}${word.slice(last.length)}`)
    else words.push(word)
    last = isPair ? word.replace(/^.\p{M}*/u, '') : undefined
  }
  return words
}
