import * as Type from 'typebox'
import { invalidField } from '../../core/fields.js'
import { paging, type PageInfo as Page } from '../../core/pages.js'
import { PageInfo } from './schemas.js'

/** A paged list. */
export interface Listing<Row> {
  row: string
  rows: string
  /** The id of a row, which is also its cursor. */
  id: keyof Row & string
  /** Rows on a page by default; 10 where it is left out. */
  size?: number
  /** Where a page that was requested without a number has its rows once more, as `results`. */
  alias?: true
  /** Highest page number of lists without a total count, because skipping rows reads them. */
  pages?: number
}

const sizeOf = ({ size = 10 }: { size?: number }): number => size

/** The input of a paged list: by page number, or after a row. */
export const pageFields = <Row>({ rows, id, pages = Number.MAX_SAFE_INTEGER, ...list }: Listing<Row>) => ({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      fromText: true,
      description: `${rows} on a page (default: ${sizeOf(list)})`,
    }),
  ),
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: pages,
      fromText: true,
      description: 'Page number (default: 1)',
    }),
  ),
  first: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      fromText: true,
      description: `Same as limit, for cursor paging; limit wins`,
    }),
  ),
  after: Type.Optional(Type.String({ description: `Cursor: the ${id} that the page comes after` })),
})

/** The output of a paged list, apart from its rows. */
export const pageKeys = { page_info: PageInfo, total_count: Type.Integer(), total_pages: Type.Integer() }

/** Beside the rows of a list that may end before its last row. */
export const cappedKey = {
  is_capped: Type.Optional(
    Type.Boolean({
      description: 'true if more rows match, or may: the list ends before them, at a limit; otherwise absent',
    }),
  ),
}

/** The rows once more, where `page` is not given. */
export const alias = <T extends Type.TSchema>(rows: T) =>
  Type.Optional(Type.Array(rows, { description: 'The same list; only when page is not given' }))

/** The input of `pageFields`. */
export interface PageInput {
  limit?: number
  page?: number
  first?: number
  after?: string
}

/** Where the rows of a list come from. `At` is what a page needs of the row that it comes after. */
interface Source<Row, Shown, At> {
  /** A function is called after `read`. */
  total: number | (() => Promise<number>)
  /** The row of a cursor, if it is in this list. */
  find(this: void, after: string): Promise<At | undefined>
  /** How many rows come after this one. Without it a page after a cursor has no number. */
  countAfter?(this: void, row: At): Promise<number>
  read(this: void, page: { limit: number; offset?: number; after?: At }): Promise<Row[]>
  show(this: void, rows: Row[]): Shown[] | Promise<Shown[]>
}

/** Reads pages of rows that are in memory. */
export const sourceOf = <Row>(list: Listing<Row>, rows: readonly Row[]) => {
  const placeOf = (row: Row) => rows.indexOf(row) + 1
  return {
    total: rows.length,
    find: async (after: string) => rows.find((row) => row[list.id] === after),
    countAfter: async (row: Row) => rows.length - placeOf(row),
    async read({ limit, offset = 0, after }: { limit: number; offset?: number; after?: Row }) {
      const from = after ? placeOf(after) : offset
      return rows.slice(from, from + limit)
    },
  }
}

/** One page of a list, and the keys beside its rows. A page past the end is empty. */
export async function pageOf<Row, Shown, At = Row>(
  list: Listing<Row>,
  { limit, page, first, after }: PageInput,
  source: Source<Row, Shown, At>,
) {
  assertOnePlace(page, after)
  const totalOf = async () => (typeof source.total === 'number' ? source.total : source.total())
  const size = limit ?? first ?? sizeOf(list)
  const answer = async (found: Row[], place: { before?: number | undefined; more?: boolean }) => {
    const ids = found.map((row) => row[list.id] as string)
    const rows = await source.show(found)
    const total = await totalOf()
    const results: { results?: Shown[] } = list.alias && page === undefined ? { results: rows } : {}
    return { rows, keys: { ...paging(ids, { total, size, page, ...place }), ...results } }
  }
  if (after === undefined) {
    const before = ((page ?? 1) - 1) * size
    const isPastEnd = typeof source.total === 'number' && before >= source.total
    return answer(isPastEnd ? [] : await source.read({ limit: size, offset: before }), { before })
  }
  const cursor = await cursorOf(list, after, source.find)
  const before = source.countAfter && (await totalOf()) - (await source.countAfter(cursor))
  const found = await source.read({ limit: size + 1, after: cursor })
  return answer(found.slice(0, size), { before, more: found.length > size })
}

/** Output fields of a list without a total count, because counting would be slow. */
export const uncountedKeys = { page_info: PageInfo }

/** One page of a list that is too long to count: one row more tells whether another page follows. */
export async function uncountedPage<Row, Shown, At = Row>(
  list: Listing<Row>,
  { limit, page, first, after }: PageInput,
  { find, read, show }: Omit<Source<Row, Shown, At>, 'total' | 'countAfter'>,
) {
  assertOnePlace(page, after)
  const size = limit ?? first ?? sizeOf(list)
  const cursor = after === undefined ? undefined : await cursorOf(list, after, find)
  const number = after === undefined ? (page ?? 1) : null
  const found = await read({
    limit: size + 1,
    ...(cursor ? { after: cursor } : { offset: ((number ?? 1) - 1) * size }),
  })
  const slice = found.slice(0, size)
  const ids = slice.map((row) => row[list.id] as string)
  return { rows: await show(slice), keys: { page_info: uncountedInfo(ids, { number, more: found.length > size }) } }
}

/** Page info of a list: ids of first and last row, page number if known, and whether another page follows. */
export const uncountedInfo = (
  ids: readonly string[],
  { number, more }: { number: number | null; more: boolean },
): Page => ({
  count: ids.length,
  current_page: number,
  has_next_page: more,
  start_cursor: ids[0] ?? null,
  end_cursor: ids.at(-1) ?? null,
})

export function assertOnePlace(page: number | undefined, after: string | undefined): void {
  if (page !== undefined && after !== undefined)
    throw invalidCursor('Give either page or after, not both.', 'absent when page is given', after)
}

async function cursorOf<Row, At>(
  list: Listing<Row>,
  after: string,
  find: Source<Row, unknown, At>['find'],
): Promise<At> {
  const cursor = await find(after)
  if (cursor) return cursor
  const rule = `the ${list.id} of a ${list.row} in this list`
  throw invalidCursor(`after must be ${rule}; ${JSON.stringify(shown(after))} is not.`, rule, after)
}

const shown = (text: string): string => text.slice(0, 100).toWellFormed()

const invalidCursor = (message: string, rule: string, value: string) =>
  invalidField({ code: 'INVALID_CURSOR', message, field: 'after', rule, value: shown(value) })
