import { AppError } from '../../core/errors.js'
import { links } from '../../core/pagelinks.js'
import * as service from '../../service/eventundo.js'
import * as events from '../../service/events.js'
import { withQuery } from '../kit/addresses.js'
import { action, page, type LiveView, type View } from '../kit/page.js'
import { errorText, Form, Submit } from '../parts/form.js'
import { Table } from '../parts/table.js'
import { Time } from '../parts/time.js'
import { By, LOG, Subject, What } from '../parts/event.js'

/** Newer events that the page shows. */
const MOST = 20

/** The question before an event is undone, or what contradicts it. */
export const undoPage = page({
  cache: 'never',
  section: 'log',
  of: service.undo,
  async load(view) {
    const id = Number(view.params.event)
    const { event } = await view.call(events.show, { id })
    const problem = await problemOf(view, id)
    const isOld = problem?.code === 'CONTENT_CHANGED'
    const newer = isOld
      ? await view.call(events.list, { subject: event.subject_id, after: id, limit: MOST })
      : undefined
    return { event, problem, newer: newer?.events ?? [] }
  },
  title: ({ t }) => t('undo.eventTitle'),
  show(view, { event, problem = view.form.error, newer }) {
    const { t } = view
    const back = (
      <a class="button plain" href={view.href(LOG)}>
        {t('form.cancel')}
      </a>
    )
    return (
      <>
        <h1>{t('undo.eventTitle')}</h1>
        <Events view={view} label={t('undo.event')} rows={[event]} />
        {problem ? (
          <>
            <p class="note" role="status">
              {problem.code === 'CONTENT_CHANGED' ? t('undo.contradicted') : errorText(view, problem)}
            </p>
            {newer.length > 0 ? <Events view={view} label={t('undo.newer')} rows={newer} /> : null}
            <p>{back}</p>
          </>
        ) : (
          <Form view={view} to={links.undoEvent(event.id)} class="buttons">
            <Submit kind="danger">{t('undo.button')}</Submit>
            {back}
          </Form>
        )}
      </>
    )
  },
})

export const undoEvent = action({
  operation: service.undo,
  input: ({ params }) => ({ id: params.event }),
  done: (_view, { event }) => ({
    to: withQuery(LOG, { subject: event.subject_id }),
    flash: { flash: 'undone', count: 1 },
  }),
})

async function problemOf(view: LiveView, id: number): Promise<AppError | undefined> {
  try {
    await view.dryRun(service.undo, { id })
    return undefined
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return error
    throw error
  }
}

function Events({ view, label, rows }: { view: View; label: string; rows: readonly events.Event[] }) {
  const { t } = view
  const inLog = { ...view, url: LOG }
  return (
    <Table
      view={view}
      label={label}
      rows={rows}
      columns={[
        { label: '#', cell: ({ id }) => String(id) },
        { label: t('log.what'), kind: 'title', cell: (event) => <What view={inLog} event={event} /> },
        { label: t('log.subject'), cell: (event) => <Subject view={inLog} event={event} /> },
        { label: t('log.by'), cell: (event) => <By view={inLog} event={event} /> },
        { label: t('log.when'), cell: (event) => <Time view={view} at={event.created_at} /> },
      ]}
    />
  )
}
