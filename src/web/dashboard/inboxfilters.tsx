import * as service from '../../service/moderation.js'
import { withParameters } from '../kit/addresses.js'
import type { View } from '../kit/page.js'
import { Select } from '../parts/filters.js'
import { Form, Hidden } from '../parts/form.js'
import type { boardsWith } from '../parts/lists.js'
import { waitsText } from '../parts/waits.js'
import { valueOf, type Decidable } from './decisions.js'

export const HOME = '/dashboard'
const DAYS = ['7', '1', '30', '365'] as const

export const reasonOf = ({ query }: View) => service.REASONS.find((reason) => reason === query.reason)
export const isSnoozed = ({ query }: View): boolean => query.reason === 'snoozed'
export const tabOf = (view: View) => (isSnoozed(view) ? 'snoozed' : reasonOf(view))
export const daysOf = ({ query }: View): number => Number(DAYS.find((days) => days === query.days) ?? DAYS[0])

/** The reasons are links; the rest of the filter is a form that only its button and Enter send. */
export function Filters({ view, counts, boards }: FiltersProps) {
  const { t, query } = view
  const chosen = tabOf(view)
  const tab = (reason: ReturnType<typeof tabOf>, count: number) => (
    <a
      href={view.href(withParameters(view.url, { reason, page: undefined }))}
      aria-current={reason === chosen ? 'true' : undefined}
    >
      {t(reason === undefined ? 'inbox.all' : `inbox.reason.${reason}`)}{' '}
      <span class="count">{waitsText(view, count)}</span>
    </a>
  )
  return (
    <div class="filters">
      <nav class="tabs" aria-label={t('inbox.reasons')}>
        {tab(undefined, counts.total)}
        {SHOWN_FIRST.filter((reason) => counts.reasons[reason] > 0 || reason === chosen).map((reason) =>
          tab(reason, counts.reasons[reason]),
        )}
        {counts.snoozed || chosen === 'snoozed' ? tab('snoozed', counts.snoozed ?? 0) : null}
      </nav>
      <details open={query.board !== undefined || query.days !== undefined}>
        <summary class="button plain">{t('filter.title')}</summary>
        <form class="buttons" action={view.href(HOME)}>
          {chosen ? <input type="hidden" name="reason" value={chosen} /> : null}
          <Select
            name="board"
            label={t('filter.board')}
            all={t('filter.allBoards')}
            of={boards.rows}
            value={query.board}
          />
          <select name="days" aria-label={t('inbox.days')}>
            {DAYS.map((days, index) => (
              <option value={index === 0 ? '' : days} selected={Number(days) === daysOf(view)}>
                {t('inbox.newFor', { count: Number(days) })}
              </option>
            ))}
          </select>
          <button type="submit" class="button plain">
            {t('filter.apply')}
          </button>
        </form>
      </details>
    </div>
  )
}

interface FiltersProps {
  view: View
  counts: { total: number; reasons: Record<(typeof service.REASONS)[number], number>; snoozed?: number }
  boards: Awaited<ReturnType<typeof boardsWith>>
}

const SHOWN_FIRST = ['reported', 'new', 'edited', 'spam', 'blocked'] as const

/** Whoever blocks somebody rarely wants to keep what else they wrote. */
export function ByBlocked({ view, rows, isSaid = false }: ByBlockedProps) {
  const hidden = rows.filter(({ verbs }) => verbs.includes('spam'))
  if (hidden.length === 0) return null
  return (
    <Form
      view={view}
      to={withParameters(view.url, { choices: view.queried('choices') })}
      {...(isSaid ? {} : { class: 'note' })}
    >
      {hidden.map((row) => (
        <Hidden name="chosen" value={valueOf(row)} />
      ))}
      <button type="submit" class={isSaid ? 'link' : 'button plain'} name="verb" value="spam">
        {view.t('inbox.hideBlocked', { count: hidden.length })}
      </button>
    </Form>
  )
}

interface ByBlockedProps {
  view: View
  rows: readonly Decidable[]
  /** Whether it is inside the message about the block. */
  isSaid?: boolean
}
