import { hidesFinished, STATUS_KINDS } from '../../core/statuskinds.js'
import { VIEW_SORTS, type ViewInput } from '../../service/lib/views.js'
import { withQuery } from '../kit/addresses.js'
import { ageMs } from '../../service/lib/times.js'
import type { View } from '../kit/page.js'

/** Which posts an address asks for: the parameters that every list of the team's posts has. */
export function askedOf(view: Pick<View, 'query' | 'queried'>): ViewInput & { view?: string } {
  const { q, author, since, until, recent, waiting, pinned, spam, by, voted, following, sort, view: saved } = view.query
  const [boardId, roadmapIds] = [view.queried('board'), view.queried('roadmap')]
  const kinds = view.queried('kind')
  const statusKind = STATUS_KINDS.filter((kind) => kinds.includes(kind))
  const [tags, allTags, withoutTags] = [view.queried('tag'), view.queried('tags'), view.queried('untagged')]
  const order = VIEW_SORTS.find((each) => each === sort)
  return {
    ...(saved && { view: saved }),
    ...(q?.trim() && { query: q.trim().slice(0, 200) }),
    ...(boardId.length > 0 && { boardId }),
    ...(roadmapIds.length > 0 && { roadmapIds }),
    ...(statusKind.length > 0 && { statusKind }),
    ...(tags.length > 0 && { tags }),
    ...(allTags.length > 0 && { allTags }),
    ...(withoutTags.length > 0 && { withoutTags }),
    ...(author && { authorId: author }),
    ...(since && { since }),
    ...(recent && { since: `${recent.slice(0, 10)}d` }),
    ...(until && { until }),
    ...(waiting && { waiting: /^\d{1,4}$/.test(waiting) ? Number(waiting) : 0 }),
    ...(pinned === 'true' && { pinned: true }),
    ...(spam === 'true' && { spam: true }),
    ...(spam === 'false' && { withoutSpam: true }),
    ...(by === 'me' && { mine: true }),
    ...(voted === 'true' && { voted: true }),
    ...(following === 'true' && { following: true }),
    ...(order && { sort: order }),
  }
}

type Asked = ReturnType<typeof askedOf>

/** As the table of posts shows them: without spam, unless the address asks for it. */
export const inTable = (asked: Asked): Asked => (asked.spam ? asked : { ...asked, withoutSpam: true })

/** The input of the table's list. Sorted by trend it also shows finished posts, so that it matches its counts and its download. */
export const listedInTable = (asked: Asked): Asked => {
  const shown = inTable(asked)
  return hidesFinished(shown) ? { ...shown, statusKind: [...STATUS_KINDS] } : shown
}

const DAY_MS = 24 * 60 * 60 * 1000

/** The days of an age that the form shows as a number. */
export function recentDays(since = ''): string | undefined {
  const days = (ageMs(since) ?? 0) / DAY_MS
  return days > 0 && Number.isInteger(days) ? String(days) : undefined
}

/** The parameters of the address that asks for these posts. */
export const queryOf = ({
  query,
  boardId,
  roadmapIds,
  statusKind,
  tags,
  allTags,
  withoutTags,
  authorId,
  since,
  until,
  waiting,
  pinned,
  spam,
  withoutSpam,
  mine,
  voted,
  following,
  sort,
}: ViewInput) => ({
  q: query,
  board: boardId,
  roadmap: roadmapIds,
  kind: statusKind,
  tag: tags,
  tags: allTags,
  untagged: withoutTags,
  author: authorId,
  since: recentDays(since) === undefined ? since : undefined,
  recent: recentDays(since),
  until,
  waiting: waiting === undefined || waiting === 0 ? undefined : String(waiting),
  pinned: pinned ? 'true' : undefined,
  spam: spam ? 'true' : withoutSpam ? 'false' : undefined,
  by: mine ? 'me' : undefined,
  voted: voted ? 'true' : undefined,
  following: following ? 'true' : undefined,
  sort,
})

/** The address of these posts. */
export const addressOf = (path: string, filter: ViewInput): string => withQuery(path, queryOf(filter))
