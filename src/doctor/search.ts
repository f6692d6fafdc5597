import { counted } from '../core/text.js'
import { dropLeftovers, leftovers, misindexed } from '../db/searchcheck.js'
import { backfill, indexMissing, pendingKinds, unindexed } from '../db/searchindex.js'
import type { Db } from '../db/tables.js'
import type { Check, Finding, OnProgress } from './check.js'

const FIX = 'feedbackctl doctor search --fix'

const KINDS = [
  ['posts', 'post'],
  ['comments', 'comment'],
] as const

export const search: Check = {
  isDeep: true,
  needs: 'data',
  async look({ app }, onProgress) {
    const { db } = await app()
    const pending = await pendingKinds(db)
    if (pending.length > 0)
      return {
        findings: [
          {
            severity: 'warning',
            evidence: `Search does not find all ${pending.join(' and ')} yet: a running server is still indexing them.`,
            fix: FIX,
            mend: {
              id: 'search',
              does: 'index them now, and mend what is missing or wrong',
              run: async (onProgress) => {
                await backfill(db)
                await mend(db, onProgress)
              },
            },
          },
        ],
      }
    const findings: Finding[] = []
    for (const [at, [kind, noun]] of KINDS.entries()) {
      const [missing, wrong, left] = [
        await unindexed(db, kind),
        await misindexed(db, kind, { onProgress: partOf(at, onProgress) }),
        await leftovers(db, kind),
      ]
      const evidence = [
        ...(missing > 0 ? [`Search does not find ${counted(missing, noun)}: their words are not in the index.`] : []),
        ...(wrong > 0 ? [`Search finds ${counted(wrong, noun)} by other words than they have.`] : []),
        ...(left > 0 ? [`The search index has words of ${counted(left, `deleted ${noun}`)}.`] : []),
      ]
      if (evidence.length > 0)
        findings.push({
          severity: 'error',
          evidence: evidence.join(' '),
          fix: FIX,
          mend: { id: 'search', does: 'put into the search index what is missing or wrong, and take out what is gone', run: (told) => mend(db, told) }, // prettier-ignore
        })
    }
    return findings.length > 0 ? { findings } : { evidence: 'Search finds all posts and comments.' }
  },
}

async function mend(db: Db, onProgress?: OnProgress): Promise<void> {
  await indexMissing(db)
  for (const [at, [kind]] of KINDS.entries()) {
    await dropLeftovers(db, kind)
    await misindexed(db, kind, { mends: true, onProgress: partOf(at, onProgress) })
  }
}

/** Maps the progress of one kind to that of the whole check. */
const partOf =
  (at: number, onProgress?: OnProgress): OnProgress =>
  (part) =>
    onProgress?.((at + part) / KINDS.length)
