import * as Type from 'typebox'
import { folded } from '../../core/text.js'
import { searchPage, type Page } from '../../db/paging.js'

/** The most rows that a search reads. */
export const MOST_SEARCHED = 20_000
/** Rows per query of a search. */
const BATCH = 500

/** The `query` field of a list. `within` names the parts of a row that are searched, and `most` how many rows are. */
export const textField = (rows: string, { within, most }: { within?: string; most?: number } = {}) => {
  const part = within === undefined ? '' : ` in their ${within}`
  const end = most === undefined ? '' : `; only the first ${most} ${rows} in this order are searched`
  return Type.Optional(
    Type.String({ maxLength: 500, description: `Only ${rows} with this text${part}, in any letter case${end}` }),
  )
}

/** Returns a function that tells whether any of its texts contains the query. Undefined for an empty query. */
export function textMatcher(query = ''): ((...texts: (string | null)[]) => boolean) | undefined {
  const wanted = folded(query.trim())
  if (wanted === '') return undefined
  return (...texts) => texts.some((text) => text !== null && folded(text).includes(wanted))
}

/** Where `uncountedPage` reads its rows from. */
interface Rows<Row> {
  find(this: void, after: string): Promise<Row | undefined>
  read(this: void, page: Page<Row>): Promise<Row[]>
}

/** Limits a source to the rows that match. Without `matches` it is unchanged. */
export function searched<Row>({ find, read }: Rows<Row>, matches: ((row: Row) => boolean) | undefined): Rows<Row> {
  if (!matches) return { find, read }
  return {
    async find(after) {
      const row = await find(after)
      return row && matches(row) ? row : undefined
    },
    read: (page) => searchPage(page, { read, at: (row) => row, matches, most: MOST_SEARCHED, batch: BATCH }),
  }
}

/** Returns all rows that match, for lists that count their rows. */
export const allMatching = <Row>(read: Rows<Row>['read'], matches: (row: Row) => boolean): Promise<Row[]> =>
  searched({ find: async () => undefined, read }, matches).read({ limit: MOST_SEARCHED })
