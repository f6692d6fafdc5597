import { AppError } from '../../core/errors.js'
import { ACTIONS } from '../../core/nouns.js'
import { links } from '../../core/pagelinks.js'
import { isUndoable, undo } from '../../service/eventundo.js'
import * as service from '../../service/events.js'
import { pageNumber } from '../kit/addresses.js'
import { page, type LiveView, type View } from '../kit/page.js'
import { Empty } from '../parts/empty.js'
import { actionText, By, LOG, only, Subject, What } from '../parts/event.js'
import { Summary } from '../parts/form.js'
import { assertTidy, filterOf } from '../parts/lists.js'
import { Pager } from '../parts/pager.js'
import { fieldOf, nobodyIn, unclearPerson, UnclearPerson, type Unclear } from '../parts/personfilter.js'
import { Table } from '../parts/table.js'
import { Time } from '../parts/time.js'
import { Top } from '../parts/top.js'
import { WordsField } from '../parts/wordsfield.js'

interface Found {
  events: readonly service.Event[]
  hasNext: boolean
  unclear?: Unclear | undefined
  error?: AppError
}
const NOTHING = { events: [], hasNext: false } as const

async function found(view: LiveView): Promise<Found> {
  const { person, action, subject, since, until } = view.query
  const given = { person: person?.trim(), action, subject, since, until }
  const { events, page_info: info } = await view.call(service.list, {
    created: 'desc',
    limit: 50,
    page: pageNumber(view),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value)),
    ...(view.query.q && { query: filterOf(view) }),
  })
  return { events, hasNext: info.has_next_page }
}

/** What was changed, and by whom, newest first. */
export const log = page({
  cache: 'never',
  section: 'log',
  async load(view): Promise<Found> {
    assertTidy(view)
    const unclear = await unclearPerson(view, 'person')
    if (unclear) return { ...NOTHING, unclear }
    try {
      return await found(view)
    } catch (error) {
      if (!(error instanceof AppError) || !['VALIDATION_ERROR', 'USER_NOT_FOUND'].includes(error.code)) throw error
      return { ...NOTHING, unclear: nobodyIn(view, 'person', error), error }
    }
  },
  title: ({ t }) => t('log.title'),
  show(view, { events, hasNext, unclear, error }) {
    const { t, query } = view
    const isUnknown =
      events.length === 0 && query.action !== undefined && !ACTIONS.some((each) => each === query.action)
    const isFiltered = ['q', 'person', 'action', 'subject', 'since', 'until'].some((name) => query[name])
    return (
      <>
        <Top view={view} title={t('log.title')} />
        <UnclearPerson view={view} unclear={unclear} />
        {isUnknown ? <UnknownAction view={view} /> : error && !unclear ? <Problem view={view} error={error} /> : null}
        <form class="filter-bar" action={view.href(LOG)}>
          {query.subject ? <input type="hidden" name="subject" value={query.subject} /> : null}
          <WordsField value={query.q} label={t('filter.words')} />
          <details class="fold" open={isFiltered}>
            <summary class="button plain">{t('filter.title')}</summary>
            <div class="filter-bar">
              <Text view={view} name="person" label={t('log.person')} isWrong={unclear !== undefined} />
              <Actions view={view} />
              <Text view={view} name="since" label={t('log.since')} type="date" />
              <Text view={view} name="until" label={t('log.until')} type="date" />
              <button type="submit" class="button plain">
                {t('filter.apply')}
              </button>
              {isFiltered ? <a href={view.href(LOG)}>{t('filter.clear')}</a> : null}
            </div>
          </details>
        </form>
        {events.length === 0 ? (
          <Empty title={t('log.none')} />
        ) : (
          <Table
            view={view}
            label={t('log.title')}
            kind="log"
            rows={events}
            columns={[
              { label: t('log.what'), kind: 'title', cell: (event) => <What view={view} event={event} /> },
              { label: t('log.subject'), cell: (event) => <Subject view={view} event={event} /> },
              { label: t('log.by'), cell: (event) => <By view={view} event={event} /> },
              { label: t('log.when'), cell: (event) => <When view={view} event={event} /> },
            ]}
          />
        )}
        <Pager view={view} page={pageNumber(view)} pages={0} hasNext={hasNext} />
      </>
    )
  },
})

/** The page that asks before an event is undone. */

const When = ({ view, event }: { view: View; event: service.Event }) => (
  <>
    <Time view={view} at={event.created_at} />
    {isUndoable(event) && view.may(undo) ? (
      <>
        {' '}
        <a href={view.href(links.undoEvent(event.id))} aria-label={`${view.t('undo.button')} ${event.id}`}>
          {view.t('undo.button')}
        </a>
      </>
    ) : null}
  </>
)

const Actions = ({ view: { t, query, words } }: { view: View }) => (
  <label>
    <span>{t('log.action')}</span>
    <select id="field-action" name="action">
      <option value="">{t('log.anyAction')}</option>
      {ACTIONS.map((action) => ({ action, text: t(`event.${action}`) }))
        .toSorted((a, b) => a.text.localeCompare(b.text, words.language))
        .map(({ action, text }) => (
          <option value={action} selected={query.action === action}>
            {text}
          </option>
        ))}
    </select>
  </label>
)

const Text = ({ view, name, label, type = 'search', isWrong = false }: TextProps) => (
  <label>
    <span>{label}</span>
    {type === 'date' ? (
      <input type="date" id={`field-${name}`} name={name} value={view.query[name]} />
    ) : (
      <input type="search" name={name} value={view.query[name]} maxLength={200} {...fieldOf(name, isWrong)} />
    )}
  </label>
)

/** Leads to the actions that have the word. */
function UnknownAction({ view }: { view: View }) {
  const text = view.query.action ?? ''
  const word = text.trim().toLowerCase().replaceAll(/\s+/g, '_')
  const near = ACTIONS.filter((action) => word !== '' && action.includes(word)).slice(0, 10)
  return (
    <div class="summary" role="alert" tabIndex={-1} autofocus id="field-action-wrong">
      <p>
        <a href="#field-action">{view.t('log.noAction', { action: text })}</a>
      </p>
      {near.length === 0 ? null : (
        <ul>
          {near.map((action) => (
            <li>
              <a href={only(view, { action })}>{actionText(view, action)}</a>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

const Problem = ({ view, error }: { view: View; error: AppError }) => (
  <Summary view={{ ...view, form: { values: {}, error } }} />
)

interface TextProps {
  view: View
  name: string
  label: string
  type?: 'search' | 'date'
  isWrong?: boolean
}
