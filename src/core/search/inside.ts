import { pairsOf, wordsInOrder } from './words.js'

/** A shorter part is inside too many words. */
const SHORTEST = 4
/** Words that are looked for because a part is inside them. */
const MOST = 20

/** Whether to look for a word inside others. In scripts without spaces, and in Korean, parts are found as words are. */
export const isPart = (word: string): boolean => word.length >= SHORTEST && pairsOf(word).length === 0

/** Words of some folded texts that a part is inside of, but not at their start; those first that most texts have. */
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
