import type { View } from '../kit/page.js'

/** Whether a form was refused because what it edits was changed meanwhile. */
const isOutdated = ({ form }: View): boolean => form.error?.code === 'CONTENT_CHANGED'

/** Current text, shown beside a form that would overwrite it. */
export const Stored = ({ view, texts }: { view: View; texts: readonly (string | null | undefined)[] }) =>
  isOutdated(view) ? (
    <section class="typed">
      <h2>{view.t('form.stored')}</h2>
      {texts.map((text) => (text ? <p dir="auto">{text}</p> : null))}
    </section>
  ) : null

/** State of the row when the form was first rendered. A form shown again keeps it unless it shows the current one. */
export const versionOf = (view: View, given: string | undefined, present: string): string =>
  isOutdated(view) ? present : (given ?? present)

/** The same for a form with a `Version`, whose fields say themselves what is stored. */
export const isOlder = (view: View): boolean => isOutdated(view) && view.form.values.ifVersion !== undefined

/** The present value beside a field that has another. */
export const Now = ({ view, id, value }: { view: View; id: string; value: string }) => (
  <p class="now" id={id}>
    {view.t('form.now')} <bdi>{value}</bdi>
  </p>
)

/** The same for a box. */
export const NowTicked = ({ view, isTicked, isStored }: { view: View; isTicked: boolean; isStored: boolean }) =>
  isOlder(view) && isTicked !== isStored ? (
    <span class="now">
      {' '}
      {view.t('form.now')} {view.t(isStored ? 'place.yes' : 'place.no')}
    </span>
  ) : null
