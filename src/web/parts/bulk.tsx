import type { ComponentChildren } from 'preact'
import { withParameters } from '../kit/addresses.js'
import type { View } from '../kit/page.js'
import { Form, Hidden } from './form.js'

/**
 * A form around rows of which some are chosen, with what to do with them below, where it stays in sight. It leads back
 * to this address.
 */
export const Bulk = ({
  view,
  to,
  verbs,
  children,
}: {
  view: View
  to: string
  /** Choices and buttons. */
  verbs: ComponentChildren
  children: ComponentChildren
}) => (
  <Form view={view} to={to} class="bulk">
    <Hidden name="to" value={withParameters(view.url, {})} />
    {children}
    <div class="verbs">
      <output class="soft" data-count={view.t('table.count', { count: 2 })} />
      {verbs}
    </div>
  </Form>
)
