import type { ComponentChildren } from 'preact'
import type { View } from '../kit/page.js'
import { AnswerTitle } from './answertitle.js'
import { Form, Hidden, Submit, Summary } from './form.js'

/** A question before something is lost. */
export const Confirm = ({
  view,
  to,
  back,
  title,
  action,
  quote,
  next,
  children,
}: {
  view: View
  to: string
  back: string
  title: string
  action: string
  /** What is lost. */
  quote?: ComponentChildren
  /** Target of the redirect, without the base path. */
  next?: string | undefined
  children: ComponentChildren
}) => (
  <div class="narrow">
    <AnswerTitle view={view}>{title}</AnswerTitle>
    <Summary view={view} />
    {quote}
    <p>{children}</p>
    <Form view={view} to={to} class="buttons">
      <Hidden name="to" value={next} />
      <Submit kind="danger" shortcut="#">
        {action}
      </Submit>
      <a class="button plain" href={view.href(back)}>
        {view.t('form.cancel')}
      </a>
    </Form>
  </div>
)
