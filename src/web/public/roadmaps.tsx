import { links } from '../../core/pagelinks.js'
import * as posts from '../../service/posts.js'
import * as service from '../../service/roadmaps.js'
import { pageNumber, withParameters, withQuery } from '../kit/addresses.js'
import { roadmapScript } from '../kit/assets.js'
import { EVERY, postsOf } from '../parts/lists.js'
import { page } from '../kit/page.js'
import { RoadmapChip, StatusSwatch } from '../parts/chip.js'
import { Count } from '../parts/count.js'
import { Empty, Unmatched } from '../parts/empty.js'
import { Filters } from '../parts/filters.js'
import { Head } from '../parts/head.js'
import { Icon } from '../parts/icon.js'
import { Pager } from '../parts/pager.js'
import { PostList } from '../parts/postlist.js'

/** Posts in a column before its link to the next ones. */
const COLUMN = 10

export const roadmaps = page({
  cache: 'actor',
  async load(view) {
    const { roadmaps: stages } = await view.call(service.list, { limit: 20, visibility: EVERY })
    const declined = stages.filter(({ kind }) => kind === 'declined')
    const columns = []
    for (const roadmap of stages.filter((stage) => stage.kind !== 'declined'))
      columns.push({ roadmap, list: await view.call(posts.list, { roadmapId: roadmap.id, sort: 'votes', limit: COLUMN, page: 1, votes: false }) }) // prettier-ignore
    return { columns, declined }
  },
  title: ({ t }) => t('nav.roadmaps'),
  head: (view) => <Head view={view} path="/roadmaps" title={view.t('nav.roadmaps')} />,
  show(view, { columns, declined }) {
    const { t, href } = view
    const moves = view.can('post:update')
    if (columns.length + declined.length === 0)
      return (
        <>
          <h1>{t('nav.roadmaps')}</h1>
          <Empty title={t('empty.roadmaps')}>
            <p>{t('empty.roadmapsNext')}</p>
            <a class="button primary" href={href('/')}>
              {t('empty.showAll')}
            </a>
          </Empty>
        </>
      )
    return (
      <>
        <h1>{t('nav.roadmaps')}</h1>
        <div class="columns" data-to={moves ? '/roadmaps' : undefined}>
          {columns.map(({ roadmap, list }) => (
            <section
              class="column"
              aria-labelledby={`roadmap-${roadmap.id}`}
              data-roadmap={moves ? roadmap.url : undefined}
            >
              <h2 id={`roadmap-${roadmap.id}`}>
                <StatusSwatch {...roadmap} />
                <a href={href(links.roadmap(roadmap.url))}>
                  <bdi>{roadmap.name}</bdi>
                </a>
                {roadmap.display ? null : (
                  <span class="mark">
                    <Icon name="lock" /> {t('mark.private')}
                  </span>
                )}
                <span class="soft count">
                  <Count view={view} of={list.total_count} />
                </span>
              </h2>
              {list.posts.length > 0 ? (
                <PostList
                  view={view}
                  posts={list.posts}
                  without="roadmap"
                  isShort
                  movedFrom={moves ? '/roadmaps' : undefined}
                />
              ) : (
                <p class="soft">{t('roadmap.empty')}</p>
              )}
              {list.total_pages > 1 ? (
                <a
                  class="button plain more"
                  data-more=""
                  href={href(withQuery(links.roadmap(roadmap.url), { sort: 'votes', size: COLUMN, page: 2 }))}
                >
                  {t('roadmap.more')}
                </a>
              ) : null}
            </section>
          ))}
        </div>
        {declined.length > 0 ? (
          <p class="facts">
            {t('roadmap.declined')}
            {declined.map((each) => (
              <span data-roadmap={moves ? each.url : undefined}>
                <RoadmapChip view={view} roadmap={each} />
              </span>
            ))}
          </p>
        ) : null}
        {moves ? <script src={href(roadmapScript.path)} type="module" /> : null}
      </>
    )
  },
})

export const roadmap = page({
  cache: 'actor',
  async load(view) {
    const { roadmap: shown } = await view.call(service.show, { url: view.params.url })
    return { roadmap: shown, list: await postsOf(view, { roadmapId: shown.id }) }
  },
  title: (_view, { roadmap: { name } }) => name,
  head: (view, { roadmap: { name, url } }) => (
    <Head view={view} path={withQuery(links.roadmap(url), { page: view.query.page })} title={name} />
  ),
  show(view, { roadmap: shown, list }) {
    const { t } = view
    return (
      <>
        <h1>
          <StatusSwatch {...shown} /> <bdi>{shown.name}</bdi>
        </h1>
        <p class="soft">
          <a href={view.href('/roadmaps')}>{t('roadmap.all')}</a>
        </p>
        <Filters view={view} count={list.total_count} />
        {list.posts.length > 0 ? (
          <PostList
            view={view}
            posts={list.posts}
            without="roadmap"
            movedFrom={view.can('post:update') ? withParameters(view.url, {}) : undefined}
          />
        ) : view.query.q || view.query.by || view.query.following ? (
          <Unmatched view={view} all={view.path} />
        ) : (
          <Empty title={t('roadmap.empty')}>
            <p>
              <a href={view.href('/')}>{t('empty.showAll')}</a>
            </p>
          </Empty>
        )}
        <Pager view={view} page={pageNumber(view)} pages={list.total_pages} isCapped={list.is_capped} />
      </>
    )
  },
})
