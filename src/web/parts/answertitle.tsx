import type { ComponentChildren } from 'preact'
import type { View } from '../kit/page.js'

/**
 * The title of a page that answers a form in place, or asks, such as a question or a secret that is shown once. It has the focus:
 * there a screen reader begins, and the keyboard goes on. What is wrong with a form comes first.
 */
export const AnswerTitle = ({ view, children }: { view: View; children: ComponentChildren }) => (
  <h1 tabIndex={-1} autofocus={!view.form.error}>
    {children}
  </h1>
)
