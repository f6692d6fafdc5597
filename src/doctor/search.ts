import { counted } from '../core/text.js'
import { backfill, indexMissing, pendingKinds, unindexed } from '../db/searchindex.js'
import type { Check, Finding } from './check.js'

const FIX = 'feedbackctl doctor search --fix'

export const search: Check = {
  isDeep: true,
  needs: 'data',
  async look({ app }) {
    const { db } = await app()
    const pending = await pendingKinds(db)
    if (pending.length > 0)
      return {
        findings: [
          {
            severity: 'warning',
            evidence: `Search does not find all ${pending.join(' and ')} yet: a running server is still indexing them.`,
            fix: FIX,
            mend: { id: 'search', does: 'index them now', run: () => backfill(db) },
          },
        ],
      }
    const findings: Finding[] = []
    for (const [kind, noun] of [
      ['posts', 'post'],
      ['comments', 'comment'],
    ] as const) {
      const missing = await unindexed(db, kind)
      if (missing > 0)
        findings.push({
          severity: 'error',
          evidence: `Search does not find ${counted(missing, noun)}: their words are not in the index.`,
          fix: FIX,
          mend: { id: 'search', does: 'put what is missing into the search index', run: () => indexMissing(db) },
        })
    }
    return findings.length > 0 ? { findings } : { evidence: 'Search finds all posts and comments.' }
  },
}
