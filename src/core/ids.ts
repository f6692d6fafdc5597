import { randomInt } from 'node:crypto'
import { v7, validate } from 'uuid'

/** A new id: UUID v7, so that ids sort by the time they were made. */
export const newId = (): string => v7()

/** Random letters and digits for suffixes that people read; no secret. */
export const randomWord = (length: number): string => Array.from({ length }, () => randomInt(36).toString(36)).join('')

/** Whether a text is an id rather than a slug. */
export const isId = (text: string): boolean => validate(text)

/** An id in the letter case in which ids are stored; any other text as it is. */
export const asStored = (text: string): string => (isId(text) ? text.toLowerCase() : text)
