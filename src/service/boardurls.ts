import { AppError } from '../core/errors.js'
import { invalidField } from '../core/fields.js'
import { isId, randomWord } from '../core/ids.js'
import { slugOf, withSuffix } from '../core/slugs.js'
import { findBoard, insertBoard } from '../db/boards.js'
import type { BoardRow } from '../db/tables.js'
import { can } from './access.js'
import type { Context } from './context.js'

/** Words that are routes of the API beside `/boards/:url`. */
const RESERVED = new Set(['get', 'search', 'check-slug', 'check-name'])
/** No url may look like a route, or like the id of another board. */
export const isReserved = (slug: string): boolean => RESERVED.has(slug) || isId(slug)

/** Takes the slug of the name; a short suffix is added only when it is taken. */
export async function insertWithFreeUrl(db: Context['db'], row: Omit<BoardRow, 'url' | 'post_count'>): Promise<BoardRow> {
  const slug = (await slugOf(row.name)) || 'board'
  let url = isReserved(slug) ? withSuffix(slug, randomWord(4)) : slug
  for (;;) {
    const board = await insertBoard(db, { ...row, url })
    if (board) return board
    url = withSuffix(slug, randomWord(4))
  }
}

/** The slug of a url that somebody chose; refused if nothing is left of it, or if it is reserved. */
export async function slugFrom(text: string): Promise<string> {
  const slug = await slugOf(text)
  const rule = 'text with a letter or a digit'
  if (slug === '')
    throw invalidField({ code: 'BOARD_URL_MISSING', message: `url must be ${rule}; ${JSON.stringify(text)} is not.`, field: 'url', rule, value: text })
  if (isReserved(slug)) throw new AppError('BOARD_URL_EXISTS', `The url "${slug}" belongs to the API. Choose another.`)
  return slug
}

/** The error that says which board has the url, to whoever may know that board. */
export async function urlTaken({ db, actor }: Context, slug: string): Promise<AppError> {
  const board = await findBoard(db, slug)
  const visible = board && (board.display === 1 || can(actor, 'board:read'))
  const why = visible ? `board "${board.name}" has had it since ${board.createdAt.slice(0, 10)}` : undefined
  return new AppError('BOARD_URL_EXISTS', `The url "${slug}" is taken. Choose another.`, { why })
}
