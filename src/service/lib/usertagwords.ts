import { plainText } from '../../core/text.js'

/** A tag of a person as it is shown. */
export const tagWord = (given: string): string => plainText(given).replaceAll(/\s+/g, ' ').trim()

/** The letters by which it is found. Tags are the same in any letter case. Signs count: `+1` is not `-1`. */
export const tagKey = (given: string): string => tagWord(given).normalize('NFKC').toLowerCase()
