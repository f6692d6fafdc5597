import type { View } from '../lib/page.js'

interface Place {
  name: string
  url: string
  color: string
}

/** The colour is an attribute of a drawing, because the policy of the pages allows no style in them. */
export const Swatch = ({ color }: { color: string }) => (
  <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true" focusable="false">
    <rect width="10" height="10" rx="3" fill={`#${/^[0-9a-f]{6}$/i.test(color) ? color : '888888'}`} />
  </svg>
)

export const BoardChip = ({ view, board }: { view: View; board: Place }) => (
  <a class="chip" href={view.href(`/boards/${encodeURIComponent(board.url)}`)}>
    <Swatch color={board.color} />
    <bdi>{board.name}</bdi>
  </a>
)

/** Where a post stands. */
export const RoadmapChip = ({ view, roadmap }: { view: View; roadmap: Place }) => (
  <a class="chip status" href={view.href(`/roadmaps/${encodeURIComponent(roadmap.url)}`)}>
    <Swatch color={roadmap.color} />
    <bdi>{roadmap.name}</bdi>
  </a>
)
