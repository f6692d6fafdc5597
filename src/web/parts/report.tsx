import { reportPost } from '../../service/moderation.js'
import type { View } from '../lib/page.js'
import { Field, Form, Submit, Summary } from './form.js'

/** Tells those who run the site that something is wrong with a post or a comment. */
export const ReportForm = ({ view, title, to, back }: { view: View; title: string; to: string; back: string }) => (
  <div class="narrow">
    <h1>{title}</h1>
    <Summary view={view} />
    <p>{view.t('report.explained')}</p>
    <Form view={view} to={to}>
      <Field view={view} of={reportPost} name="reason" label={view.t('report.reason')} rows={3} />
      <div class="buttons">
        <Submit>{view.t('report.send')}</Submit>
        <a class="button plain" href={view.href(back)}>
          {view.t('form.cancel')}
        </a>
      </div>
    </Form>
  </div>
)
