import { progressScript } from '../kit/assets.js'
import type { View } from '../kit/page.js'

/** In the head of a page about work that runs: without a script, the page loads itself again. */
export const Again = ({ view, to }: { view: View; to: string }) => (
  <noscript>
    <meta http-equiv="refresh" content={`3; url=${view.href(to)}`} />
  </noscript>
)

/** Shows how far the element with `data-progress="busy"` is, and loads the page again once it is gone. */
export const ProgressScript = ({ view }: { view: View }) => (
  <script src={view.href(progressScript.path)} type="module" />
)
