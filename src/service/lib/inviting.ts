import { insertInvitation } from '../../db/invitations.js'
import type { UserRow } from '../../db/tables.js'
import { assignEveryone } from '../../db/users.js'
import type { Change } from './change.js'
import { INVITATION_HOURS, queueLetter } from './mailings.js'
import { insertPerson, type newUser } from './people.js'

/** When an invitation is sent, and when its link stops working. */
export function timesOf({ now }: Pick<Change, 'now'>): { sentAt: string; expiresAt: string } {
  const sentAt = now()
  const expiresAt = new Date(sentAt.getTime() + INVITATION_HOURS * 60 * 60 * 1000)
  return { sentAt: sentAt.toISOString(), expiresAt: expiresAt.toISOString() }
}

/** Creates the account of somebody who is invited, and mails them a link to choose a password. */
export async function createInvited(tx: Change, person: ReturnType<typeof newUser>): Promise<UserRow> {
  const user = await insertPerson(tx.db, person)
  const { userId, createdAt } = user
  await assignEveryone(tx.db, userId)
  await insertInvitation(tx.db, { userId, invitedBy: tx.actor.userId, createdAt, ...timesOf(tx), acceptedAt: null })
  await queueLetter(tx, 'invitation', user)
  tx.record('user.created', userId)
  return user
}
