import type { ComponentChildren } from 'preact'
import type { View } from '../kit/page.js'

/** What a list is filtered by, each with a link to the list without it, and a link `all` to the list without any. */
export const ActiveFilters = ({
  view,
  active,
  all,
  children,
}: {
  view: View
  active: readonly { text: string; to: string }[]
  all: string
  /** What comes first. */
  children?: ComponentChildren
}) =>
  active.length === 0 ? null : (
    <ul class="buttons active-filters" aria-label={view.t('posts.filters')}>
      {children}
      {active.map(({ text, to }) => (
        <li>
          <a class="chip status" href={view.href(to)} aria-label={view.t('posts.without', { filter: text })}>
            <bdi>{text}</bdi> <span aria-hidden="true">×</span>
          </a>
        </li>
      ))}
      <li>
        <a href={view.href(all)}>{view.t('posts.clear')}</a>
      </li>
    </ul>
  )
