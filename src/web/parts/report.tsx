import type { reportComment, reportPost } from '../../service/moderation.js'
import type { View } from '../lib/page.js'
import { Field, Form, Submit, Summary } from './form.js'
import { Refused } from './refused.js'

/** Tells those who run the site that something is wrong with a post or a comment. */
export const ReportForm = ({
  view,
  of,
  title,
  to,
  back,
}: {
  view: View
  of: typeof reportPost | typeof reportComment
  title: string
  to: string
  back: string
}) => (
  <div class="narrow">
    <h1>{title}</h1>
    <Summary view={view} />
    <p>{view.t('report.explained')}</p>
    <Form view={view} to={to}>
      <Refused view={view} of={of} />
      <Field view={view} of={of} name="reason" label={view.t('report.reason')} rows={3} />
      <div class="buttons">
        <Submit>{view.t('report.send')}</Submit>
        <a class="button plain" href={view.href(back)}>
          {view.t('form.cancel')}
        </a>
      </div>
    </Form>
  </div>
)
