import { counted } from '../core/text.js'
import { indexMissing, unindexed } from '../db/search.js'
import type { Check } from './check.js'

export const search: Check = {
  isDeep: true,
  needs: 'data',
  async look({ app }) {
    const { db } = await app()
    const missing = await unindexed(db)
    if (missing === 0) return { evidence: 'Search finds all posts.' }
    return {
      findings: [
        {
          severity: 'error',
          evidence: `Search does not find ${counted(missing, 'post')}: their words are not in the index.`,
          fix: 'feedbackctl doctor search --fix',
          mend: { id: 'search', does: 'put the missing posts into the search index', run: () => indexMissing(db) },
        },
      ],
    }
  },
}
