import { AppError } from '../../core/errors.js'
import type { Outcome } from '../../service/lib/bulk.js'
import type { Item } from '../../service/moderation.js'
import { withParameters } from '../kit/addresses.js'
import { isolated } from '../kit/bidi.js'
import type { Fields, View } from '../kit/page.js'
import { Form, Hidden, Submit, Summary } from '../parts/form.js'
import { FormsScript } from '../parts/formsscript.js'
import { named } from './eachdecision.js'

/** A dry run. `until` is in place of what the form says. */
type Attempt = (until?: string) => Promise<{ outcomes: readonly Outcome[] }>

/** Whether it is refused, other than for each of what it names. */
async function refusalOf(attempt: Attempt): Promise<AppError | undefined> {
  try {
    await attempt()
    return undefined
  } catch (error) {
    if (error instanceof AppError && error.code === 'VALIDATION_ERROR') return error
    throw error
  }
}

/** Asks until when to snooze what a form names. Undefined where the form says it, and the dry run `attempt` accepts it. */
export async function snoozeQuestion(
  view: View,
  { until, date, ...form }: Fields,
  { attempt, back }: { attempt: Attempt; /** Where Cancel leads. */ back: string },
) {
  const isSaid = Boolean(until || date)
  const error = isSaid ? await refusalOf(attempt) : undefined
  if (isSaid && !error) return undefined
  const { t, href } = view
  const { outcomes } = await attempt('1d')
  const here = withParameters(view.url, {})
  const title = t('decision.snoozeTitle')
  const hidden = Object.entries(form).map(([name, value]) => <Hidden name={name} value={value} />)
  const show = (
    <div class="narrow" data-back={href(back)}>
      <FormsScript view={view} />
      <h1>{title}</h1>
      <Summary
        view={{ ...view, form: { values: {}, error: error && new AppError(error.code, error.message) } }}
        text={t('decision.snoozeWrong')}
      />
      <ul>
        {outcomes
          .filter(({ error }) => error === undefined || error === null)
          .map((each) => (
            <li>
              <bdi>{named(view, each)}</bdi>
            </li>
          ))}
      </ul>
      <p>{t('decision.snoozeHint')}</p>
      <Form view={view} to={here} class="buttons">
        {hidden}
        <button type="submit" class="button primary" name="until" value="1d" data-key="z" autofocus={!error}>
          {t('decision.tomorrow')}
        </button>
        <button type="submit" class="button plain" name="until" value="1w" data-key="w">
          {t('decision.week')}
        </button>
      </Form>
      <Form view={view} to={here}>
        {hidden}
        <div class="field">
          <label for="field-date">{t('decision.untilDate')}</label>
          <input type="date" id="field-date" name="date" value={date} required />
        </div>
        <div class="buttons">
          <Submit kind="plain">{t('decision.snooze')}</Submit>
          <a class="button plain" href={href(back)}>
            {t('form.cancel')}
          </a>
        </div>
      </Form>
    </div>
  )
  return { title, show }
}

/** Until when something is snoozed, and by whom. A script shows the time of the reader: an age would not follow “until”. */
export function Snoozed({ view, item: { snoozed } }: { view: View; item: Pick<Item, 'snoozed'> }) {
  if (!snoozed) return null
  const { until, person } = snoozed
  const text = person
    ? view.t('inbox.snoozedBy', { time: '\0', name: isolated(person.name || person.username) })
    : view.t('inbox.snoozed', { time: '\0' })
  const [before, after] = text.split('\0')
  return (
    <span class="mark">
      <span class="until">
        {before}
        <time datetime={until}>{view.words.time(until)}</time>
        {after}
      </span>
    </span>
  )
}
