import { links } from '../../core/pagelinks.js'
import { searchWords } from '../../core/search/words.js'
import * as follows from '../../service/boardfollows.js'
import * as service from '../../service/boards.js'
import * as posts from '../../service/postlists.js'
import { pageNumber, withQuery } from '../kit/addresses.js'
import { EVERY, filterOf, postsOf } from '../parts/lists.js'
import { action, page } from '../kit/page.js'
import { BoardSwatch } from '../parts/chip.js'
import { Empty, Unmatched } from '../parts/empty.js'
import { Form } from '../parts/form.js'
import { Filters } from '../parts/filters.js'
import { Head } from '../parts/head.js'
import { Icon } from '../parts/icon.js'
import { Pager } from '../parts/pager.js'
import { PostList } from '../parts/postlist.js'
import { SearchForm } from '../parts/search.js'
import { takesPosts } from '../parts/taking.js'

export const boards = page({
  cache: 'actor',
  load: (view) =>
    view.call(service.list, {
      limit: 50,
      page: pageNumber(view),
      created: 'asc',
      visibility: EVERY,
      ...(view.query.q && { query: filterOf(view) }),
    }),
  title: ({ t }) => t('nav.boards'),
  head: (view) => (
    <Head view={view} path={withQuery('/boards', { page: view.query.page })} title={view.t('nav.boards')} />
  ),
  show(view, { boards: places, total_pages: pages }) {
    const { t, href, query } = view
    return (
      <>
        <h1>{t('nav.boards')}</h1>
        {pages > 1 || query.q ? <SearchForm view={view} to="/boards" label={t('board.find')} text={query.q} /> : null}
        {places.length === 0 && query.q ? (
          <Empty title={t('board.none', { text: filterOf(view) })}>
            <p>{t('board.noneNext')}</p>
            <a class="button primary" href={href('/boards')}>
              {t('filter.allBoards')}
            </a>
          </Empty>
        ) : places.length === 0 ? (
          <Empty title={t('empty.boards')}>
            <p>{t('empty.boardsNext')}</p>
            <a class="button primary" href={href(links.newPost)}>
              {t('post.new')}
            </a>
          </Empty>
        ) : (
          <ul class="boards">
            {places.map((board) => (
              <li>
                <a href={href(links.board(board.url))}>
                  <BoardSwatch board={board} />
                  <bdi class="name" title={board.name}>
                    {board.name}
                  </bdi>
                  {board.display ? null : (
                    <span class="mark">
                      <Icon name="lock" /> {t('mark.private')}
                    </span>
                  )}
                  {board.archived ? <span class="mark">{t('mark.archived')}</span> : null}
                  <span class="soft" data-live={`board-${board.url}`}>
                    {t('board.posts', { count: Number(board.post_count) })}
                  </span>
                  {board.description ? (
                    <bdi class="excerpt" title={board.description}>
                      {board.description}
                    </bdi>
                  ) : null}
                </a>
              </li>
            ))}
          </ul>
        )}
        <Pager view={view} page={pageNumber(view)} pages={pages} />
      </>
    )
  },
})

/** Pinned posts that a board shows above the others, the newest. */
const PINNED = 10

export const board = page({
  cache: 'actor',
  async load(view) {
    const { board: shown } = await view.call(service.show, { url: view.params.url })
    const isFollowed = view.viewer !== null && (await view.call(follows.followed, { url: shown.boardId })).following
    const within = { boardId: [shown.boardId] }
    const list = await postsOf(view, { ...within, usual: shown.sort })
    const isFirst =
      pageNumber(view) === 1 && !['q', 'by', 'following', 'sort', 'status'].some((name) => view.query[name])
    const { posts: pinned } = isFirst ? await view.call(posts.list, { ...within, pinned: true, limit: PINNED, votes: false }) : { posts: [] } // prettier-ignore
    return { board: shown, isFollowed, list, pinned }
  },
  title: (_view, { board: { name } }) => name,
  head: (view, { board: { name, url } }) => (
    <Head
      view={view}
      path={withQuery(links.board(url), { status: view.query.status, page: view.query.page })}
      title={name}
      feed={links.feed(links.board(url))}
    />
  ),
  show(view, { board: shown, isFollowed, list, pinned }) {
    const { t, href } = view
    const isOpen = takesPosts(view, shown)
    const others = list.posts.filter(({ postId }) => !pinned.some((post) => post.postId === postId))
    const write = href(withQuery(links.newPost, { board: shown.url }))
    return (
      <>
        <div class="top">
          <div>
            <h1>
              <BoardSwatch board={shown} /> <bdi>{shown.name}</bdi>
            </h1>
            <p class="soft">
              {shown.display ? null : (
                <span class="mark">
                  <Icon name="lock" /> {t('mark.private')}
                </span>
              )}{' '}
              {shown.archived ? <span class="mark">{t('mark.archived')}</span> : null}{' '}
              {t('board.posts', { count: Number(shown.post_count) })}
            </p>
            {shown.description ? (
              <p>
                <bdi>{shown.description}</bdi>
              </p>
            ) : null}
            {view.viewer ? (
              <Form view={view} to={`${links.board(shown.url)}/${isFollowed ? 'unfollow' : 'follow'}`}>
                <button type="submit" class="link">
                  {t(isFollowed ? 'follow.stop' : 'follow.start')}
                </button>
              </Form>
            ) : null}
          </div>
          {isOpen ? (
            <a class="button primary" href={write}>
              {t('post.new')}
            </a>
          ) : null}
        </div>
        <Filters view={view} count={list.total_count} state={list.state} usual={shown.sort} />
        {pinned.length > 0 ? <PostList view={view} posts={pinned} without="board" /> : null}
        {others.length > 0 ? (
          <PostList view={view} posts={others} words={searchWords(filterOf(view))} without="board" />
        ) : pinned.length > 0 ? null : view.query.q || view.query.by || view.query.following || view.query.status ? (
          <Unmatched view={view} all={withQuery(view.path, { status: 'all' })} board={shown.url} />
        ) : (
          <Empty title={t('empty.posts')}>
            {isOpen ? (
              <>
                <p>{t('empty.postsNext')}</p>
                <a class="button primary" href={write}>
                  {t('post.new')}
                </a>
              </>
            ) : null}
          </Empty>
        )}
        <Pager view={view} page={pageNumber(view)} pages={list.total_pages} isCapped={list.is_capped} />
      </>
    )
  },
})

const following = (operation: typeof follows.follow, flash: 'boardFollowed' | 'boardUnfollowed') =>
  action({
    operation,
    input: ({ params }) => ({ url: params.url }),
    done: ({ params: { url = '' } }) => ({ to: links.board(url), flash }),
  })

export const follow = following(follows.follow, 'boardFollowed')
export const unfollow = following(follows.unfollow, 'boardUnfollowed')
