import { mentionsIn } from '../../core/markdown/index.js'
import { transaction } from '../../db/connect.js'
import { insertMentions, mentionedIn, namedPeople } from '../../db/mentions.js'
import { insertNotifications } from '../../db/notifications.js'
import type { Db, NotificationRow } from '../../db/tables.js'

/** A text that may mention people. */
export interface Text {
  postId: string
  /** Null: the text of the post itself. */
  commentId: string | null
  markdown: string
  authorId: string | null
}

/** Those whom a text mentions for the first time, without its author. */
export async function newlyMentioned(db: Db, { postId, commentId, markdown, authorId }: Text): Promise<string[]> {
  const names = await mentionsIn(markdown)
  if (names.length === 0) return []
  const people = (await namedPeople(db, names)).filter((id) => id !== authorId)
  const known = await mentionedIn(db, commentId ?? postId, people)
  return people.filter((id) => !known.has(id))
}

/**
 * Records that a text mentions people, who follow the post from now on, and tells some of them: in one transaction, so that
 * nobody is told twice or forgotten where it is repeated.
 */
export const storeMentions = (
  db: Db,
  { postId, commentId }: Pick<Text, 'postId' | 'commentId'>,
  { readers, told, at }: { readers: readonly string[]; told: readonly NotificationRow[]; at: string },
): Promise<void> =>
  transaction(db, async (inside) => {
    const rows = readers.map((userId) => ({ textId: commentId ?? postId, userId, postId, commentId, createdAt: at }))
    const fresh = await insertMentions(inside, rows)
    const rest = told.filter(({ userId }) => fresh.has(userId))
    if (rest.length > 0) await insertNotifications(inside, rest)
  })
