import { AppError } from '../../core/errors.js'
import type { Item } from '../../service/moderation.js'
import { withParameters } from '../kit/addresses.js'
import { isolated } from '../kit/bidi.js'
import type { Fields, View } from '../kit/page.js'
import { AnswerTitle } from '../parts/answertitle.js'
import { Form, Hidden, Submit, Summary } from '../parts/form.js'
import { FormsScript } from '../parts/formsscript.js'

/** Whether it is refused, other than for each of what it names. */
async function refusalOf(attempt: () => Promise<unknown>): Promise<AppError | undefined> {
  try {
    await attempt()
    return undefined
  } catch (error) {
    if (error instanceof AppError && error.code === 'VALIDATION_ERROR') return error
    throw error
  }
}

/** Until when to put off what a form names. Undefined where the form says it, and `attempt`, a dry run, takes it. */
export async function snoozeQuestion(view: View, { until, date, ...form }: Fields, attempt: () => Promise<unknown>) {
  const isSaid = Boolean(until || date)
  const error = isSaid ? await refusalOf(attempt) : undefined
  if (isSaid && !error) return undefined
  const { t, href } = view
  const here = withParameters(view.url, {})
  const title = t('decision.snoozeTitle')
  const hidden = Object.entries(form).map(([name, value]) => <Hidden name={name} value={value} />)
  const show = (
    <div class="narrow" data-back={href(here)}>
      <FormsScript view={view} />
      <AnswerTitle view={view}>{title}</AnswerTitle>
      <Summary
        view={{ ...view, form: { values: {}, error: error && new AppError(error.code, error.message) } }}
        text={t('decision.snoozeWrong')}
      />
      <p>{t('decision.snoozeHint')}</p>
      <Form view={view} to={here} class="buttons">
        {hidden}
        <button type="submit" class="button primary" name="until" value="1d" data-key="z">
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
          <a class="button plain" href={href(here)}>
            {t('form.cancel')}
          </a>
        </div>
      </Form>
    </div>
  )
  return { title, show }
}

/** Until when something is put off, and by whom. */
export function Snoozed({ view, item: { snoozed } }: { view: View; item: Pick<Item, 'snoozed'> }) {
  if (!snoozed) return null
  const time = view.words.time(snoozed.until)
  return (
    <span class="mark">
      {snoozed.person
        ? view.t('inbox.snoozedBy', { time, name: isolated(snoozed.person.name || snoozed.person.username) })
        : view.t('inbox.snoozed', { time })}
    </span>
  )
}
