import { links } from '../../core/pagelinks.js'
import * as invitations from '../../service/invitations.js'
import * as roles from '../../service/roles.js'
import * as service from '../../service/users.js'
import { blockMany } from '../../service/usersmany.js'
import { pageNumber, withParameters, within } from '../kit/addresses.js'
import { listed } from '../kit/fields.js'
import { action, page, Redirect, type LiveView, type View } from '../kit/page.js'
import { Bulk } from '../parts/bulk.js'
import { Empty } from '../parts/empty.js'
import { assertTidy, filterOf, rolesOffered } from '../parts/lists.js'
import { Outcomes } from '../parts/outcomes.js'
import { Summary } from '../parts/form.js'
import { Foreign } from '../parts/foreign.js'
import { Pager } from '../parts/pager.js'
import { nameOf, Person } from '../parts/person.js'
import { Table } from '../parts/table.js'
import { Hour } from '../parts/time.js'
import { Top } from '../parts/top.js'
import { blockQuestion } from './blockquestion.js'
import { WordsField } from '../parts/wordsfield.js'

export const HOME = '/dashboard/users'

const STATES = ['owner', 'active', 'unverified', 'invited', 'blocked'] as const
const SORTS = ['name', 'posts', 'votes', 'seen', 'newest', 'oldest'] as const

type Listed = Awaited<ReturnType<typeof load>>
type Row = Listed['users'][number]

async function load(view: LiveView) {
  assertTidy(view)
  const { query } = view
  const state = STATES.find((each) => each === query.state)
  const list = await view.call(service.list, {
    ...(query.q && { query: filterOf(view) }),
    ...(query.role && { role: [query.role] }),
    ...(query.tag && { tag: [query.tag] }),
    ...(state && { state: [state] }),
    ...(query.since && { seenSince: query.since }),
    sort: SORTS.find((each) => each === query.sort) ?? 'newest',
    page: pageNumber(view),
    limit: 50,
  })
  if (list.total_count > 0 && pageNumber(view) > list.total_pages)
    throw new Redirect(withParameters(view.url, { page: list.total_pages }))
  return { ...list, choices: await rolesOffered(view) }
}

/** Everybody with an account: who they are, what they may do and did, and when they were here. */
export const users = page({
  cache: 'never',
  section: 'users',
  load,
  title: ({ t }) => t('nav.users'),
  show(view, { users: rows, choices, total_count: total, total_pages: pages }) {
    const { t, query } = view
    const isFiltered = [query.q, query.role, query.tag, query.state, query.since].some(Boolean)
    const table = <People view={view} rows={rows} canChoose={view.may(blockMany)} />
    return (
      <>
        <Top view={view} title={t('nav.users')} count={t('user.count', { count: total })}>
          <Invite view={view} />
        </Top>
        <Summary view={view} />
        <Filters view={view} choices={choices} isFiltered={isFiltered} />
        {rows.length === 0 ? (
          <Empty title={t('empty.filtered')}>
            <p>
              <a class="button plain" href={view.href(HOME)}>
                {t('empty.all')}
              </a>
            </p>
          </Empty>
        ) : view.may(blockMany) ? (
          <Bulk
            view={view}
            to={HOME}
            verbs={
              <>
                <button type="submit" class="button danger" name="block" value="true">
                  {t('user.block')}
                </button>
                <button type="submit" class="button plain" name="block" value="false">
                  {t('user.unblock')}
                </button>
              </>
            }
          >
            {table}
          </Bulk>
        ) : (
          table
        )}
        {total === 1 && !isFiltered ? (
          <Empty title={t('user.onlyYou')}>
            <p>{t('user.onlyYouNext')}</p>
          </Empty>
        ) : null}
        <Pager view={view} page={pageNumber(view)} pages={pages} />
      </>
    )
  },
})

const Invite = ({ view }: { view: View }) =>
  view.may(invitations.create) ? (
    <a class="button primary" href={view.href('/dashboard/invitations')} data-key="a">
      {view.t('invite.title')}
    </a>
  ) : null

interface FiltersProps {
  view: View
  choices: readonly roles.Role[]
  isFiltered: boolean
}

/** A form that only its button and Enter send, so that the keyboard can go through the choices. */
function Filters({ view, choices, isFiltered }: FiltersProps) {
  const { t, query, href } = view
  return (
    <form class="filter-bar" action={href(HOME)}>
      {query.sort === undefined ? null : <input type="hidden" name="sort" value={query.sort} />}
      <WordsField value={query.q} label={t('user.find')} />
      <details class="fold" open={isFiltered}>
        <summary class="button plain">{t('filter.title')}</summary>
        <div class="filter-bar">
          {query.tag ? (
            <label>
              <span>{t('tag.label')}</span>
              <input type="search" name="tag" value={query.tag} maxLength={100} />
            </label>
          ) : null}
          {choices.length > 0 ? (
            <label>
              <span>{t('user.role')}</span>
              <select name="role">
                <option value="">{t('user.allRoles')}</option>
                <option value="none" selected={query.role === 'none'}>
                  {t('user.noRole')}
                </option>
                {choices.map(({ id, name }) => (
                  <option value={id} selected={id === query.role}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          ) : null}
          <label>
            <span>{t('user.state')}</span>
            <select name="state">
              <option value="">{t('user.allStates')}</option>
              {STATES.map((state) => (
                <option value={state} selected={state === query.state}>
                  {t(`user.state.${state}`)}
                </option>
              ))}
            </select>
          </label>
          <label>
            <span>{t('user.seenSince')}</span>
            <input type="date" name="since" value={query.since} />
          </label>
          <button type="submit" class="button plain">
            {t('filter.apply')}
          </button>
        </div>
      </details>
    </form>
  )
}

/** Only those whom the reader may block or unblock can be chosen. */
const People = ({ view, rows, canChoose }: { view: View; rows: readonly Row[]; canChoose: boolean }) => {
  const { t, words } = view
  return (
    <Table<Row>
      view={view}
      label={t('nav.users')}
      kind="accounts"
      rows={rows}
      sort="newest"
      {...(canChoose && {
        select: {
          name: 'users',
          value: ({ userId }) => userId,
          label: (person) => nameOf(view, person),
          isOffered: ({ may, isBlocked }) => may.includes(isBlocked ? 'unblock' : 'block'),
        },
      })}
      columns={[
        {
          label: t('field.name'),
          kind: 'title',
          sort: 'name',
          direction: 'ascending',
          cell: (person) => (
            <a href={view.href(links.person(person.username))}>
              <Person view={view} person={person} />
            </a>
          ),
        },
        { label: t('user.email'), cell: ({ email }) => <Foreign text={email} /> },
        rows.some((person) => namesOf(person) !== '') && {
          label: t('user.roles'),
          cell: (person) => (namesOf(person) === '' ? '' : <span class="words">{namesOf(person)}</span>),
        },
        ...(rows.some(({ tags }) => tags.length > 0)
          ? [{ label: t('tag.label'), cell: (person: Row) => <TagsOf view={view} person={person} /> }]
          : []),
        { label: t('nav.posts'), kind: 'number', sort: 'posts', cell: ({ posts }) => words.number(Number(posts)) },
        { label: t('user.votes'), kind: 'number', sort: 'votes', cell: ({ votes }) => words.number(Number(votes)) },
        {
          label: t('user.seen'),
          sort: 'seen',
          cell: ({ lastSeenAt: at }) => (at === null ? t('user.never') : <Hour view={view} at={at} />),
        },
        { label: t('user.state'), cell: (person) => <State view={view} person={person} /> },
      ]}
    />
  )
}

/** Each leads to everybody with it. */
const TagsOf = ({ view, person: { tags } }: { view: View; person: Row }) => (
  <span class="words">
    {tags.map((tag, at) => (
      <>
        {at > 0 ? ', ' : ''}
        <a href={view.href(links.peopleWithTag(tag))}>
          <bdi>{tag}</bdi>
        </a>
      </>
    ))}
  </span>
)

const namesOf = ({ roles: own }: Pick<Row, 'roles'>): string =>
  own
    .filter(({ isSystem }) => !isSystem)
    .map(({ name }) => name)
    .join(', ')

export const State = ({ view, person: { state } }: { view: View; person: Pick<Row, 'state'> }) =>
  state === 'active' ? (
    <span class="soft">{view.t('user.state.active')}</span>
  ) : (
    <span class={state === 'blocked' ? 'mark spam' : 'mark'}>{view.t(`user.state.${state}`)}</span>
  )

/** Blocks or unblocks the chosen. Where some fail, a page names them with the reasons. */
export const block = action({
  operation: blockMany,
  many: ['users'],
  page: async () => users,
  before: blockQuestion,
  input: (_view, form) => ({ users: listed(form.users), block: form.block !== 'false' }),
  done(view, { outcomes, changed, failed }, form) {
    const back = within(form.to) ?? HOME
    const flash = form.block === 'false' ? 'peopleUnblocked' : 'peopleBlocked'
    if (failed === 0) return { to: back, flash: { flash, count: changed } }
    const title = view.t('bulk.outcome', { done: changed, count: failed })
    const lines = outcomes.flatMap(({ given, username, error }) => (error ? [{ name: username ?? given, error }] : []))
    return {
      to: back,
      title,
      section: 'users',
      show: <Outcomes view={view} title={title} back={back} failed={lines} />,
    }
  },
})
