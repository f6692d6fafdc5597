/** The form in which names are compared and searched: letter case and compatibility forms of any script do not count. */
export const folded = (text: string): string => text.normalize('NFKC').toLowerCase()

/** Removes what could steer a terminal (escape sequences, line breaks, direction marks) from text that somebody else wrote. */
export const printable = (text: string): string => text.replaceAll(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, ' ')
