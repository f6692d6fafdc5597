import { pageNumber, withParameters, withQuery } from '../kit/addresses.js'
import type { View } from '../kit/page.js'

/** Links to the pages before and after this one. `query` keeps the filter, so that each address can be shared. */
export function Pager({
  view,
  page,
  pages,
  hasNext = page < pages,
  isCapped = false,
}: {
  view: View
  page: number
  pages: number
  hasNext?: boolean
  /** Whether the list ends before all that matches. */
  isCapped?: boolean | undefined
}) {
  return (
    <>
      {isCapped ? <p class="soft">{view.t('pager.capped')}</p> : null}
      {page > 1 || hasNext ? <Pages view={view} page={page} pages={pages} hasNext={hasNext} /> : null}
    </>
  )
}

interface PagesProps {
  view: View
  page: number
  pages: number
  hasNext: boolean
}

function Pages({ view, page, pages, hasNext }: PagesProps) {
  const at = (number: number) => view.href(withParameters(view.url, { page: number === 1 ? undefined : number }))
  return (
    <nav class="pager" aria-label={view.t('pager.label')}>
      {page > 1 ? (
        <a class="button plain" rel="prev" href={at(page - 1)}>
          {view.t('pager.previous')}
        </a>
      ) : null}
      {pages > 0 ? <span>{view.t('pager.at', { page, pages: Math.max(page, pages) })}</span> : null}
      {hasNext ? (
        <a class="button plain" rel="next" href={at(page + 1)}>
          {view.t('pager.next')}
        </a>
      ) : null}
    </nav>
  )
}

/** The same for comments: the first page has the newest, so that older ones are before it. */
export function CommentPager({ view, pages, to }: { view: View; pages: number; to: 'older' | 'newer' }) {
  const page = pageNumber(view)
  const number = to === 'older' ? page + 1 : page - 1
  if (number < 1 || number > pages) return null
  return (
    <p class="pager">
      <a
        class="button plain"
        rel={to === 'older' ? 'next' : 'prev'}
        href={view.href(withQuery(view.path, { page: number === 1 ? undefined : number }, 'comments'))}
      >
        {view.t(`comment.${to}`)}
      </a>
      {to === 'older' ? <span>{view.t('pager.at', { page, pages })}</span> : null}
    </p>
  )
}
