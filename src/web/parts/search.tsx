import type { ComponentChildren } from 'preact'
import type { View } from '../kit/page.js'

interface SearchProps {
  view: View
  /** The page that shows what is found. */
  to?: string
  label?: string
  text?: string | undefined
  autofocus?: boolean
  /** What the search is limited to. */
  children?: ComponentChildren
}

/** A field for the words of a search, in the page; that of the header has another id. A copy has none. */
export const SearchForm = ({
  view,
  to = '/search',
  label = view.t('nav.search'),
  text,
  autofocus,
  children,
}: SearchProps) =>
  view.copiedAt === undefined ? (
    <form class="search-page" role="search" aria-label={label} action={view.href(to)}>
      <label class="hidden" for="words">
        {label}
      </label>
      <input
        id="words"
        type="search"
        name="q"
        value={text}
        placeholder={label}
        maxLength={200}
        autofocus={autofocus ?? false}
      />
      {children}
      <button type="submit" class="button primary">
        {view.t('nav.search')}
      </button>
    </form>
  ) : null
