import { withQuery, type Query } from '../kit/addresses.js'
import { ActiveFilters } from './activefilters.js'
import { SORT_WORDS, sortOf, sorts, states, type Choices, type Sort, type State } from './lists.js'
import type { View } from '../kit/page.js'
import { WordsField } from './wordsfield.js'

interface Named {
  name: string
  url: string
  /** The ids of a board and of a roadmap. An address may have them in place of the url. */
  boardId?: string
  id?: string
}

const isNamed = (each: Named, value: string): boolean => [each.url, each.boardId, each.id].includes(value)

const NONE: Choices<Named> = { rows: [], total: 0 }

/**
 * Order, states and filter of a list. Order and states are links. The filter is a form behind a button, which only its
 * own button and Enter send, so that the keyboard can go through the choices. What the list is filtered by stands below
 * as links that remove it. A phone shows the states with the filter, so that the list begins on the first screen.
 */
export function Filters({
  view,
  boards = NONE,
  roadmaps = NONE,
  state,
  count,
  usual,
}: {
  view: View
  /** Posts that the filter finds. */
  count: number
  /** The order without a choice. */
  usual?: Sort | undefined
  /** Which posts are shown. Without it, the list has no choice of open and done posts. */
  state?: State
  boards?: Choices<Named>
  roadmaps?: Choices<Named>
}) {
  const { t, query } = view
  const chosen = sortOf(view, usual)
  const { done: _, page: __, ...kept } = query
  const nameIn = ({ rows }: Choices<Named>, url: string) => rows.find((each) => isNamed(each, url))?.name ?? url
  const without = (name: string) =>
    withQuery(view.path, { ...query, page: undefined, done: undefined, [name]: undefined })
  const active = [
    ...(query.q ? [{ text: t('layout.quoted', { text: query.q }), to: without('q') }] : []),
    ...(query.board ? [{ text: nameIn(boards, query.board), to: without('board') }] : []),
    ...(query.roadmap ? [{ text: nameIn(roadmaps, query.roadmap), to: without('roadmap') }] : []),
    ...(query.by ? [{ text: t('filter.own'), to: without('by') }] : []),
    ...(query.following ? [{ text: t('filter.following'), to: without('following') }] : []),
  ]
  // A copy has the lists in their usual order, and each state of them
  if (view.copiedAt !== undefined) return <div class="filters">{state && <States view={view} kept={kept} state={state} />}</div> // prettier-ignore
  return (
    <>
      <div class="filters">
        <nav class="tabs" aria-label={t('sort.label')}>
          {sorts.map((sort) => (
            <a
              href={view.href(withQuery(view.path, { ...kept, sort }))}
              aria-current={sort === chosen ? 'true' : undefined}
              title={sort === 'trending' ? t('sort.trendingHint') : undefined}
            >
              {t(SORT_WORDS[sort])}
            </a>
          ))}
        </nav>
        {state && !query.roadmap ? <States view={view} kept={kept} state={state} /> : null}
        <details>
          <summary class="button plain">{t('filter.title')}</summary>
          <form class="buttons" action={view.href(view.path)}>
            {query.sort === undefined ? null : <input type="hidden" name="sort" value={chosen} />}
            {query.status === undefined ? null : <input type="hidden" name="status" value={query.status} />}
            <WordsField value={query.q} label={t('filter.words')} />
            <Select
              name="board"
              label={t('filter.board')}
              all={t('filter.allBoards')}
              of={boards.rows}
              value={query.board}
            />
            {boards.total > boards.rows.length ? (
              <a href={view.href('/boards')}>{t('filter.moreBoards', { count: boards.total })}</a>
            ) : null}
            <Select
              name="roadmap"
              label={t('filter.roadmap')}
              all={t('filter.allRoadmaps')}
              of={roadmaps.rows}
              value={query.roadmap}
            />
            {view.viewer ? (
              <>
                <label class="check">
                  <input type="checkbox" name="by" value="me" checked={query.by === 'me'} />
                  <span>{t('filter.own')}</span>
                </label>
                <label class="check">
                  <input type="checkbox" name="following" value="true" checked={query.following === 'true'} />
                  <span>{t('filter.following')}</span>
                </label>
              </>
            ) : null}
            <button type="submit" class="button plain">
              {t('filter.apply')}
            </button>
          </form>
        </details>
      </div>
      <ActiveFilters view={view} active={active} all={view.path}>
        {count > 0 ? <li>{t('board.posts', { count })}</li> : null}
      </ActiveFilters>
    </>
  )
}

const States = ({ view, kept, state }: { view: View; kept: Query; state: State }) => (
  <nav class="tabs states" aria-label={view.t('state.label')}>
    {states.map((each) => (
      <a
        href={view.href(withQuery(view.path, { ...kept, status: each }))}
        aria-current={each === state ? 'true' : undefined}
      >
        {view.t(`state.${each}`)}
      </a>
    ))}
  </nav>
)

/** A choice beside a search, without a label that is seen. */
export const Select = ({
  name,
  label,
  all,
  of,
  value,
}: {
  name: string
  label: string
  all: string
  of: readonly Named[]
  value: string | undefined
}) =>
  of.length === 0 ? null : (
    <select name={name} aria-label={label}>
      <option value="">{all}</option>
      {of.map((each) => (
        <option value={each.url} selected={value !== undefined && isNamed(each, value)}>
          {each.name}
        </option>
      ))}
    </select>
  )
