import { folded, MARKS, MAX_LENGTH, pairsOf, WORDS_AND_RUNS, wordsInOrder } from './words.js'
import { stemOf } from './stem.js'

/** Words of a query that count. */
const MAX_TERMS = 16
/** Pairs of letters of one term. */
const MAX_PAIRS = 16

/** Matches index entries. */
export interface Token {
  text: string
  /** Whether `text` is a prefix of the entries. */
  isStart: boolean
}

/** A word of a query, or letters without spaces in scripts that have none. */
export interface Term {
  word: string
  /** A text has the term if it has all tokens of one of these. */
  any: readonly (readonly Token[])[]
  /** The same of titles. */
  inTitle: readonly (readonly Token[])[]
}

const exact = (text: string): Token => ({ text, isStart: false })
const HANGUL = /^\p{sc=Hangul}+$/u
/** A single letter matches only itself, because too many words start with it. A Korean letter is a syllable, so it may. */
const isBeginning = (text: string): boolean => text.length > 1 || HANGUL.test(text)
const start = (text: string): Token => ({ text, isStart: isBeginning(text) })

/** The terms of a text, each once. Their texts have neither spaces nor quotation marks. */
export const termsOf = (text: string): Term[] =>
  [...new Set(folded(text.replaceAll(/(?<=\p{L})['’](?=\p{L})/gu, '')).match(WORDS_AND_RUNS) ?? [])]
    .slice(0, MAX_TERMS)
    .map((word) => termOf(word.slice(0, MAX_LENGTH).toWellFormed()))

/** A term that any of some words stands for. */
export const termOfAny = (word: string, others: readonly string[]): Term => ({
  word,
  any: others.map((other) => [exact(other)]),
  inTitle: others.map((other) => [exact(MARKS.title + other)]),
})

/** A term that matches any of some words, or another form of them. */
export const termOfForms = (word: string, others: readonly string[]): Term => {
  const forms = others.map((other) => withoutBeginnings(termOf(other)))
  return { word, any: forms.flatMap(({ any }) => any), inTitle: forms.flatMap(({ inTitle }) => inTitle) }
}

/** A term without words that begin so: an index has to read all of those before it knows the newest. */
export const withoutBeginnings = ({ word, any, inTitle }: Term): Term => {
  const whole = (tokens: readonly Token[]) => tokens.map(({ text }) => exact(text))
  return { word, any: any.map(whole), inTitle: inTitle.map(whole) }
}

/** A term that words of the same meaning stand for too: stems, or parts of a text without spaces. */
export const termOrAny = ({ word, any, inTitle }: Term, others: readonly string[]): Term => ({
  word,
  any,
  inTitle: [
    ...inTitle,
    ...others.map((other) => {
      const pairs = pairsOf(other)
      return (pairs.length > 0 ? pairs : [other]).map((each) => exact(MARKS.title + each))
    }),
  ],
})

/** In words with at most so many ss or ß, each is tried both ways. Words with more are tried with all ss and with all ß. */
const MAX_SHARP = 3

/** The spellings of a word with ss and ß. A word can contain both, as "Messgröße" does. */
export function spellingsOf(word: string): string[] {
  const parts = word.split(/ss|ß/)
  const places = parts.length - 1
  if (places === 0) return [word]
  if (places > MAX_SHARP) return [...new Set([word, parts.join('ss'), parts.join('ß')])]
  return parts.slice(1).reduce((all, part) => all.flatMap((start) => [`${start}ss${part}`, `${start}ß${part}`]), [parts[0] ?? '']) // prettier-ignore
}

export function termOf(word: string): Term {
  const pairs = pairsOf(word).slice(0, MAX_PAIRS)
  const isSpaced = wordsInOrder(word).length === 1 // a word between spaces, or a single sign
  const spelled = isSpaced ? spellingsOf(word).map((text) => ({ text, stem: stemOf(text) })) : []
  const whole = spelled.map(({ text }) => [start(text)])
  const stems = spelled.flatMap(({ text, stem }) => [[exact(MARKS.stem + stem)], ...(stem === text ? [] : [[exact(stem)]])]) // prettier-ignore
  const inside = pairs.length > 0 ? [pairs.map((pair) => exact(MARKS.pair + pair))] : []
  const titleOf = (text: string) => MARKS.title + text
  return {
    word,
    any: [...whole, ...(pairs.length > 0 ? [] : stems), ...inside],
    inTitle: [
      ...spelled.map(({ text }) => [{ text: titleOf(text), isStart: isBeginning(text) }]),
      ...spelled.flatMap(({ text, stem }) => (stem === text ? [] : [[exact(titleOf(stem))]])),
      ...(pairs.length > 0 ? [pairs.map((pair) => exact(titleOf(pair)))] : []),
    ],
  }
}
