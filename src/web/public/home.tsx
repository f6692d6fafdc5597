import { links } from '../../core/pagelinks.js'
import { searchWords } from '../../core/search/words.js'
import * as posts from '../../service/posts.js'
import * as site from '../../service/site.js'
import { pageNumber, withQuery } from '../kit/addresses.js'
import { assertTidy, boardsWith, filterOf, postsOf, roadmapsWith } from '../parts/lists.js'
import { page, Redirect } from '../kit/page.js'
import type { Download } from '../kit/routes.js'
import { Empty, Unmatched } from '../parts/empty.js'
import { Filters } from '../parts/filters.js'
import { Head } from '../parts/head.js'
import { Pager } from '../parts/pager.js'
import { PostList } from '../parts/postlist.js'
import { askedOf } from '../parts/postquery.js'

/** All posts, by board and roadmap. */
export const home = page({
  cache: 'actor',
  async load(view) {
    assertTidy(view)
    const { board, roadmap, by, following } = view.query
    if ((by === 'me' || following === 'true') && !view.viewer)
      throw new Redirect(withQuery('/login', { redirect: view.url }))
    const [places, stages] = [await boardsWith(view, board), await roadmapsWith(view, roadmap)]
    const chosen = places.rows.find(({ url, boardId }) => board === url || board === boardId)
    const stage = stages.rows.find(({ url, id }) => roadmap === url || roadmap === id)
    const list = await postsOf(view, {
      ...(chosen && { boardId: [chosen.boardId] }),
      ...(stage && { roadmapId: stage.id }),
    })
    if (list.total_count === 0 && places.total === 0 && !(await view.call(site.status, {})).is_setup)
      throw new Redirect('/setup/welcome')
    return { list, boards: places, roadmaps: stages }
  },
  title: ({ settings }) => settings.title,
  head: (view) => <Head view={view} path={canonicalOf(view.query)} title={view.settings.title} feed="/feed.atom" />,
  show(view, { list, boards: places, roadmaps: stages }) {
    const { t, settings, href, query } = view
    const isFiltered = Boolean(query.board ?? query.roadmap ?? query.by ?? query.following ?? query.q ?? query.status)
    return (
      <>
        <div class="top">
          <div>
            <h1 class="hidden">
              <bdi>{settings.title}</bdi>
            </h1>
            {settings.description ? (
              <p class="soft">
                <bdi>{settings.description}</bdi>
              </p>
            ) : null}
          </div>
          <a class="button primary" href={href(withQuery(links.newPost, { board: query.board }))}>
            {t('post.new')}
          </a>
        </div>
        {isFiltered || list.posts.length > 0 ? (
          <Filters view={view} count={list.total_count} boards={places} roadmaps={stages} state={list.state} />
        ) : null}
        {list.posts.length > 0 ? (
          <PostList view={view} posts={list.posts} words={searchWords(filterOf(view))} />
        ) : isFiltered ? (
          <Unmatched view={view} all="/?status=all" />
        ) : (
          <Empty title={t('empty.posts')}>
            <p>{t('empty.postsNext')}</p>
            <a class="button primary" href={href(links.newPost)}>
              {t('post.new')}
            </a>
          </Empty>
        )}
        <Pager view={view} page={pageNumber(view)} pages={list.total_pages} isCapped={list.is_capped} />
        {view.can('post:update') && list.posts.length > 0 ? (
          <p class="next csv">
            <a
              href={href(
                withQuery(links.postsFile, {
                  ...query,
                  page: undefined,
                  size: undefined,
                  done: undefined,
                  status: undefined,
                  kind: list.kinds && [...list.kinds],
                }),
              )}
            >
              {t('list.csv')}
            </a>
          </p>
        ) : null}
      </>
    )
  },
})

/** The posts of all pages of the list at this address. */
export const postsFile: Download = {
  operation: posts.downloadAll,
  input(view) {
    // In the order of time, as that is the one that votes do not change meanwhile
    const { sort: _sort, ...filter } = askedOf(view)
    return filter
  },
}

/** The canonical address keeps the page and the status, but no other filter. */
const canonicalOf = ({ board, page: number, status }: Record<string, string>): string =>
  withQuery(board ? links.board(board) : '/', { status, page: number === '1' ? undefined : number })
