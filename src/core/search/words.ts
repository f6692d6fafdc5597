import { stemOf } from './stem.js'

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
const APOSTROPHE = /['’]/

/** Most folded texts are ASCII, for which simple patterns suffice. */
const ASCII = /^\p{ASCII}*$/u
const ASCII_WORD = /[a-z0-9]+/g
const TWO_LETTERS = /^../su

/** Prefix of index entries that are not words of the text. No word begins with it, and neither engine splits there. */
export const MARKS = { stem: '≈', pair: '⁀', title: '¶', beginning: '›' } as const

/**
 * The words of a text, each once, for a full-text index: without letter case, accents and punctuation. A word with an
 * apostrophe is also there in one piece, and its parts are: "don't" as "dont", "don" and "t".
 */
export const indexWords = (text: string): string[] => wordsOf(text, folded(text))

/** The words of a query. A text matches if it has them all, in any order. */
export const searchWords = (text: string): string[] => [...new Set(wordsInOrder(text))]

/** The same words, in the order of the text and as often as it has them. */
export const wordsInOrder = (text: string): string[] => matches(folded(text.replaceAll(APOSTROPHES, '')))

/**
 * What the index has of a text: its words, the stems of those that have another, and pairs of letters where words are not
 * apart. Of a title each of them is there once more, so that it is found before what has the words in the text.
 */
export const indexTokens = (text: string, title = ''): string[] => [...tokensOf(text, title, false)]

/** As `indexTokens`, and the first two letters of each word. */
export const indexTokensWithBeginnings = (text: string, title = ''): string[] => [...tokensOf(text, title, true)]

/** The entry for two letters that a word begins with. Undefined for a shorter or longer text. */
export function beginningOf(token: string): string | undefined {
  const mark = token.startsWith(MARKS.title) ? MARKS.title : ''
  const word = token.slice(mark.length)
  return TWO_LETTERS.exec(word)?.[0] === word ? mark + MARKS.beginning + word : undefined
}

function tokensOf(text: string, title: string, hasBeginnings: boolean): Set<string> {
  const tokens = new Set<string>()
  for (const [part, mark] of [
    [title, MARKS.title],
    [text, undefined],
  ] as const) {
    const plain = folded(part)
    for (const word of wordsOf(part, plain)) {
      const stem = stemOf(word)
      tokens.add(word)
      if (stem !== word) tokens.add(MARKS.stem + stem)
      if (mark) tokens.add(mark + word).add(mark + stem)
      const letters = hasBeginnings ? TWO_LETTERS.exec(word)?.[0] : undefined
      if (letters === undefined) continue
      tokens.add(MARKS.beginning + letters)
      if (mark) tokens.add(mark + MARKS.beginning + letters)
    }
    for (const pair of pairsIn(plain)) {
      tokens.add(MARKS.pair + pair)
      if (mark) tokens.add(mark + pair)
    }
  }
  return tokens
}

/** Two letters side by side, of scripts that put no spaces between words and of Korean. */
export const pairsOf = (text: string): string[] => pairsIn(folded(text))

/** Text as its words are compared: without letter case, width and accents. */
export const folded = (text: string): string =>
  ASCII.test(text)
    ? text.toLowerCase()
    : text.normalize('NFKC').toLowerCase().normalize('NFD').replaceAll(ACCENTS, '').normalize('NFC')

/** Replaces ß with ss. The index stores words as written, so terms search for both spellings. */
export const unsharp = (text: string): string => text.replaceAll('ß', 'ss')

/** Each word once. What stands between spaces and has an apostrophe is looked at once more. */
function wordsOf(text: string, plain: string): string[] {
  const parts = APOSTROPHE.test(text) ? text.split(/\s+/).filter((part) => APOSTROPHE.test(part)) : []
  return [...new Set([...matches(plain), ...(parts.length > 0 ? wordsInOrder(parts.join(' ')) : [])])]
}

const pairsIn = (plain: string): string[] =>
  ASCII.test(plain)
    ? []
    : (plain.match(RUN) ?? []).flatMap((run) => {
        const signs = run.match(SIGN) ?? []
        return signs.slice(1).map((sign, index) => `${signs[index]}${sign}`)
      })

const matches = (plain: string): string[] =>
  ASCII.test(plain)
    ? (plain.match(ASCII_WORD) ?? []).map((word) => word.slice(0, MAX_LENGTH))
    : (plain.match(WORD) ?? []).map((word) => word.slice(0, MAX_LENGTH).toWellFormed())
