import type { Item } from '../../service/moderation.js'
import type { View } from '../kit/page.js'
import { Time } from './time.js'

/** Who reported a post or comment, and why. */
export const Reports = ({ view, reports }: { view: View; reports: Item['reports'] }) =>
  reports.length === 0 ? null : (
    <ul class="reports">
      {reports.map(({ person, reason, created_at: at }) => (
        <li>
          {view.t('inbox.reportedBy', { name: person.name || person.username })}
          {reason === null ? null : (
            <>
              : <q dir="auto">{reason}</q>
            </>
          )}{' '}
          <Time view={view} at={at} />
        </li>
      ))}
    </ul>
  )

/** What tells a newcomer, or a robot, from a person of the site. */
export const AuthorFacts = ({ view, account }: { view: View; account: Item['author_account'] }) =>
  account === null ? null : (
    <>
      <span>
        {view.t('author.joined')} <Time view={view} at={account.created_at} />
      </span>
      <span>{view.t('user.posts', { count: account.posts })}</span>
      {account.is_verified ? null : <span class="mark">{view.t('user.state.unverified')}</span>}
    </>
  )
