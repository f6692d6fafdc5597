import { excerptCached } from '../../core/markdown/excerpt.js'
import type { Outcome } from '../../service/lib/bulk.js'
import { withParameters } from '../kit/addresses.js'
import type { Fields, View } from '../kit/page.js'
import { AnswerTitle } from '../parts/answertitle.js'
import { Form, Hidden, Submit } from '../parts/form.js'
import { FormsScript } from '../parts/formsscript.js'

/** A post or comment that a form names, with the version that was shown, and what its row says of it. */
export interface Item {
  id: string
  version: string
  decision?: 'keep' | 'spam' | 'delete'
  status?: string
}

/** Without a version, the decision is refused. */
export const itemOf = (text: string): Item => {
  const [id = '', version = 'unread'] = text.split(' ')
  return { id, version }
}

const CHOICES = { keep: 'decision.keep', spam: 'decision.spam', delete: 'action.delete' } as const

interface Stage {
  name: string
  url: string
}

/**
 * What one row says for itself: nothing is done before Apply. Where scripts run, its buttons and keys take less, and are
 * the only ones.
 */
export const EachChoice = ({
  view,
  at,
  about,
  canDelete,
  chosen,
}: {
  view: View
  /** The place of the row among those of the form. */
  at: number
  /** The id of what names the row. */
  about: string
  canDelete: boolean
  chosen: string | undefined
}) => (
  <noscript>
    <span class="each" role="group" aria-label={view.t('decision.each')} aria-describedby={about}>
      <span aria-hidden="true">{view.t('decision.each')}</span>
      {(['keep', 'spam', 'delete'] as const).map((word) =>
        word === 'delete' && !canDelete ? null : (
          <label>
            <input type="radio" name={`as-${at}`} value={word} checked={word === chosen} /> {view.t(CHOICES[word])}
          </label>
        ),
      )}
    </span>
  </noscript>
)

/** The status that a row gets with Apply, its button for keeping, or Enter: it keeps the post. */
export const StatusChoice = ({ view, at, stages, chosen }: StatusChoiceProps) => (
  <select name={`status-${at}`} aria-label={view.t('filter.roadmap')} data-key="m">
    <option value="">{view.t('filter.roadmap')}</option>
    {stages.map(({ name, url }) => (
      <option value={url} selected={url === chosen}>
        {name}
      </option>
    ))}
  </select>
)

interface StatusChoiceProps {
  view: View
  at: number
  stages: readonly Stage[]
  chosen: string | undefined
}

/** The buttons for what the rows say for themselves. */
export const ApplyEach = ({ view }: { view: View }) => (
  <span class="apply">
    <span>{view.t('decision.forEach')}</span>
    <button type="submit" class="button primary" name="verb" value="each">
      {view.t('table.apply')}
    </button>
    <button type="submit" class="button plain" name="verb" value="rest">
      {view.t('decision.applyRest')}
    </button>
  </span>
)

const rowsOf = ({ rows = '' }: Fields): string[] => rows.split(',').filter((row) => row !== '')

/** What the row of an id says of its status. */
export const statusOf = (form: Fields, id: string): string =>
  form[`status-${rowsOf(form).findIndex((row) => itemOf(row).id === id)}`] ?? ''

/** The rows that say something; with the button for the rest, the others are kept. */
export function eachOf(form: Fields): Item[] {
  return rowsOf(form).flatMap((row, index) => {
    const [word, status = ''] = [form[`as-${index}`], form[`status-${index}`]]
    const isWord = word === 'keep' || word === 'spam' || word === 'delete'
    if (!isWord && status === '' && form.verb !== 'rest') return []
    return [{ ...itemOf(row), decision: isWord ? word : ('keep' as const), status }]
  })
}

/** What a question calls a post or comment. */
export const named = ({ t }: View, { kind, number, title }: Outcome): string =>
  kind === 'comment' ? t('inbox.commentOn', { title: title ?? '' }) : `#${number} ${title}`

/** What is lost with what would be deleted, and whether to go on. `outcomes` are those of a dry run. */
export function questionOf(
  view: View,
  { form, outcomes, back }: { form: Fields; outcomes: readonly Outcome[]; back?: string },
) {
  const { t, href } = view
  const goes = outcomes.filter(({ lost }) => lost !== undefined)
  const others = outcomes.filter(({ outcome, lost }) => outcome === 'changed' && lost === undefined).length
  const sum = (of: 'votes' | 'comments') => goes.reduce((total, { lost }) => total + (lost?.[of] ?? 0), 0)
  const kinds = (kind: string) => goes.filter((each) => each.kind === kind)
  const title = t('decision.deleteTitle', { count: goes.length })
  const here = withParameters(view.url, {})
  const show = (
    <div class="narrow" data-back={href(back ?? here)}>
      <FormsScript view={view} />
      <AnswerTitle view={view}>{title}</AnswerTitle>
      <ul>
        {kinds('post').map((post) => (
          <li>
            <bdi>{named(view, post)}</bdi>
          </li>
        ))}
        {kinds('comment').map((comment) => (
          <li>
            {named(view, comment)}
            {comment.lost?.text ? (
              <p class="soft" dir="auto">
                {excerptCached(comment.lost.text)}
              </p>
            ) : null}
          </li>
        ))}
      </ul>
      <p>
        {kinds('post').length === 0
          ? t('comment.deleteLoss')
          : t('decision.deleteLoss', {
              votes: t('user.voted', { count: sum('votes') }),
              comments: t('comment.count', { count: sum('comments') }),
            })}
      </p>
      {others > 0 ? <p>{t('decision.deleteOthers', { count: others })}</p> : null}
      <Form view={view} to={here} class="buttons">
        {Object.entries(form).map(([name, value]) => (
          <Hidden name={name} value={value} />
        ))}
        <Hidden name="confirmed" value="yes" />
        <Submit kind="danger" shortcut="#">
          {t('action.delete')}
        </Submit>
        <a class="button plain" href={href(back ?? here)}>
          {t('form.cancel')}
        </a>
      </Form>
    </div>
  )
  return { title, show }
}
