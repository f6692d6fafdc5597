import { AppError } from '../../core/errors.js'
import type { PageInfo } from '../../core/pages.js'

interface Paged<Answer, Row> {
  /** Rows of a page. */
  limit: number
  read(this: void, page: { limit: number; after?: string | undefined }): Promise<Answer>
  rowsOf(this: void, answer: Answer): readonly Row[]
  infoOf(this: void, answer: Answer): PageInfo
}

/** All pages of a list, by its cursors. If the row of a cursor was deleted, continues after the last row before it that still exists. */
export async function* everyPage<Answer, Row>({
  limit,
  read,
  rowsOf,
  infoOf,
}: Paged<Answer, Row>): AsyncGenerator<
  { answer: Answer; rows: readonly Row[]; cursors: readonly string[] },
  undefined
> {
  let cursors: string[] = []
  for (let isFirst = true; ; isFirst = false) {
    const answer = await read({ limit, ...(!isFirst && { after: cursors.at(-1) }) }).catch((error: unknown) => {
      if (cursors.length > 1 && error instanceof AppError && error.errors?.[0]?.code === 'INVALID_CURSOR')
        return undefined
      throw error
    })
    if (answer === undefined) {
      cursors = cursors.slice(0, -1)
      continue
    }
    const rows = rowsOf(answer)
    const { has_next_page: hasNext, end_cursor: end } = infoOf(answer)
    if (end !== null) cursors = cursorsOf(rows as readonly Record<string, unknown>[], end)
    yield { answer, rows, cursors: end === null ? [] : cursors }
    if (!hasNext || end === null) return undefined
  }
}

/** The cursor of every row: the value of the field that holds `end` in the last row. */
function cursorsOf(rows: readonly Record<string, unknown>[], end: string): string[] {
  const last = rows.at(-1) ?? {}
  const key = Object.keys(last).find((name) => last[name] === end)
  return key === undefined ? [end] : rows.map((row) => String(row[key]))
}
