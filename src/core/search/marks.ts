import { folded, unsharp, WORDS_AND_RUNS } from './words.js'
import { stemOf } from './stem.js'

/** Where a mark begins and ends, in UTF-16 units as JavaScript counts them. */
export interface Mark {
  from: number
  to: number
}

/** A word of a text as it is found: beginnings, other forms, and parts of what has no spaces. */
const WORDS = new RegExp(String.raw`\p{L}[\p{L}\p{M}\p{N}]*(?:['’]\p{L}[\p{L}\p{M}\p{N}]*)+|${WORDS_AND_RUNS.source}`, 'gu') // prettier-ignore

/** Where a text has the words of a search. */
export function marksIn(text: string, words: readonly string[]): Mark[] {
  if (words.length === 0) return []
  const wanted = words.map(unsharp).map((word) => ({ word, stem: stemOf(word) }))
  const marks: Mark[] = []
  for (const { 0: found, index } of text.matchAll(WORDS)) {
    const word = unsharp(folded(found).replaceAll(/['’]/g, ''))
    const begins = (each: string) => (each.length > 1 ? word.startsWith(each) : word === each)
    if (!SPACED.test(word)) marks.push(...partsIn(found, index, words))
    else if (wanted.some((each) => begins(each.word) || stemOf(word) === each.stem))
      marks.push({ from: index, to: index + found.length })
  }
  return marks
}

/** A word between spaces, in scripts of which a part of a word is not looked for. */
const SPACED =
  /^[^\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Hangul}\u30fc]/u

/** Of text without spaces, each place of what was looked for. Where folding changes its length, nothing is marked. */
function partsIn(found: string, at: number, words: readonly string[]): Mark[] {
  const plain = folded(found)
  if (plain.length !== found.length) return []
  const marks: Mark[] = []
  for (let from = 0; from < plain.length;) {
    const start = from
    const part = words.find((word) => !SPACED.test(word) && plain.startsWith(word, start))
    if (part !== undefined) marks.push({ from: at + from, to: at + from + part.length })
    from += part?.length ?? 1
  }
  return marks
}

/** Finds words one after another, with anything but letters and digits between them. The last may go on. */
export function phrasePattern(words: readonly string[], { isOpen = false } = {}): RegExp {
  const parts = words.map((word) => unsharp(word).replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  const first = words[0] ?? ''
  const last = words.at(-1) ?? ''
  const isSpaced = (word: string) => SPACED.test(word)
  const between = String.raw`[^\p{L}\p{N}]{1,3}`
  const joined = parts.reduce((all, part, index) => {
    const isBeside = !isSpaced(words[index - 1] ?? '') && !isSpaced(words[index] ?? '')
    return index === 0 ? part : `${all}${isBeside ? String.raw`[^\p{L}\p{N}]{0,3}` : between}${part}`
  }, '')
  return new RegExp(
    `${isSpaced(first) ? String.raw`(?<![\p{L}\p{N}])` : ''}${joined}${isSpaced(last) && !isOpen ? String.raw`(?![\p{L}\p{N}])` : ''}`,
    'u',
  )
}

/** `folded`, with words that have an apostrophe in one piece. */
export const foldedText = (text: string): string => folded(text).replaceAll(/(?<=\p{L})['’](?=\p{L})/gu, '') // prettier-ignore

/** Folds a text so that `phrasePattern` can match it: `foldedText`, with ß as ss. */
export const comparedText = (text: string): string => unsharp(foldedText(text))

/** Characters around what is found. */
const BEFORE = 80
const LENGTH = 600

/** The piece of a text around the first of some words: the whole where none is there. */
export function pieceAround(text: string, words: readonly string[]): { piece: string; isCut: boolean } {
  const plain = text.toLowerCase()
  const places = words.flatMap((word) => {
    const at = plain.indexOf(word)
    return at === -1 ? [] : [at]
  })
  const first = marksIn(text.slice(0, LENGTH), words)[0]?.from ?? (places.length > 0 ? Math.min(...places) : 0)
  if (first <= BEFORE * 2) return { piece: text.slice(0, LENGTH), isCut: false }
  const from = text.slice(0, first - BEFORE).search(/\s\S*$/)
  return { piece: text.slice(Math.max(0, from), first + LENGTH).trim(), isCut: true }
}
