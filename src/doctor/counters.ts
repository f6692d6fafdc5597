import { counted } from '../core/text.js'
import { miscounts, recount } from '../db/recount.js'
import { seen, type Check } from './check.js'

export const counters: Check = {
  isDeep: true,
  needs: 'data',
  async look({ app }) {
    const { db } = await app()
    const wrong = await miscounts(db)
    return seen(
      wrong.map((each) => ({
        severity: 'error',
        evidence: `${counted(each.wrong, 'stored count')} of ${each.what} ${each.wrong === 1 ? 'is' : 'are'} wrong, such as ${each.stored} for ${counted(each.counted, 'row')}.`,
        fix: 'feedbackctl doctor counters --fix',
        mend: { id: 'recount', does: 'recount all rows', run: () => recount(db) },
      })),
      'All stored counts are those of the rows.',
    )
  },
}
