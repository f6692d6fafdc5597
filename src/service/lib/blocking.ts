import { endSessions, lockUser, setBlocked } from '../../db/users.js'
import type { UserRow } from '../../db/tables.js'
import type { Change } from './change.js'
import { userNotFound } from './people.js'
import { holderOf, userPolicy } from './userpolicy.js'

const BLOCKING = {
  block: { isBlocked: 1, action: 'user.blocked' },
  unblock: { isBlocked: 0, action: 'user.unblocked' },
} as const

/**
 * Blocks or unblocks a user in a transaction. The rule is asserted while the row is locked, and before anything changes.
 * Succeeds without an event where nothing changes.
 */
export async function blockIn(
  { db, actor, now, record }: Change,
  userId: string,
  verb: keyof typeof BLOCKING,
): Promise<{ user: UserRow; isChanged: boolean }> {
  const user = await lockUser(db, userId)
  if (!user) throw userNotFound()
  userPolicy.assert(verb, actor, await holderOf(db, user))
  const { isBlocked, action } = BLOCKING[verb]
  const changed = await setBlocked(db, userId, isBlocked, now().toISOString())
  if (!changed) return { user, isChanged: false }
  record(action, userId)
  if (isBlocked) await endSessions(db, userId)
  return { user: changed, isChanged: true }
}
