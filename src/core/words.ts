import { stemOf } from './search/stem.js'

/** Scripts that put no spaces between words. Each of their letters counts as a word. */
const LETTERS = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`
const WORD = new RegExp(String.raw`[${LETTERS}]\p{M}*|(?:(?![${LETTERS}])[\p{L}\p{M}\p{N}])+`, 'gu')
/** Runs of text in scripts without spaces, and Korean words. A search finds parts of both. */
const RUN = new RegExp(String.raw`(?:[${LETTERS}\u30fc]\p{M}*)+|\p{sc=Hangul}+`, 'gu')
/** A run of text in a script without spaces, or a word. */
export const WORDS_AND_RUNS = new RegExp(
  String.raw`(?:[${LETTERS}\u30fc]\p{M}*)+|(?:(?![${LETTERS}])[\p{L}\p{M}\p{N}])+`,
  'gu',
)
const SIGN = new RegExp(String.raw`[${LETTERS}\u30fc\p{sc=Hangul}]\p{M}*`, 'gu')
/** Accents of Latin, Greek and Cyrillic letters. Marks of other scripts are part of the letter. */
const ACCENTS = /[\u0300-\u036f]/g
export const MAX_LENGTH = 64

const APOSTROPHES = /(?<=\p{L})['’](?=\p{L})/gu

/** Prefix of index entries that are not words of the text. No word begins with it, and neither engine splits there. */
export const MARKS = { stem: '≈', pair: '⁀', title: '¶' } as const

/**
 * The words of a text, each once, for a full-text index: without letter case, accents and punctuation. A word with an
 * apostrophe is also there in one piece, and its parts are: "don't" as "dont", "don" and "t".
 */
export const indexWords = (text: string): string[] => [...new Set([...matches(text), ...searchWords(text)])]

/** The words of a query. A text matches if it has them all, in any order. */
export const searchWords = (text: string): string[] => [...new Set(matches(text.replaceAll(APOSTROPHES, '')))]

/** The same words, in the order of the text and as often as it has them. */
export const wordsInOrder = (text: string): string[] => matches(text.replaceAll(APOSTROPHES, ''))

/**
 * What the index has of a text: its words, the stems of those that have another, and pairs of letters where words are not
 * apart. Of a title each of them is there once more, so that it is found before what has the words in the text.
 */
export function indexTokens(text: string, title = ''): string[] {
  const whole = `${title} ${text}`
  const words = indexWords(whole)
  const inTitle = title === '' ? [] : indexWords(title)
  return [
    ...new Set([
      ...words,
      ...words.flatMap((word) => markedStem(word)),
      ...pairsOf(whole).map((pair) => MARKS.pair + pair),
      ...[...inTitle, ...inTitle.map(stemOf), ...pairsOf(title)].map((token) => MARKS.title + token),
    ]),
  ]
}

function markedStem(word: string): string[] {
  const stem = stemOf(word)
  return stem === word ? [] : [MARKS.stem + stem]
}

/** Two letters side by side, of scripts that put no spaces between words and of Korean. */
export const pairsOf = (text: string): string[] =>
  (folded(text).match(RUN) ?? []).flatMap((run) => {
    const signs = run.match(SIGN) ?? []
    return signs.slice(1).map((sign, index) => `${signs[index]}${sign}`)
  })

/** Text as its words are compared: without letter case, width and accents. */
export const folded = (text: string): string =>
  text.normalize('NFKC').toLowerCase().normalize('NFD').replaceAll(ACCENTS, '').normalize('NFC')

function matches(text: string): string[] {
  return (folded(text).match(WORD) ?? []).map((word) => word.slice(0, MAX_LENGTH).toWellFormed())
}
