import type { ComponentChildren } from 'preact'
import type { View } from '../lib/page.js'
import { Form, Submit, Summary } from './form.js'

/** A question before something is lost. */
export const Confirm = ({
  view,
  to,
  back,
  title,
  action,
  children,
}: {
  view: View
  to: string
  back: string
  title: string
  action: string
  children: ComponentChildren
}) => (
  <div class="narrow">
    <h1>{title}</h1>
    <Summary view={view} />
    <p>{children}</p>
    <Form view={view} to={to} class="buttons">
      <Submit kind="danger">{action}</Submit>
      <a class="button plain" href={view.href(back)}>
        {view.t('form.cancel')}
      </a>
    </Form>
  </div>
)
