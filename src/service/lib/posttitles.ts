import * as Type from 'typebox'
import { invalidField } from '../../core/fields.js'
import { LENGTHS } from '../../core/lengths.js'

const MAX_TITLE = LENGTHS.title
const ELLIPSIS = '...'

export const title = Type.String({
  maxLength: MAX_TITLE,
  rule: `text of 1 to ${MAX_TITLE} characters`,
  trim: true,
  plain: true,
  description: 'Title on one line',
})

/** The API gives a new post without a title one; a page asks for it. */
export const titleMissing = (rule: string) =>
  invalidField({ code: 'POST_TITLE_MISSING', message: 'title is missing.', field: 'title', rule })

/** Moves the end of a long title into the text, as LogChimp does: published clients do not show the error. */
export function withShortTitle(input: Record<string, unknown>): Record<string, unknown> {
  const { title: given, contentMarkdown: text } = input
  if (typeof given !== 'string' || (text !== undefined && text !== null && typeof text !== 'string')) return input
  const characters = Array.from(given.trim())
  if (given.trim().length <= MAX_TITLE) return input
  let start = ''
  while (start.length + (characters[0]?.length ?? 0) <= MAX_TITLE - ELLIPSIS.length) start += characters.shift()
  const end = `${ELLIPSIS}${characters.join('')}`
  return { ...input, title: `${start}${ELLIPSIS}`, contentMarkdown: [end, text?.trim()].filter(Boolean).join('\n\n') }
}
