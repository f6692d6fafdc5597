import type { Text } from '../../core/markdown/index.js'
import type { DashboardPost } from '../../service/lib/postshapes.js'
import type { View } from '../kit/page.js'

/** Comments on a page. */
export const COMMENTS = 50

/** The text of a post for its own page. Its headings are below the title. */
export const bodyOf = ({ contentMarkdown }: DashboardPost): Text => ({ markdown: contentMarkdown ?? '', level: 2 })

/** What a deletion of the post also deletes. */
export function lossOf(
  { t }: View,
  { votesCount: votes, votes_hidden: isHidden }: DashboardPost['voters'],
  written: number,
): string {
  if (isHidden) return t('post.deleteHidden')
  if (votes === 0) return t(written === 0 ? 'comment.deleteLoss' : 'post.deleteComments')
  return t(written === 0 ? 'post.deleteVotes' : 'post.deleteLoss', { count: votes })
}
