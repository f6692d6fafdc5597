/**
 * The form in which names are searched: letter case and compatibility forms of any script do not count, and neither does
 * what stands before the first letter or digit, so that "mob" finds "📱 Mobile app". A name of symbols only stays as it is.
 */
export function searchKey(text: string): string {
  const folded = text.normalize('NFKC').toLowerCase()
  return folded.replace(/^[^\p{L}\p{N}]+(?=.)/u, '') || folded
}

/** Removes what could steer a terminal (escape sequences, line breaks, direction marks) from text that somebody else wrote. */
export const printable = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, ' ')

/** `1 post`, `2 posts`. */
export const counted = (count: number | string, noun: string): string =>
  `${count} ${noun}${Number(count) === 1 ? '' : 's'}`

/** What somebody sent, in quotation marks, for a sentence: at most 100 characters of it. */
export const quoted = (text: string): string => JSON.stringify(text.slice(0, 100).toWellFormed())
