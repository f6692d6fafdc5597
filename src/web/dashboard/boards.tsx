import { links } from '../../core/pagelinks.js'
import * as service from '../../service/boards.js'
import * as posts from '../../service/posts.js'
import { pageNumber } from '../kit/addresses.js'
import { action, page, type View } from '../kit/page.js'
import { BoardSwatch } from '../parts/chip.js'
import { Empty, Unmatched } from '../parts/empty.js'
import { Check, Choice, Form, Submit, Summary } from '../parts/form.js'
import { assertTidy, boardsWith, EVERY, filterOf } from '../parts/lists.js'
import { Pager } from '../parts/pager.js'
import { BoardRules } from '../parts/boardrules.js'
import { PlaceFields } from '../parts/placefields.js'
import { SearchForm } from '../parts/search.js'
import { Table } from '../parts/table.js'
import { Top } from '../parts/top.js'
import { Version } from '../parts/version.js'

const HOME = '/dashboard/boards'

export const boards = page({
  cache: 'actor',
  section: 'boards',
  load(view) {
    assertTidy(view)
    return view.call(service.list, {
      limit: 50,
      page: pageNumber(view),
      created: 'asc',
      visibility: EVERY,
      ...(view.query.q && { query: filterOf(view) }),
    })
  },
  title: ({ t }) => t('nav.boards'),
  show(view, { boards: rows, total_count: total, total_pages: pages }) {
    const { t, href, query } = view
    return (
      <>
        <Top view={view} title={t('nav.boards')} count={t('board.count', { count: total })}>
          {view.may(service.create) ? (
            <a class="button primary" href={href(`${HOME}/new`)} data-key="a">
              {t('board.new')}
            </a>
          ) : null}
        </Top>
        {pages > 1 || query.q ? <SearchForm view={view} to={HOME} label={t('board.find')} text={query.q} /> : null}
        {rows.length > 0 ? (
          <Table
            view={view}
            label={t('nav.boards')}
            rows={rows}
            columns={[
              {
                label: t('field.name'),
                kind: 'title',
                cell: (board) => (
                  <>
                    <BoardSwatch board={board} />{' '}
                    <a
                      href={href(
                        board.may.includes('update') ? links.boardForm(board.url, 'settings') : links.board(board.url),
                      )}
                    >
                      <bdi>{board.name}</bdi>
                    </a>
                  </>
                ),
              },
              { label: t('nav.posts'), kind: 'number', cell: (board) => <PostsOf view={view} board={board} /> },
              { label: t('place.shown'), cell: (board) => t(board.display ? 'place.public' : 'mark.private') },
              { label: t('board.posting'), cell: (board) => t(board.archived ? 'mark.archived' : `posting.${board.posting ?? 'everyone'}`) }, // prettier-ignore
              { label: t('board.voters'), cell: (board) => t(board.view_voters ? 'place.yes' : 'place.no') },
            ]}
          />
        ) : query.q ? (
          <Unmatched view={view} all={HOME} />
        ) : (
          <Empty title={t('board.first')}>
            <p>{t('board.firstNext')}</p>
          </Empty>
        )}
        <Pager view={view} page={pageNumber(view)} pages={pages} />
      </>
    )
  },
})

const PostsOf = ({ view, board }: { view: View; board: service.Board }) => (
  <a href={view.href(links.board(board.url))}>{view.words.number(Number(board.post_count))}</a>
)

export const newBoard = page({
  cache: 'never',
  section: 'boards',
  of: service.create,
  load: async () => ({}),
  title: ({ t }) => t('board.new'),
  show: (view) =>
    <BoardForm view={view} of={service.create} to={`${HOME}/new`} title={view.t('board.new')} action={view.t('board.create')} />, // prettier-ignore
})

function BoardForm({ view, of, to, title, action: verb, board, version }: BoardFormProps) {
  const { t } = view
  return (
    <>
      <Top view={view} title={title} back={{ to: HOME, text: t('nav.boards') }} />
      <Summary view={view} />
      <Form view={view} to={to} class="settings-form">
        {board ? <Version view={view} version={version} fresh={links.boardForm(board.url, 'settings')} /> : null}
        <PlaceFields view={view} of={of} place={board} path="/boards/" />
        <Check
          view={view}
          name="view_voters"
          label={t('board.votersHint')}
          checked={board?.view_voters ?? true}
          isSent={view.form.values.name !== undefined}
        />
        <BoardRules view={view} of={of} board={board} />
        <div class="buttons">
          <Submit>{verb}</Submit>
          {board?.may.includes('delete') ? (
            <a class="danger" href={view.href(links.boardForm(board.url, 'delete'))}>
              {t('board.delete')}
            </a>
          ) : null}
        </div>
      </Form>
    </>
  )
}

interface BoardFormProps {
  view: View
  of: typeof service.create | typeof service.update
  to: string
  title: string
  action: string
  board?: service.Board
  version?: string
}

const shownAt = (view: View) => view.call(service.show, { url: view.params.url })
const boardAt = async (view: View) => (await shownAt(view)).board

export const boardSettings = page({
  cache: 'actor',
  section: 'boards',
  of: service.update,
  load: shownAt,
  title: (_view, { board: { name } }) => name,
  show: (view, { board, version }) => (
    <BoardForm
      view={view}
      of={service.update}
      to={links.boardForm(board.boardId, 'settings')} // the url may change in the meantime
      title={board.name}
      action={view.t('form.save')}
      board={board}
      version={version}
    />
  ),
})

/** Says what stays, and offers to move it first. */
export const deleteBoard = page({
  cache: 'actor',
  section: 'boards',
  of: service.remove,
  async load(view) {
    const board = await boardAt(view)
    const { rows } = view.may(posts.update) ? await boardsWith(view, undefined, '', { archived: true }) : { rows: [] }
    return { board, others: rows.filter(({ boardId }) => boardId !== board.boardId) }
  },
  title: ({ t }, { board: { name } }) => t('board.deleteTitle', { name }),
  show(view, { board, others }) {
    const { t, href } = view
    const count = Number(board.post_count)
    return (
      <div class="narrow">
        <h1>{t('board.deleteTitle', { name: board.name })}</h1>
        <Summary view={view} />
        <p>{t(board.display || count === 0 ? 'board.deleteLoss' : 'board.deleteShows', { count })}</p>
        <Form view={view} to={links.boardForm(board.url, 'delete')}>
          {count > 0 && others.length > 0 ? (
            <Choice
              view={view}
              name="moveTo"
              label={t('board.moveTo')}
              options={[
                { value: '', text: t('post.noBoard') },
                ...others.map(({ url, name }) => ({ value: url, text: name })),
              ]}
            />
          ) : null}
          <div class="buttons">
            <Submit kind="danger">{t('board.delete')}</Submit>
            <a class="button plain" href={href(links.boardForm(board.url, 'settings'))}>
              {t('form.cancel')}
            </a>
          </div>
        </Form>
      </div>
    )
  },
})

const fieldsOf = ({ name, url, color, display, view_voters: voters, ...rules }: Partial<Record<string, string>>) => ({
  name,
  ...(url && { url }),
  ...(color && { color: color.replace(/^#/, '') }),
  display: display === 'true',
  view_voters: voters === 'true',
  description: rules.description ?? '',
  template: rules.template ?? '',
  ...(rules.posting && { posting: rules.posting }),
  ...(rules.sort && { sort: rules.sort }),
  archived: rules.archived === 'true',
  hides_votes: rules.hides_votes === 'true',
})

export const create = action({
  operation: service.create,
  page: async () => newBoard,
  input: (_view, form) => fieldsOf(form),
  done: () => ({ to: HOME, flash: 'boardCreated' }),
})

export const update = action({
  operation: service.update,
  page: async () => boardSettings,
  input: ({ params }, form) => ({ boardId: params.url, partial: true, ...fieldsOf(form) }),
  done: () => ({ to: HOME, flash: 'saved' }),
})

export const remove = action({
  operation: service.remove,
  page: async () => deleteBoard,
  input: ({ params }, { moveTo }) => ({ boardId: params.url, ...(moveTo && { moveTo }) }),
  done: () => ({ to: HOME, flash: 'deleted' }),
})
