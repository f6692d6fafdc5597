import type { Key } from '../../core/catalogue.js'
import type { Segment, segments } from '../../service/votesegments.js'
import type { View } from '../kit/page.js'
import { Foreign } from './foreign.js'

const KINDS = ['domain', 'role', 'tag'] as const satisfies readonly Segment['by'][]
const HEADS: Record<Segment['by'], Key> = {
  domain: 'voters.by.domain',
  role: 'voters.by.role',
  tag: 'voters.by.tag',
}

/** Who the voters are: a line for each domain, role and tag, with how many have it. */
export function Segments({ view, of }: { view: View; of: Awaited<ReturnType<typeof segments.run>> }) {
  const { t, words } = view
  const groups = KINDS.map((by) => ({ by, rows: of.segments.filter((each) => each.by === by) })).filter(({ rows }) =>
    rows.some(({ name }) => name !== null),
  )
  if (groups.length === 0) return null
  return (
    <details class="history">
      <summary>{t('voters.segments')}</summary>
      {of.is_capped ? <p class="soft">{t('voters.newest', { count: of.voters })}</p> : null}
      {groups.map(({ by, rows }) => (
        <table class="segments">
          <thead>
            <tr>
              <th scope="col">{t(HEADS[by])}</th>
              <th scope="col" class="number">
                {t('posts.votes')}
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, votes }) => (
              <tr>
                <td>
                  {name === null ? (
                    <span class="soft">{t(`voters.noSegment.${by}`)}</span>
                  ) : by === 'domain' ? (
                    <Foreign text={name} />
                  ) : (
                    <bdi>{name}</bdi>
                  )}
                </td>
                <td class="number">{words.number(votes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
    </details>
  )
}
