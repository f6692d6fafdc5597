import { LOCKS, type Lock } from '../../core/boardrules.js'
import type { View } from '../kit/page.js'
import { Check, Choice } from './form.js'

/** Whether a post stays on top of its board, and what it takes no more. */
export const PostRules = ({
  view,
  pinned = false,
  locked,
  isSent = view.form.values.title !== undefined,
}: {
  view: View
  pinned?: boolean | undefined
  locked: Lock
  /** Whether a failed submission is shown again. */
  isSent?: boolean
}) => (
  <>
    <Check view={view} name="pinned" label={view.t('post.pinned')} checked={pinned} isSent={isSent} />
    <Choice
      view={view}
      name="locked"
      label={view.t('post.locked')}
      value={locked}
      options={LOCKS.map((each) => ({ value: each, text: view.t(`lock.${each}`) }))}
    />
  </>
)
