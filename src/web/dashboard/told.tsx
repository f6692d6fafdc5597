import { links } from '../../core/pagelinks.js'
import * as posts from '../../service/posts.js'
import { toldPeople, type Person as Somebody } from '../../service/toldpeople.js'
import { pageNumber, withQuery } from '../kit/addresses.js'
import { page, type View } from '../kit/page.js'
import { Empty } from '../parts/empty.js'
import { WAYS } from '../parts/notificationways.js'
import { Pager } from '../parts/pager.js'
import { Person } from '../parts/person.js'
import { Table } from '../parts/table.js'
import { Time } from '../parts/time.js'
import { Top } from '../parts/top.js'

const SIZE = 50

/** Who was told of an event about a post, or who was not and why. */
export const told = page({
  cache: 'never',
  section: 'posts',
  async load(view) {
    const { post } = await view.call(posts.show, { id: view.params.slug ?? '' })
    const id = Number(view.params.event)
    const isTold = view.query.told !== 'false'
    return { post, isTold, ...(await view.call(toldPeople, { id, told: isTold, page: pageNumber(view), limit: SIZE })) }
  },
  title: ({ t }) => t('told.title'),
  show(view, { post, isTold, people, page_info: info }) {
    const { t } = view
    const back = { to: links.teamPost(post.slug), text: post.title }
    return (
      <>
        <Top view={view} title={t('told.title')} back={back} />
        <nav class="tabs" aria-label={t('told.title')}>
          <a href={view.href(view.path)} aria-current={isTold ? 'true' : undefined}>
            {t('told.yes')}
          </a>
          <a href={view.href(withQuery(view.path, { told: 'false' }))} aria-current={isTold ? undefined : 'true'}>
            {t('told.no')}
          </a>
        </nav>
        {people.length === 0 ? (
          <Empty title={t(isTold ? 'told.none' : 'told.all')} />
        ) : (
          <Table
            view={view}
            label={t(isTold ? 'told.yes' : 'told.no')}
            rows={people}
            columns={[
              { label: t('log.person'), kind: 'title', cell: (person) => <Person view={view} person={person} /> },
              isTold && { label: t('told.how'), cell: (person) => t(wayOf(person)) },
              isTold && { label: t('told.mailed'), cell: (person) => <Mailed view={view} person={person} /> },
              isTold && { label: t('told.seen'), cell: ({ read_at: at }) => (at ? <Time view={view} at={at} /> : null) }, // prettier-ignore
              !isTold && { label: t('told.reason'), cell: ({ reason }) => t(`told.why.${reason ?? 'unknown'}`) },
            ]}
          />
        )}
        <Pager view={view} page={pageNumber(view)} pages={0} hasNext={info.has_next_page} />
      </>
    )
  },
})

const wayOf = ({ page: isOnPage, mail }: Somebody) => {
  if (mail === null) return WAYS.page
  const way = mail === 'now' ? 'mail' : mail
  return isOnPage ? WAYS[`page,${way}`] : WAYS[way]
}

const Mailed = ({ view, person: { mailed_at: at, mail_due_at: due } }: { view: View; person: Somebody }) =>
  at ? <Time view={view} at={at} /> : due ? <>{view.t('told.waits')}</> : null
