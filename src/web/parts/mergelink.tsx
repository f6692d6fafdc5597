import type { MergeReason } from '../../core/mergereasons.js'
import { links } from '../../core/pagelinks.js'
import type { DashboardPost } from '../../service/lib/postshapes.js'
import type { View } from '../kit/page.js'

/** Why a post cannot be merged yet. */
export const mergeRefusal = ({ t }: View, reason: MergeReason): string => t(`error.MERGE_REFUSED.${reason}`)

/** Leads to the merge of a post, or says what is to be decided first. Nothing for those who may not merge. */
export function MergeLink({
  view,
  post: { slug, may, merge_refused: reason },
  search = '',
}: {
  view: View
  post: DashboardPost
  /** The query of the address of the merge, such as `?from=inbox`. */
  search?: string
}) {
  const { t, href, words } = view
  if (may.includes('merge')) return <a href={href(`${links.post(slug)}/merge${search}`)}>{t('action.merge')}</a>
  return reason ? <span class="soft">{words.labelled(t('action.merge'), mergeRefusal(view, reason))}</span> : null
}
