import { COUNTED } from '../../service/moderation.js'
import { MOST_UNREAD } from '../../service/notifications.js'
import type { View } from '../kit/page.js'

/** The number of waiting items, such as 7 or 99+. */
export const waitsText = (view: View, count: number): string => cappedText(view, count, COUNTED)

/** A number that is counted up to `most`. */
const cappedText = ({ words }: View, count: number, most: number): string =>
  count < most ? words.number(count) : `${words.number(most - 1)}+`

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

/** The number beside the bell. Nothing is shown for 0. */
export const Unread = ({ view }: { view: View }) =>
  view.unread === 0 ? null : (
    <>
      <span class="count" aria-hidden="true">
        {cappedText(view, view.unread, MOST_UNREAD)}
      </span>
      <span class="hidden">{view.t('notifications.count', { count: view.unread })}</span>
    </>
  )
