import { closest, distance } from 'fastest-levenshtein'

/** The word that was probably meant: at most two letters differ, and fewer in a short word. */
function likely(word: string, known: readonly string[]): string | undefined {
  const nearest = closest(word, known)
  return distance(word, nearest) <= Math.min(2, Math.max(word.length, nearest.length) * 0.4) ? nearest : undefined
}

/** ` Did you mean "posts"?`, or nothing where no word is near. */
export function guess(
  word: string,
  known: readonly string[],
  whole: (meant: string) => string = (meant) => meant,
): string {
  const meant = likely(word, known)
  return meant === undefined ? '' : ` Did you mean "${whole(meant)}"?`
}
