import type { Audience } from '../../service/audience.js'
import type { View } from '../kit/page.js'
import { Check } from './form.js'

const WAYS = ['mail', 'digest', 'page'] as const

/** How many will be told of a new status or a message, before it is sent. */
export function WillTell({ view, audience }: { view: View; audience: Audience }) {
  const { t, words } = view
  const ways = WAYS.filter((way) => audience[way] > 0).map((way) => t(`told.${way}`, { count: audience[way] }))
  return (
    <p class="soft">
      {audience.people === 0
        ? t('update.tellsNobody')
        : t('update.tells', { count: audience.people, ways: words.list(ways) })}
    </p>
  )
}

/** For a change of which nobody is to be told. */
export const TellNobody = ({ view }: { view: View }) => (
  <Check view={view} name="quiet" label={view.t('update.quiet')} />
)
