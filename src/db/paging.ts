import { setImmediate } from 'node:timers/promises'
import { sql, type SelectQueryBuilder, type SqlBool } from 'kysely'

/** Which rows of a list: some after a number of rows, or after one of them. */
export interface Page<Row> {
  limit: number
  offset?: number | undefined
  after?: Row
}

/** When the rows of a list were created: ISO 8601, `since` inclusive, `until` exclusive. */
export interface Period {
  since?: string | undefined
  until?: string | undefined
}

export type Direction = 'asc' | 'desc'

/** Which rows of a list by time come first: with asc the oldest, with desc the newest. */
export interface Sorting {
  created: Direction
}

/** The order of a list: by a column, and by id where two rows have the same value. */
export interface Order<Row> {
  by: readonly [column: Column<Row>, id: Column<Row>]
  direction?: Direction
  /** Where the query joins tables that have the same columns. */
  table?: string
}
type Column<Row> = keyof Row & string

type Query<DB, TB extends keyof DB, O> = SelectQueryBuilder<DB, TB, O>

/** A page after a row is a range of the index. A page by number reads and skips the rows before it. */
export function pageOf<DB, TB extends keyof DB, O, Row>(
  query: Query<DB, TB, O>,
  order: Order<Row>,
  { limit, offset, after }: Page<Row>,
): Query<DB, TB, O> {
  const [column, id] = columnsOf(order)
  const page = (after ? following(query, order, after) : query)
    .orderBy(column, order.direction)
    .orderBy(id, order.direction)
    .limit(limit)
  return offset === undefined ? page : page.offset(offset)
}

/** Only the rows of a period, by the column of their creation: a range of the index of a list by time. */
export const within = <DB, TB extends keyof DB, O>(
  query: Query<DB, TB, O>,
  column: string,
  { since, until }: Period,
): Query<DB, TB, O> =>
  query
    .$if(since !== undefined, (some) => some.where(sql<SqlBool>`${sql.ref(column)} >= ${since}`))
    .$if(until !== undefined, (some) => some.where(sql<SqlBool>`${sql.ref(column)} < ${until}`))

/** How many rows come after this one: the contract's `current_page` of a cursor page needs it. */
export const countAfter = <DB, TB extends keyof DB, O, Row>(query: Query<DB, TB, O>, order: Order<Row>, row: Row) =>
  following(query, order, row).select(sql<number>`count(*)`.as('count'))

/** How to scan a list for a substring, which no index finds. */
interface Walk<Row, At> {
  read(this: void, page: Page<At>): Promise<Row[]>
  /** The cursor of a row. */
  at(this: void, row: Row): At
  matches(this: void, row: Row): boolean
  /** The most rows to read. */
  most: number
  /** Rows per query. Other requests run between two queries. */
  batch: number
}

/** Returns one page of the rows that match. Only the rows of that page stay in memory. */
export async function searchPage<Row, At>(
  { limit, offset = 0, after }: Page<At>,
  { read, at, matches, most, batch }: Walk<Row, At>,
): Promise<Row[]> {
  const found: Row[] = []
  let skipped = 0
  for (let count = 0, last = after; count < most && found.length < limit; count += batch) {
    const rows = await read({ limit: batch, ...(last !== undefined && { after: last }) })
    const matching = rows.filter(matches)
    const before = Math.min(offset - skipped, matching.length)
    skipped += before
    found.push(...matching.slice(before))
    const end = rows.at(-1)
    if (end === undefined || rows.length < batch) break
    last = at(end)
    await setImmediate()
  }
  return found.slice(0, limit)
}

function following<DB, TB extends keyof DB, O, Row>(query: Query<DB, TB, O>, order: Order<Row>, row: Row) {
  const [column, id] = columnsOf(order)
  const comparison = sql.raw(order.direction === 'desc' ? '<' : '>')
  return query.where(sql<SqlBool>`(${column}, ${id}) ${comparison} (${row[order.by[0]]}, ${row[order.by[1]]})`)
}

const columnsOf = <Row>({ by, table }: Order<Row>) =>
  by.map((column) => sql.ref(table === undefined ? column : `${table}.${column}`)) as [Ref, Ref]
type Ref = ReturnType<typeof sql.ref>
