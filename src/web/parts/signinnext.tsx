import type { View } from '../kit/page.js'

/** Tells visitors, beside the buttons of a form, that they sign in before their text is published. */
export const SignInNext = ({ view }: { view: View }) =>
  view.viewer ? null : <span class="soft">{view.t('login.next')}</span>
