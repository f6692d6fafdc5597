import { putBack, type Item } from '../../db/moderation.js'
import type { Change } from './change.js'
import { viewerOf } from './sessions.js'

/** What the team kept is looked at again once somebody else changes its text. */
export async function reviewAgain(tx: Change, item: Item): Promise<void> {
  const userId = await viewerOf(tx)
  if (userId !== null) await putBack(tx.db, item, { userId, editedAt: tx.now().toISOString() })
}
