import type { Move } from '../../service/posthistory.js'
import type { View } from '../lib/page.js'
import { Swatch } from './chip.js'
import { Time } from './time.js'

/** Through which roadmaps and boards a post went, oldest first. */
export const History = ({ view, moves }: { view: View; moves: readonly Move[] }) =>
  moves.length === 0 ? null : (
    <details class="history">
      <summary>{view.t('history.title')}</summary>
      <ol>
        {moves.toReversed().map(({ kind, from, to, movedAt }) => (
          <li>
            <Time view={view} at={movedAt} />
            {to ? (
              <span>
                <Swatch color={to.color} /> <bdi>{to.name}</bdi>
              </span>
            ) : (
              <span>{view.t(kind === 'roadmap' ? 'post.noRoadmap' : 'post.noBoard')}</span>
            )}
            {from ? (
              <span class="soft">
                {view.t('history.from')} <bdi>{from.name}</bdi>
              </span>
            ) : null}
          </li>
        ))}
      </ol>
    </details>
  )
