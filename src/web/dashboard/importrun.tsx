import type { Key } from '../../core/catalogue.js'
import { errorCodes, type ErrorCode } from '../../core/errors.js'
import { show } from '../../service/importruns.js'
import type { View } from '../kit/page.js'
import { errorText, Form, Hidden, Submit } from '../parts/form.js'
import { ProgressScript } from '../parts/progress.js'
import { Table } from '../parts/table.js'
import { Time } from '../parts/time.js'
import { HOME, LABELS, nameOf, Result, type Answer, type Type } from './importresult.js'

export type Run = NonNullable<Awaited<ReturnType<typeof show.run>>['run']>

export const isBusy = (run: Run | null): boolean => run?.state === 'waiting' || run?.state === 'running'

const STATES: { [State in Run['state']]: [check: Key, run: Key] } = {
  waiting: ['import.waits', 'import.waits'],
  running: ['import.checks', 'import.runs'],
  checked: ['import.nothingYet', 'import.nothingYet'],
  done: ['import.isDone', 'import.isDone'],
  failed: ['import.checkFailed', 'import.runFailed'],
  stopped: ['import.checkStopped', 'import.runStopped'],
  cancelled: ['import.checkCancelled', 'import.runCancelled'],
}

/** How far the last import is, or what has come of it. Every owner sees it. */
export function LastRun({ view, run }: { view: View; run: Run }) {
  const { t } = view
  const answer = run.result as Answer | null // as `importwork` writes it
  const title = t(run.state === 'checked' ? 'import.would' : run.state === 'done' ? 'import.did' : run.isCheck ? 'import.checkTitle' : 'import.runTitle') // prettier-ignore
  const [check, other] = STATES[run.state]
  const said = run.isCancelled && isBusy(run) ? 'import.cancelling' : run.isCheck ? check : other
  const isProblem = run.state === 'failed' || run.state === 'stopped'
  return (
    <section aria-labelledby="import-run" data-progress={isBusy(run) ? 'busy' : undefined}>
      <h2 id="import-run">{title}</h2>
      <p>
        <bdi>{run.name}</bdi> {run.name === '' ? null : '·'} {answer ? <bdi>{nameOf(view, answer.product)}</bdi> : null}{' '}
        {answer ? '·' : null}{' '}
        {run.by === null ? null : (
          <>
            <bdi>{run.by}</bdi> ·{' '}
          </>
        )}
        <Time view={view} at={run.endedAt ?? run.askedAt} />
      </p>
      <p class={isProblem ? 'problem' : 'note'} role="status">
        {t(answer && 'same' in answer && answer.same ? 'import.same' : said)}{' '}
        {run.error ? <Cause view={view} error={run.error} /> : null}
        {isBusy(run) ? <a href={view.href(HOME)}>{t('backups.reload')}</a> : null}
      </p>
      {answer ? <Result view={view} answer={answer} isDry={run.isCheck} /> : <Done view={view} run={run} />}
      <Refused view={view} run={run} />
      {isBusy(run) && !run.isCancelled ? (
        <Form view={view} to={`${HOME}/cancel`} class="buttons">
          <Hidden name="runId" value={run.runId} />
          <button type="submit" class="button plain">
            {t('import.cancel')}
          </button>
        </Form>
      ) : null}
      {run.isKept && !(answer && 'same' in answer && answer.same) ? (
        <Form view={view} to={`${HOME}/run`} class="buttons">
          <Hidden name="runId" value={run.runId} />
          <Submit>{t('import.run')}</Submit>
        </Form>
      ) : null}
      {run.state === 'checked' && !run.isKept ? <p>{t('import.gone')}</p> : null}
      {isBusy(run) ? <ProgressScript view={view} /> : null}
    </section>
  )
}

const isCode = (code: string): code is ErrorCode => errorCodes.some((each) => each === code)

/** Why it failed, by the catalogue where that has the code. What is wrong inside a file is said in English alone. */
function Cause({ view, error: { code, message } }: { view: View; error: NonNullable<Run['error']> }) {
  const text = code === 'PAYLOAD_TOO_LARGE' ? view.t('import.tooLarge') : isCode(code) ? errorText(view, { code, message }) : message // prettier-ignore
  return (
    <span lang={text === message ? 'en' : undefined} dir={text === message ? 'ltr' : undefined}>
      {text}
    </span>
  )
}

/** The records that are done, by their kind. */
function Done({ view, run: { done } }: { view: View; run: Run }) {
  const { t, words } = view
  if (done.length === 0) return null
  return (
    <Table
      view={view}
      label={t('import.progress')}
      rows={done}
      columns={[
        {
          label: t('log.what'),
          kind: 'title',
          cell: ({ type }) => (type in LABELS ? t(LABELS[type as Type]) : <code dir="ltr">{type}</code>),
        },
        {
          label: t('import.doneCount'),
          kind: 'number',
          cell: ({ done: count, found }) =>
            found === null
              ? words.number(count)
              : t('import.of', { created: words.number(count), found: words.number(Math.max(count, found)) }),
        },
      ]}
    />
  )
}

function Refused({ view, run }: { view: View; run: Run }) {
  if (run.refused === 0 || isBusy(run)) return null
  return (
    <p>
      <a href={view.href(`${HOME}/refused.jsonl?run=${run.runId}`)} download>
        {view.t('import.refusedFile', { count: run.refused })}
      </a>{' '}
      <span class="soft">{view.t('import.refusedHint')}</span>{' '}
      {run.refusedLeftOut > 0 ? view.t('import.refusedLeftOut', { count: run.refusedLeftOut }) : null}
    </p>
  )
}
