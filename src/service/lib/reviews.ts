import { newId } from '../../core/ids.js'
import { putBack, type Item } from '../../db/moderation.js'
import type { Change } from './change.js'
import { viewerOf } from './sessions.js'

/** Milliseconds in which an edit leaves a new post or comment new: it waits for a look anyway. */
const NEW_MS = 24 * 60 * 60 * 1000

/**
 * What the team kept, and what it has stopped looking at as it is no longer new, waits again once somebody else changes
 * its text. `createdAt` is when it was written.
 */
export async function reviewAgain(tx: Change, item: Item, createdAt: string): Promise<void> {
  const userId = await viewerOf(tx)
  if (userId === null) return
  const now = tx.now()
  const isNew = now.getTime() - Date.parse(createdAt) < NEW_MS
  await putBack(tx.db, item, { userId, editedAt: now.toISOString(), reviewId: isNew ? undefined : newId() })
}
