import type { VNode } from 'preact'
import { isColor } from '../../core/colors.js'
import { links } from '../../core/pagelinks.js'
import type { StatusKind } from '../../core/statuskinds.js'
import type { View } from '../kit/page.js'
import { Icon } from './icon.js'

interface Place {
  name: string
  url: string
  color: string
}

const fillOf = (color: string): string => `#${isColor(color) ? color : '888888'}`

/** The colour is an attribute of a drawing, because the policy of the pages allows no style in them. */
const Drawing = ({ color, round }: { color: string; round: number }) => (
  <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
    <rect width="10" height="10" rx={round} fill={fillOf(color)} />
  </svg>
)

/** The symbol of each kind of status: rings for what is to come, full circles for what has ended. */
const PROGRESS: Readonly<Record<StatusKind, (color: string) => VNode>> = {
  open: (color) => <Ring color={color} dashes="1.9 1.24" />,
  planned: (color) => <Ring color={color} />,
  active: (color) => (
    <>
      <Ring color={color} />
      <path d="M5 2.4a2.6 2.6 0 0 1 0 5.2z" fill={color} />
    </>
  ),
  done: (color) => <Ended color={color} sign="m2.9 5.2 1.5 1.5 2.7-3" />,
  declined: (color) => <Ended color={color} sign="m3.4 3.4 3.2 3.2m0-3.2-3.2 3.2" />,
}
const Ring = ({ color, dashes }: { color: string; dashes?: string }) => (
  <circle cx="5" cy="5" r="4" fill="none" stroke={color} stroke-width="1.6" stroke-dasharray={dashes} />
)
const Ended = ({ color, sign }: { color: string; sign: string }) => (
  <>
    <circle cx="5" cy="5" r="5" fill={color} />
    <path d={sign} fill="none" stroke="#fff" stroke-width="1.4" />
  </>
)

/** A board is a square, and a status a circle. A name that begins with an emoji has its mark already. */
export const BoardSwatch = ({ board }: { board: Pick<Place, 'name' | 'color'> }) =>
  /^[\p{Extended_Pictographic}\p{RI}]/u.test(board.name) ? null : <Drawing color={board.color} round={3} />
export const StatusSwatch = ({ color, kind }: { color: string; kind: StatusKind }) => (
  <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
    {PROGRESS[kind](fillOf(color))}
  </svg>
)
export const TagSwatch = ({ color }: { color: string }) => <Drawing color={color} round={1} />
/** A former status, whose kind is not known. */
export const FormerSwatch = ({ color }: { color: string }) => <Drawing color={color} round={5} />

export const BoardChip = ({ view, board }: { view: View; board: Place }) => (
  <a class="chip" href={view.href(links.board(board.url))}>
    <BoardSwatch board={board} />
    <bdi>{board.name}</bdi>
  </a>
)

/** Where a post stands. */
export const RoadmapChip = ({ view, roadmap }: { view: View; roadmap: Place & { kind: StatusKind } }) => (
  <a class="chip status" href={view.href(links.roadmap(roadmap.url))}>
    <StatusSwatch {...roadmap} />
    <bdi>{roadmap.name}</bdi>
  </a>
)

interface Tag extends Place {
  display: boolean
}

interface TagProps {
  view: View
  tag: Tag
  /** The list of posts with a tag. */
  to?: (this: void, url: string) => string
}

/** A tag leads to the posts that have it. */
export const TagChip = ({ view, tag: { name, url, color, display }, to = links.tag }: TagProps) => (
  <a class="chip" href={view.href(to(url))}>
    <TagSwatch color={color} />
    <bdi>{name}</bdi>
    {display ? null : <span class="hidden">{view.t('mark.private')}</span>}
    {display ? null : <Icon name="lock" />}
  </a>
)

interface TagsProps extends Pick<TagProps, 'view' | 'to'> {
  tags: readonly Tag[]
  most?: number
}

/** Of more than `most` tags, the number of the others is shown. */
export const Tags = ({ view, tags, most = tags.length, to = links.tag }: TagsProps) =>
  tags.length === 0 ? null : (
    <ul class="tags" aria-label={view.t('tag.label')}>
      {tags.slice(0, most).map((tag) => (
        <li>
          <TagChip view={view} tag={tag} to={to} />
        </li>
      ))}
      {tags.length > most ? <li class="soft">+{view.words.number(tags.length - most)}</li> : null}
    </ul>
  )

/** Says that a post stays on top of its board, or takes no more. */
export const PostMarks = ({
  view,
  post,
}: {
  view: View
  post: { pinned?: boolean; locked?: unknown; is_archived?: boolean }
}) => (
  <>
    {post.pinned ? <span class="mark">{view.t('mark.pinned')}</span> : null}
    {post.is_archived ? <span class="mark">{view.t('mark.archived')}</span> : null}
    {post.locked ? <span class="mark">{view.t('mark.locked')}</span> : null}
  </>
)
