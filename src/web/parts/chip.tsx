import { isColor } from '../../core/colors.js'
import { links } from '../kit/links.js'
import type { View } from '../kit/page.js'

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
