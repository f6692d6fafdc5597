import type { View } from '../kit/page.js'

/** A day. A script shows it as an age, which a page that is kept cannot. */
export const Time = ({ view, at }: { view: View; at: string }) => (
  <time datetime={at} title={view.words.time(at)}>
    {view.words.date(at)}
  </time>
)
