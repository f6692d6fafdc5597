import type { Lock, Posting } from '../../core/boardrules.js'
import { closedTo, refusalToPost } from '../../service/lib/taking.js'
import type { View } from '../kit/page.js'

/** What closes a post. */
export interface Closable {
  locked?: Lock
  is_archived?: boolean
}

const takes = ({ actor }: View, what: 'comments' | 'votes', { locked, is_archived: isArchived = false }: Closable) =>
  closedTo(actor, what, { isArchived, locked }) === undefined

/** Whether a post takes comments of whoever reads the page. */
export const takesComments = (view: View, post: Closable): boolean => takes(view, 'comments', post)

/** Whether it takes their votes. */
export const takesVotes = (view: View, post: Closable): boolean => takes(view, 'votes', post)

/** Whether a board takes their posts. */
export const takesPosts = (
  { actor }: View,
  { archived = false, posting }: { archived?: boolean; posting?: Posting },
): boolean => refusalToPost(actor, { isArchived: archived, posting }) === undefined
