import { COUNTED } from '../../service/moderation.js'
import type { View } from '../kit/page.js'

/** How many wait for a decision, as far as it is counted. */
export const waitsText = ({ words }: View, count: number): string =>
  count < COUNTED ? words.number(count) : `${words.number(COUNTED - 1)}+`

/** Beside a link to the inbox: how many wait, where any do. */
export const Waits = ({ view }: { view: View }) =>
  view.waiting === undefined || view.waiting === 0 ? null : (
    <>
      <span class="count" aria-hidden="true">
        {waitsText(view, view.waiting)}
      </span>
      <span class="hidden">{view.t('inbox.count', { count: view.waiting })}</span>
    </>
  )
