import type { View } from '../kit/page.js'

/** A date. `site.js` turns it into an age, because cached pages must not contain ages. */
export const Time = ({ view, at }: { view: View; at: string }) => (
  <time datetime={at} title={view.words.time(at)}>
    {view.words.date(at)}
  </time>
)

/** A time of use. It is stored by the hour, so its age is shown in hours. */
export const Hour = ({ view, at }: { view: View; at: string }) => (
  <time datetime={at} title={view.words.time(at)} data-unit="hour">
    {view.words.date(at)}
  </time>
)

/** A use is stored by the hour, which may have begun before what it is a use of. */
export const latest = (one: string, other: string | null): string => (other !== null && other > one ? other : one)
