/** What a list says about the page it answers (contract, section 1.13). `current_page` counts from 1. */
export interface PageInfo {
  count: number
  current_page: number
  has_next_page: boolean
  start_cursor: string | null
  end_cursor: string | null
}

/** The three keys every list carries beside its rows. `before` is the number of rows ahead of this page. */
export function paging(ids: string[], total: number, before: number, size: number, page = Math.floor(before / size) + 1) {
  const page_info: PageInfo = {
    count: ids.length,
    current_page: page,
    has_next_page: before + ids.length < total && ids.length > 0,
    start_cursor: ids[0] ?? null,
    end_cursor: ids.at(-1) ?? null,
  }
  return { page_info, total_count: total, total_pages: Math.ceil(total / size) }
}
