import { COUNTED } from '../../service/moderation.js'
import type { View } from '../kit/page.js'

/** The number of waiting items, such as 7 or 99+. */
export const waitsText = ({ words }: View, count: number): string =>
  count < COUNTED ? words.number(count) : `${words.number(COUNTED - 1)}+`

/** The number beside a link to the inbox. Nothing is shown for 0. */
export const Waits = ({ view }: { view: View }) =>
  view.waiting === undefined || view.waiting === 0 ? null : (
    <>
      <span class="count" aria-hidden="true">
        {waitsText(view, view.waiting)}
      </span>
      <span class="hidden">{view.t('inbox.count', { count: view.waiting })}</span>
    </>
  )
