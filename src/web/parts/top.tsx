import type { ComponentChildren } from 'preact'
import type { View } from '../kit/page.js'

/** The title of a page of the team, how much there is, and what to do first. */
export const Top = ({
  view,
  title,
  count,
  back,
  children,
}: {
  view: View
  title: string
  count?: string
  /** The list that the page belongs to. */
  back?: { to: string; text: string }
  children?: ComponentChildren
}) => (
  <div class="top">
    <div>
      {back ? (
        <p class="soft">
          <a href={view.href(back.to)}>{back.text}</a>
        </p>
      ) : null}
      <h1>
        <bdi>{title}</bdi>
      </h1>
      {count === undefined ? null : <p class="soft">{count}</p>}
    </div>
    {children}
  </div>
)
