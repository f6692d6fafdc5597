import * as Type from 'typebox'
import { folded } from '../../core/text.js'
import { searchPage, type Page } from '../../db/paging.js'

/** Rows that a search reads at most: no index finds substrings. */
export const MOST_SEARCHED = 20_000
/** Rows per query, so that other requests run in between. */
const BATCH = 500

/** The field of a list for a text that its rows have, `within` some parts of them. The first `most` rows are searched. */
export const textField = (rows: string, { within, most }: { within?: string; most?: number } = {}) => {
  const part = within === undefined ? '' : ` in their ${within}`
  const end = most === undefined ? '' : `; only the first ${most} ${rows} in this order are searched`
  return Type.Optional(
    Type.String({ maxLength: 500, description: `Only ${rows} with this text${part}, in any letter case${end}` }),
  )
}

/** Tells whether one of some texts has the text that is looked for. Undefined if none is looked for. */
export function textMatcher(query = ''): ((...texts: (string | null)[]) => boolean) | undefined {
  const wanted = folded(query.trim())
  if (wanted === '') return undefined
  return (...texts) => texts.some((text) => text !== null && folded(text).includes(wanted))
}

/** What `uncountedPage` reads. */
interface Rows<Row> {
  find(this: void, after: string): Promise<Row | undefined>
  read(this: void, page: Page<Row>): Promise<Row[]>
}

/** Only those rows of a list that match; all where nothing is looked for. */
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

/** All rows of a list that match, for a list that is counted. */
export const allMatching = <Row>(read: Rows<Row>['read'], matches: (row: Row) => boolean): Promise<Row[]> =>
  searched({ find: async () => undefined, read }, matches).read({ limit: MOST_SEARCHED })
