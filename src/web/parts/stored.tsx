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
