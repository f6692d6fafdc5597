import type { Lock, Posting } from '../../core/boardrules.js'
import { closedTo, refusalToPost } from '../../service/lib/taking.js'
import type { View } from '../kit/page.js'

/** The state that can close a post. */
export interface Closable {
  locked?: Lock
  is_archived?: boolean
}

const takes = ({ actor }: View, what: 'comments' | 'votes', { locked, is_archived: isArchived = false }: Closable) =>
  closedTo(actor, what, { isArchived, locked }) === undefined

/** Whether the reader can comment on a post. */
export const takesComments = (view: View, post: Closable): boolean => takes(view, 'comments', post)

/** Whether the reader can vote for a post. */
export const takesVotes = (view: View, post: Closable): boolean => takes(view, 'votes', post)

/** Whether the reader can post on a board. */
export const takesPosts = (
  { actor }: View,
  { archived = false, posting }: { archived?: boolean; posting?: Posting },
): boolean => refusalToPost(actor, { isArchived: archived, posting }) === undefined
