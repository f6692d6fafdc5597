import * as Type from 'typebox'
import type { TProperties } from 'typebox'
import { CSV_STYLE, csvCell } from '../../core/csv.js'
import type { PageInfo } from '../../core/pages.js'
import type { Context } from './context.js'
import { download, type LongBody, type Piece } from './download.js'
import { everyPage } from './everypage.js'
import type { Operation } from './operation.js'
import { fields, oneOf } from './schemas.js'

/** The columns of a list in CSV, by their headings. Commands print the same. */
export type Cells<Row> = Readonly<Record<string, (this: void, row: Row) => string>>

const FORMATS = { csv: 'text/csv', jsonl: 'application/x-ndjson' } as const
type Format = keyof typeof FORMATS

/** Rows that are read at once. A post has 64 kB at most. */
const PAGE_SIZE = 50

/** Fields of a list that choose a page. */
const PAGE_FIELDS = ['limit', 'page', 'first', 'after']

interface Paged {
  page_info: PageInfo
  is_capped?: boolean
}

interface Listed<Answer, Row> {
  id: string
  summary: string
  http: `GET /${string} 200`
  /** The name of the file without its ending. */
  file: string
  rows(this: void, answer: Answer): readonly Row[]
  /** Where the answer says which page it is, if not beside the rows. */
  infoOf?(this: void, answer: Answer): Paged
  cells: Cells<Row>
  /** Fields of the list that a download does not take, and what they are instead. */
  fixed?: Readonly<Record<string, unknown>>
  /**
   * Fields in place of those of the list. A list is read page by page while it changes, so an order that changes move rows
   * in would lose some and repeat others.
   */
  fields?: TProperties
}

/** The whole of a list as CSV, or as a line of JSON for each row, with the filters, the order and the access of the list. */
export function csvOf<In, Answer, Row, Subject = undefined>(
  list: Operation<In, Answer, Subject>,
  {
    id,
    summary,
    http,
    file,
    rows: rowsOf,
    cells,
    infoOf = (answer) => answer as Paged,
    fixed = {},
    fields: own = {},
  }: Listed<Answer, Row>,
): Operation<object, LongBody, Subject> {
  const left = Object.entries(list.input.properties).filter(([name]) => !PAGE_FIELDS.includes(name) && !(name in fixed))
  return download({
    id,
    summary,
    http,
    access: list.access,
    types: Object.values(FORMATS),
    errors: list.errors,
    ...(list.sensitive && { sensitive: true }),
    ...(list.subject && { subject: list.subject }),
    input: fields({
      ...Object.fromEntries(left),
      ...own,
      format: oneOf(Object.keys(FORMATS) as Format[], { default: 'csv', description: 'csv, or a line of JSON for each row' }), // prettier-ignore
    }),
    output: Type.String(),
    async rows(ctx: Context, { format, ...filter }: Record<string, unknown> & { format: Format }, subject: Subject) {
      const pages = everyPage({
        limit: PAGE_SIZE,
        read: (page) => list.run(ctx, { ...filter, ...fixed, ...page } as In, subject),
        rowsOf,
        infoOf: (answer) => infoOf(answer).page_info,
      })
      const first = await pages.next() // its errors are answers, and it says whether the list is whole
      const name = first.value && infoOf(first.value.answer).is_capped ? `${file}-not-all` : file
      const listed = continued(first, pages)
      const pieces = format === 'csv' ? asCsv(listed, cells) : asLines(listed)
      return { file: `${name}.${format}`, type: FORMATS[format], pieces }
    },
  })
}

type Page<Row> = { rows: readonly Row[] }

async function* continued<Row>(
  first: IteratorResult<Page<Row>, undefined>,
  pages: AsyncIterable<Page<Row>>,
): AsyncGenerator<readonly Row[]> {
  if (first.value) yield first.value.rows
  for await (const { rows } of pages) yield rows
}

async function* asCsv<Row>(pages: AsyncIterable<readonly Row[]>, cells: Cells<Row>): AsyncGenerator<Piece> {
  const { stringify } = await import('./csv.js')
  yield { text: stringify([Object.keys(cells)], CSV_STYLE), rows: 0 }
  const columns = Object.values(cells)
  for await (const rows of pages) {
    const all = rows.map((row) => columns.map((text) => csvCell(text(row))))
    yield { text: stringify(all, CSV_STYLE), rows: rows.length }
  }
}

async function* asLines(pages: AsyncIterable<readonly unknown[]>): AsyncGenerator<Piece> {
  for await (const rows of pages)
    yield { text: rows.map((row) => `${JSON.stringify(row)}\n`).join(''), rows: rows.length }
}
