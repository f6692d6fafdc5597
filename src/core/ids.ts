import { randomFillSync, randomInt } from 'node:crypto'
import { v7, validate } from 'uuid'

/** Random bytes of an id, and of as many ids as are drawn at once: a draw takes longer than all else about an id. */
const BYTES = 16
const pool = Buffer.alloc(BYTES * 256)
let used = pool.length
let last = { msecs: -Infinity, seq: 0 }

/** A UUID v7. These sort by creation time, also those of one millisecond. */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const random = pool.subarray(used, (used += BYTES))
  // oxlint-disable-next-line no-restricted-properties -- as in v7 itself: no test sets the time of an id
  const now = Date.now()
  const seq = (last.seq + 1) | 0
  last = now > last.msecs ? { msecs: now, seq: random.readInt32BE(6) & 0x7fffffff } : { msecs: seq === 0 ? last.msecs + 1 : last.msecs, seq } // prettier-ignore
  return v7({ random, ...last })
}

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
