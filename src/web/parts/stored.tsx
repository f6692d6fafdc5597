import type { View } from '../lib/page.js'

/** Whether a form was refused because what it edits was changed meanwhile. */
const isOutdated = ({ form }: View): boolean => form.error?.code === 'CONTENT_CHANGED'

/** What is stored now, beside a form that would overwrite it. */
export const Stored = ({ view, texts }: { view: View; texts: readonly (string | null | undefined)[] }) =>
  isOutdated(view) ? (
    <section class="typed">
      <h2>{view.t('form.stored')}</h2>
      {texts.map((text) => (text ? <p dir="auto">{text}</p> : null))}
    </section>
  ) : null

/** The state that a form is about. A form that comes back is still about that, unless it has shown the present one. */
export const versionOf = (view: View, given: string | undefined, present: string): string =>
  isOutdated(view) ? present : (given ?? present)
