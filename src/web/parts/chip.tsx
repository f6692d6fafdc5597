import { isColor } from '../../core/colors.js'
import { withQuery } from '../kit/addresses.js'
import { links } from '../kit/links.js'
import type { View } from '../kit/page.js'
import { Icon } from './icon.js'

interface Place {
  name: string
  url: string
  color: string
}

/** The colour is an attribute of a drawing, because the policy of the pages allows no style in them. */
const Drawing = ({ color, round }: { color: string; round: number }) => (
  <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true" focusable="false">
    <rect width="10" height="10" rx={round} fill={`#${isColor(color) ? color : '888888'}`} />
  </svg>
)

/** A board is a square, and a status a circle. */
export const BoardSwatch = ({ color }: { color: string }) => <Drawing color={color} round={3} />
export const StatusSwatch = ({ color }: { color: string }) => <Drawing color={color} round={5} />

export const BoardChip = ({ view, board }: { view: View; board: Place }) => (
  <a class="chip" href={view.href(links.board(board.url))}>
    <BoardSwatch color={board.color} />
    <bdi>{board.name}</bdi>
  </a>
)

/** Where a post stands. */
export const RoadmapChip = ({ view, roadmap }: { view: View; roadmap: Place }) => (
  <a class="chip status" href={view.href(links.roadmap(roadmap.url))}>
    <StatusSwatch color={roadmap.color} />
    <bdi>{roadmap.name}</bdi>
  </a>
)

interface Tag extends Place {
  display: boolean
}

/** Tags lead to the posts that have them. Of more than `most`, the number of the others is shown. */
export const Tags = ({ view, tags, most = tags.length }: { view: View; tags: readonly Tag[]; most?: number }) =>
  tags.length === 0 ? null : (
    <ul class="tags" aria-label={view.t('tag.label')}>
      {tags.slice(0, most).map(({ name, url, color, display }) => (
        <li>
          <a class="chip" href={view.href(withQuery('/search', { q: `tag:${url}` }))}>
            <Drawing color={color} round={1} />
            <bdi>{name}</bdi>
            {display ? null : <span class="hidden">{view.t('mark.private')}</span>}
            {display ? null : <Icon name="lock" />}
          </a>
        </li>
      ))}
      {tags.length > most ? <li class="soft">+{view.words.number(tags.length - most)}</li> : null}
    </ul>
  )
