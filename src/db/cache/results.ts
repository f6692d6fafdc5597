import { isDeepStrictEqual } from 'node:util'
import type { Dependencies } from './dependencies.js'

/** What a query found. */
export type Rows = readonly object[]

/** Rows hold nothing but texts, numbers and null. */
export function isSame(rows: Rows, others: Rows): boolean {
  if (rows.length !== others.length) return false
  return rows.every((row, index) => {
    const other = others[index] as Record<string, unknown>
    for (const [column, value] of Object.entries(row)) if (other[column] !== value) return false
    return true
  })
}

const inAnyOrder = (rows: Rows) => rows.map((row) => JSON.stringify(row)).toSorted((a, b) => (a < b ? -1 : 1))

/**
 * Whether both can be results of the same query on the same data. Ignores the order of rows if the query has no
 * ORDER BY, because an engine may then return them in another order each time.
 */
export const isEquivalent = (sql: string, rows: Rows, others: Rows): boolean =>
  isSame(rows, others) || (!/order by/i.test(sql) && isDeepStrictEqual(inAnyOrder(rows), inAnyOrder(others)))

/** About the bytes that V8 needs: a header for each row and text, and a slot for each value. */
export function sizeOf({ rows, dependencies }: { rows: Rows; dependencies: Dependencies }): number {
  let size = 0
  for (const row of rows) {
    size += 48
    for (const value of Object.values(row) as unknown[]) size += typeof value === 'string' ? 32 + value.length : 8
  }
  for (const { refs = [] } of dependencies) size += 64 + refs.length * 8 // texts of the rows
  return size
}
