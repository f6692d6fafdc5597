import { pairsOf, wordsInOrder } from './words.js'

/** Minimum length of a part, in UTF-16 units. Shorter parts are inside too many words. */
const SHORTEST = 4
/** Maximum number of words that a part expands to. */
const MOST = 20

/** Whether a word is searched inside longer words. Scripts without spaces and Korean do not need it: pairs of letters are indexed. */
export const isPart = (word: string): boolean => word.length >= SHORTEST && pairsOf(word).length === 0

/** Returns the words of folded texts that contain a part, but do not start with it. The most frequent come first. */
export function wordsAround(part: string, texts: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const text of texts) {
    if (!text.includes(part)) continue
    for (const word of new Set(wordsInOrder(text)))
      if (word.indexOf(part) > 0) counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  const ordered = [...counts].toSorted(([, one], [, other]) => other - one)
  return ordered.slice(0, MOST).map(([word]) => word)
}
