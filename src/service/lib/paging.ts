import * as Type from 'typebox'
import { invalidField } from '../../core/fields.js'
import { paging } from '../../core/pages.js'
import { PageInfo } from './schemas.js'

/** The fields by which a page of a list is asked for: by number, or after a row, whose id is the cursor. */
export const pageFields = (rows: string, cursor: string, size = 10) => ({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, fromText: true, description: `${rows} on a page (default: ${size})` }),
  ),
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      fromText: true,
      description: 'Page number (default: 1)',
    }),
  ),
  first: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      fromText: true,
      description: `${rows} on a page, as in cursor paging; limit wins`,
    }),
  ),
  after: Type.Optional(Type.String({ description: `Cursor: the ${cursor} that the page comes after` })),
})

/** What every list answers beside its rows. */
export const pageKeys = { page_info: PageInfo, total_count: Type.Integer(), total_pages: Type.Integer() }

/** The alias of the rows, answered only when page is not given. */
export const alias = <T extends Type.TSchema>(rows: T) =>
  Type.Optional(Type.Array(rows, { description: 'The same list; only when page is not given' }))

/** A page that is asked for. */
export interface Asked {
  limit?: number
  page?: number
  first?: number
  after?: string
}

/** Where the rows of a list come from. */
export interface Source<Row> {
  /** Rows on a page where nothing is asked for. */
  size?: number
  total: number
  id(this: void, row: Row): string
  /** What the cursor is called in an error: 'boardId of a board'. */
  cursor: string
  /** The row of a cursor, if it is in this list. */
  find(this: void, after: string): Promise<Row | undefined>
  /** How many rows come after this one; without it a page after a cursor has no number. */
  behind?(this: void, row: Row): Promise<number>
  read(this: void, page: { limit: number; offset?: number; after?: Row }): Promise<Row[]>
}

/** One page of a list, with the keys that go with it. A page past the end is empty. */
export async function pageOf<Row>({ limit, page, first, after }: Asked, source: Source<Row>) {
  if (page !== undefined && after !== undefined)
    throw invalidCursor('Give either page or after, not both.', 'absent when page is given', after)
  const { total, size: usual = 10 } = source
  const size = limit ?? first ?? usual
  if (after === undefined) {
    const before = ((page ?? 1) - 1) * size
    const rows = before >= total ? [] : await source.read({ limit: size, offset: before })
    return { rows, keys: paging(rows.map(source.id), { total, size, before, page }) }
  }
  const cursor = await source.find(after)
  if (!cursor)
    throw invalidCursor(
      `after must be the ${source.cursor} in this list; ${JSON.stringify(shown(after))} is not.`,
      `the ${source.cursor} in this list`,
      after,
    )
  const before = source.behind && total - (await source.behind(cursor))
  const found = await source.read({ limit: size + 1, after: cursor })
  const rows = found.slice(0, size)
  return { rows, keys: paging(rows.map(source.id), { total, size, before, more: found.length > size }) }
}

const shown = (text: string): string => text.slice(0, 100).toWellFormed()

const invalidCursor = (message: string, rule: string, value: string) =>
  invalidField({ code: 'INVALID_CURSOR', message, field: 'after', rule, value: shown(value) })
