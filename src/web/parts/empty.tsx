import type { ComponentChildren } from 'preact'
import { links } from '../../core/pagelinks.js'
import { withQuery } from '../kit/addresses.js'
import { filterOf } from './lists.js'
import type { View } from '../kit/page.js'

/** What stands where there is nothing: why, and what to do next. */
export const Empty = ({
  title,
  children,
  isPage,
}: {
  title: string
  children?: ComponentChildren
  isPage?: boolean
}) => (
  <div class="empty">
    {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
    {children}
  </div>
)

/** A filter that nothing matches: see everything, or write what was looked for. */
export const Unmatched = ({ view, all, board = view.query.board }: { view: View; all: string; board?: string }) => (
  <Empty title={view.t('empty.filtered')}>
    <p>
      <a class="button plain" href={view.href(all)}>
        {view.t('empty.showAll')}
      </a>
      <a
        class="button primary"
        href={view.href(withQuery(links.newPost, { title: filterOf(view).slice(0, 100), board }))}
      >
        {view.t('search.write')}
      </a>
    </p>
  </Empty>
)
