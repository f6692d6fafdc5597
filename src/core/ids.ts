import { randomInt } from 'node:crypto'
import { v7, validate } from 'uuid'

/** A UUID v7. These sort by creation time. */
export const newId = (): string => v7()

/** Random letters and digits, for readable suffixes. Not for secrets. */
export const randomWord = (length: number): string => Array.from({ length }, () => randomInt(36).toString(36)).join('')

/** Tells ids from slugs. */
export const isId = (text: string): boolean => validate(text)

const SHAPE = '00000000-0000-0000-0000-000000000000'

/** Whether a text is the start of an id, of at least four characters. */
export const isIdStart = (text: string): boolean =>
  text.length >= 4 &&
  text.length < SHAPE.length &&
  /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text + SHAPE.slice(text.length))

/** An id in lower case, as stored. Other text is returned unchanged. */
export const asStored = (text: string): string => (isId(text) ? text.toLowerCase() : text)
