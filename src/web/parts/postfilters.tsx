import { STATUS_KINDS } from '../../core/statuskinds.js'
import type { ViewInput } from '../../service/lib/views.js'
import type { PostFacets } from '../../service/postfacets.js'
import type { View } from '../kit/page.js'
import { ActiveFilters } from './activefilters.js'
import { fieldOf } from './personfilter.js'
import { addressOf, recentDays } from './postquery.js'
import { WordsField } from './wordsfield.js'

/** Counts above this number are shown as a lower bound. */
const MOST_COUNTED = 1000

interface Option {
  value: string
  name: string
  count: string
}

const NONE = 'none'

const optionsOf = (view: View, { boards, roadmaps }: PostFacets) => {
  const count = (posts: number, isCapped = false) =>
    isCapped && posts > 0 ? `${view.words.number(Math.min(posts, MOST_COUNTED))}+` : view.words.number(posts)
  return {
    board: boards.counts.map(({ board, posts }): Option => ({ value: board?.url ?? NONE, name: board?.name ?? view.t('post.noBoard'), count: count(posts, boards.is_capped) })), // prettier-ignore
    roadmap: roadmaps.counts.map(({ roadmap, posts }): Option => ({ value: roadmap?.url ?? NONE, name: roadmap?.name ?? view.t('post.noRoadmap'), count: count(posts, roadmaps.is_capped) })), // prettier-ignore
  }
}

interface FilterProps {
  view: View
  path: string
  filter: ViewInput
  facets: PostFacets
  /** The tags of the site. */
  tags: readonly { name: string; url: string }[]
}

/** The filters by tags. */
const TAG_FILTERS = [
  { name: 'tag', field: 'tags', label: 'filter.anyTag' },
  { name: 'tags', field: 'allTags', label: 'filter.everyTag' },
  { name: 'untagged', field: 'withoutTags', label: 'filter.noTag' },
] as const

/** Filters of posts, which only the button and Enter send, with how many posts each choice has. */
export function PostFilters({
  view,
  path,
  filter,
  facets,
  tags,
  isUnclear,
}: FilterProps & {
  /** Whether it is not told whom the filter by author means. */
  isUnclear: boolean
}) {
  const { t } = view
  const options = optionsOf(view, facets)
  const kinds = STATUS_KINDS.map((value): Option => ({ value, name: t(`kind.${value}`), count: '' }))
  const tagOptions = tags.map(({ url, name }): Option => ({ value: url, name, count: '' }))
  return (
    <form class="filter-bar" action={view.href(path)}>
      {filter.sort === undefined ? null : <input type="hidden" name="sort" value={filter.sort} />}
      <WordsField value={filter.query} label={t('filter.words')} />
      <details class="fold" open={isUnclear}>
        <summary class="button plain">{t('filter.title')}</summary>
        <div class="filter-bar">
          <Picks name="board" label={t('filter.board')} options={options.board} chosen={filter.boardId ?? []} />
          <Picks
            name="roadmap"
            label={t('filter.roadmap')}
            options={options.roadmap}
            chosen={filter.roadmapIds ?? []}
          />
          <Picks name="kind" label={t('filter.kind')} options={kinds} chosen={filter.statusKind ?? []} />
          {TAG_FILTERS.map(({ name, field, label }) => (
            <Picks name={name} label={t(label)} options={tagOptions} chosen={filter[field] ?? []} />
          ))}
          <label>
            <span>{t('posts.author')}</span>
            <input
              name="author"
              value={filter.authorId}
              maxLength={100}
              autocomplete="off"
              autocapitalize="none"
              {...fieldOf('author', isUnclear)}
            />
          </label>
          <label>
            <span>{t('posts.since')}</span>
            <Since since={filter.since} />
          </label>
          <label>
            <span>{t('posts.recent')}</span>
            <input type="number" name="recent" value={recentDays(filter.since)} min={1} max={99_999} />
          </label>
          {view.can('roadmap:read') ? (
            <label>
              <span>{t('posts.waiting')}</span>
              <input type="number" name="waiting" value={filter.waiting} min={1} max={3650} />
            </label>
          ) : null}
          <label class="check">
            <input type="checkbox" name="pinned" value="true" checked={filter.pinned ?? false} />
            <span>{t('mark.pinned')}</span>
          </label>
          {view.can('board:read') ? (
            <label class="check">
              <input type="checkbox" name="spam" value="true" checked={filter.spam ?? false} />
              <span>{t('inbox.mark.spam')}</span>
            </label>
          ) : null}
          <label class="check">
            <input type="checkbox" name="by" value="me" checked={filter.mine ?? false} />
            <span>{t('filter.own')}</span>
          </label>
          <label class="check">
            <input type="checkbox" name="voted" value="true" checked={filter.voted ?? false} />
            <span>{t('posts.voted')}</span>
          </label>
          <label class="check">
            <input type="checkbox" name="following" value="true" checked={filter.following ?? false} />
            <span>{t('filter.following')}</span>
          </label>
          <button type="submit" class="button plain">
            {t('filter.apply')}
          </button>
        </div>
      </details>
    </form>
  )
}

/** An age in hours is no date: it stays what it is. */
const Since = ({ since }: { since: string | undefined }) =>
  since === undefined || recentDays(since) !== undefined || /^\d{4}-/.test(since) ? (
    <input type="date" name="since" value={recentDays(since) === undefined ? since?.slice(0, 10) : undefined} />
  ) : (
    <input name="since" value={since} maxLength={30} />
  )

/** Several choices behind a button that says how many are chosen. */
const Picks = ({
  name,
  label,
  options,
  chosen,
}: {
  name: string
  label: string
  options: readonly Option[]
  chosen: readonly string[]
}) =>
  // prettier-ignore
  options.length === 0 ? null : (
    <details class="picks">
      <summary class="button plain">{chosen.length > 0 ? `${label} (${chosen.length})` : label}</summary>
      <fieldset>
        <legend class="hidden">{label}</legend>
        {options.map((option) => (
          <label class="check">
            <input type="checkbox" name={name} value={option.value} checked={chosen.includes(option.value)} />
            <bdi>{option.name}</bdi>
            <span class="soft number">{option.count}</span>
          </label>
        ))}
      </fieldset>
    </details>
  )

/** What is filtered by, each with a link to the list without it. */
export function ActivePostFilters({ view, path, filter, facets, tags }: FilterProps) {
  const { t } = view
  const options = optionsOf(view, facets)
  const nameIn = (all: readonly Option[], value: string) => all.find((each) => each.value === value)?.name ?? value
  const recent = recentDays(filter.since)
  const without = (change: ViewInput) => addressOf(path, { ...filter, ...change })
  const active = [
    ...(filter.query ? [{ text: t('layout.quoted', { text: filter.query }), to: without({ query: '' }) }] : []),
    ...(filter.boardId ?? []).map((value) => ({
      text: view.words.labelled(t('filter.board'), nameIn(options.board, value)),
      to: without({ boardId: filter.boardId?.filter((each) => each !== value) ?? [] }),
    })),
    ...(filter.roadmapIds ?? []).map((value) => ({
      text: view.words.labelled(t('filter.roadmap'), nameIn(options.roadmap, value)),
      to: without({ roadmapIds: filter.roadmapIds?.filter((each) => each !== value) ?? [] }),
    })),
    ...(filter.statusKind ?? []).map((value) => ({
      text: view.words.labelled(t('filter.kind'), t(`kind.${value}`)),
      to: without({ statusKind: filter.statusKind?.filter((each) => each !== value) ?? [] }),
    })),
    ...TAG_FILTERS.flatMap(({ field, label }) =>
      (filter[field] ?? []).map((value) => ({
        text: view.words.labelled(t(label), tags.find(({ url }) => url === value)?.name ?? value),
        to: without({ [field]: filter[field]?.filter((each) => each !== value) ?? [] }),
      })),
    ),
    ...(filter.authorId
      ? [{ text: view.words.labelled(t('posts.author'), filter.authorId), to: without({ authorId: '' }) }]
      : []),
    ...(filter.since
      ? [
          {
            text: recent
              ? t('posts.recentFor', { count: Number(recent) })
              : view.words.labelled(t('posts.since'), filter.since.slice(0, 10)),
            to: without({ since: '' }),
          },
        ]
      : []),
    ...(filter.until
      ? [{ text: view.words.labelled(t('posts.until'), filter.until.slice(0, 10)), to: without({ until: '' }) }]
      : []),
    ...(filter.waiting
      ? [{ text: t('posts.waitingFor', { count: filter.waiting }), to: without({ waiting: 0 }) }]
      : []),
    ...(filter.pinned ? [{ text: t('mark.pinned'), to: without({ pinned: false }) }] : []),
    ...(filter.spam ? [{ text: t('inbox.mark.spam'), to: without({ spam: false }) }] : []),
    ...(filter.mine ? [{ text: t('filter.own'), to: without({ mine: false }) }] : []),
    ...(filter.voted ? [{ text: t('posts.voted'), to: without({ voted: false }) }] : []),
    ...(filter.following ? [{ text: t('filter.following'), to: without({ following: false }) }] : []),
  ]
  return <ActiveFilters view={view} active={active} all={path} />
}
