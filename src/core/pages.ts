/** The page of a list response (contract, section 1.13). `current_page` counts from 1, and is null if unknown. */
export interface PageInfo {
  count: number
  current_page: number | null
  has_next_page: boolean
  start_cursor: string | null
  end_cursor: string | null
}

interface Position {
  total: number
  size: number
  /** The number of rows before this page, if counted. */
  before?: number | undefined
  /** The requested page number. */
  page?: number | undefined
  /** Whether more rows follow, if `before` is missing. */
  more?: boolean
}

/** The page fields of a list response. */
export function paging(ids: string[], { total, size, before, page, more }: Position) {
  const page_info: PageInfo = {
    count: ids.length,
    current_page: page ?? (before === undefined ? null : Math.floor(before / size) + 1),
    has_next_page: more ?? (ids.length > 0 && (before ?? 0) + ids.length < total),
    start_cursor: ids[0] ?? null,
    end_cursor: ids.at(-1) ?? null,
  }
  return { page_info, total_count: total, total_pages: Math.ceil(total / size) }
}
