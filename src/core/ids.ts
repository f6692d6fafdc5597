import { randomInt } from 'node:crypto'
import { v7, validate } from 'uuid'

/** A UUID v7. These sort by creation time. */
export const newId = (): string => v7()

/** Random letters and digits, for readable suffixes. Not for secrets. */
export const randomWord = (length: number): string => Array.from({ length }, () => randomInt(36).toString(36)).join('')

/** Tells ids from slugs. */
export const isId = (text: string): boolean => validate(text)

/** An id in lower case, as stored. Other text is returned unchanged. */
export const asStored = (text: string): string => (isId(text) ? text.toLowerCase() : text)
