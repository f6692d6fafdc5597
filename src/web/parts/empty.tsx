import type { ComponentChildren } from 'preact'

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
