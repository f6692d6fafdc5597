/** Scripts that put no spaces between words. Each of their letters counts as a word. */
const LETTERS = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`
const WORD = new RegExp(String.raw`[${LETTERS}]\p{M}*|(?:(?![${LETTERS}])[\p{L}\p{M}\p{N}])+`, 'gu')
/** Accents of Latin, Greek and Cyrillic letters. Marks of other scripts are part of the letter. */
const ACCENTS = /[\u0300-\u036f]/g
const MAX_LENGTH = 64

const APOSTROPHES = /(?<=\p{L})['’](?=\p{L})/gu

/**
 * The words of a text, each once, for a full-text index: without letter case, accents and punctuation. A word with an
 * apostrophe is also there in one piece, and its parts are: "don't" as "dont", "don" and "t".
 */
export const indexWords = (text: string): string[] => [...new Set([...matches(text), ...searchWords(text)])]

/** The words of a query. A text matches if it has them all, in any order. */
export const searchWords = (text: string): string[] => [...new Set(matches(text.replaceAll(APOSTROPHES, '')))]

function matches(text: string): string[] {
  const folded = text.normalize('NFKC').toLowerCase().normalize('NFD').replaceAll(ACCENTS, '').normalize('NFC')
  return (folded.match(WORD) ?? []).map((word) => word.slice(0, MAX_LENGTH).toWellFormed())
}
