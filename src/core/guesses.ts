import { closest, distance } from 'fastest-levenshtein'

/** The word that was probably meant: at most two letters differ, and fewer in a short word, or two were swapped. */
export function likely(word: string, known: readonly string[]): string | undefined {
  const swapped = known.find((each) => isSwapped(word, each))
  if (swapped !== undefined || known.length === 0) return swapped
  const nearest = closest(word, known)
  const letters = Math.max(...[word, nearest].map((each) => each.replace(/^-+/, '').length))
  return distance(word, nearest) <= Math.min(2, letters * 0.4) ? nearest : undefined
}

/** Whether two letters beside each other changed places: `hlep`. */
function isSwapped(word: string, other: string): boolean {
  const first = [...word].findIndex((letter, index) => letter !== other[index])
  return (
    first !== -1 &&
    word[first] === other[first + 1] &&
    word[first + 1] === other[first] &&
    word.slice(0, first) + other.slice(first, first + 2) + word.slice(first + 2) === other
  )
}

/** ` Did you mean "posts"?`, or nothing where no word is near. */
export function guess(
  word: string,
  known: readonly string[],
  whole: (meant: string) => string = (meant) => meant,
): string {
  return didYouMean(likely(word, known), whole)
}

/** ` Did you mean "posts"?`, or nothing. */
export const didYouMean = (meant: string | undefined, whole: (meant: string) => string = (word) => word): string =>
  meant === undefined ? '' : ` Did you mean "${whole(meant)}"?`
