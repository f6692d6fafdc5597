import type { ComponentChildren } from 'preact'
import type { reportComment, reportPost } from '../../service/moderation.js'
import type { Reported } from '../../service/reports.js'
import type { View } from '../kit/page.js'
import { Field, Form, Submit, Summary } from './form.js'
import { Refused } from './refused.js'

/** Tells those who run the site that something is wrong with a post or a comment. */
export const ReportForm = ({
  view,
  of,
  title,
  to,
  back,
  quote,
  explained = view.t('report.explained'),
  reason,
  send = view.t('report.send'),
}: {
  view: View
  of: typeof reportPost | typeof reportComment
  title: string
  to: string
  back: string
  quote?: ComponentChildren
  explained?: string
  /** Initial value of the field. */
  reason?: string
  send?: string
}) => (
  <div class="narrow">
    <h1>{title}</h1>
    <Summary view={view} />
    {quote}
    <p>{explained}</p>
    <Form view={view} to={to}>
      <Refused view={view} of={of} />
      <Field view={view} of={of} name="reason" label={view.t('report.reason')} rows={3} value={reason} />
      <div class="buttons">
        <Submit>{send}</Submit>
        <a class="button plain" href={view.href(back)}>
          {view.t('form.cancel')}
        </a>
      </div>
    </Form>
  </div>
)

/** "Reported by you" while the viewer's report of this is open; otherwise a link to report it, and whether the team has decided about the last one. */
export function ReportLink({ view, to, id, reported }: ReportLinkProps) {
  const own = reported.find((each) => each.id === id)
  if (own?.is_open) return <span class="done">{view.t('report.done')}</span>
  return (
    <>
      {own ? <span class="done">{view.t('report.reviewed')}</span> : null}
      <a href={view.href(to)}>{view.t('action.report')}</a>
    </>
  )
}

interface ReportLinkProps {
  view: View
  to: string
  id: string
  /** What the viewer has reported of the post and its comments. */
  reported: readonly Reported[]
}

/** Shown in place of a confirmation if others have taken part: the author can ask the team to delete it. */
export const AskToDelete = ({
  view,
  ...of
}: Pick<Parameters<typeof ReportForm>[0], 'view' | 'of' | 'title' | 'to' | 'back' | 'quote'>) => (
  <ReportForm
    view={view}
    {...of}
    explained={view.t('delete.taken')}
    reason={view.t('delete.reason')}
    send={view.t('delete.ask')}
  />
)
