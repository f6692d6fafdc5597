/** What a list says about the page it answers (contract, section 1.13). `current_page` counts from 1; null where it is not known. */
export interface PageInfo {
  count: number
  current_page: number | null
  has_next_page: boolean
  start_cursor: string | null
  end_cursor: string | null
}

interface Place {
  total: number
  size: number
  /** Rows ahead of this page, if they were counted. */
  before?: number | undefined
  /** The number that was asked for. */
  page?: number | undefined
  /** Whether rows follow, where `before` does not tell. */
  more?: boolean
}

/** The three keys every list carries beside its rows. */
export function paging(ids: string[], { total, size, before, page, more }: Place) {
  const page_info: PageInfo = {
    count: ids.length,
    current_page: page ?? (before === undefined ? null : Math.floor(before / size) + 1),
    has_next_page: more ?? (ids.length > 0 && (before ?? 0) + ids.length < total),
    start_cursor: ids[0] ?? null,
    end_cursor: ids.at(-1) ?? null,
  }
  return { page_info, total_count: total, total_pages: Math.ceil(total / size) }
}
