import { invalidField } from '../../core/fields.js'
import type { StatusKind } from '../../core/statuskinds.js'
import { unknownCode } from '../../core/nouns.js'
import { findBoard } from '../../db/boards.js'
import { findRoadmap, listRoadmaps } from '../../db/roadmaps.js'
import { MOST_RANGES } from '../../db/posts/filter.js'
import { findTag } from '../../db/tags.js'
import type { BoardRow, TagRow } from '../../db/tables.js'
import type { PostView } from '../../db/posts/row.js'
import { can, notAllowed } from './access.js'
import type { Context } from './context.js'
import { NONE } from './named.js'
import { findPerson } from './people.js'

type Reader = Pick<Context, 'db' | 'actor'>

/**
 * A board by id or url. Throws a VALIDATION_ERROR where it does not exist, or is private and the actor lacks
 * board:read.
 */
async function visibleBoard({ db, actor }: Reader, given: string): Promise<BoardRow> {
  const board = await findBoard(db, given)
  if (board && (board.display === 1 || can(actor, 'board:read'))) return board
  throw unknown('boardId', 'board', given)
}

/** The id of the board of a post, or null, as for "none". A post may stay on a board that the actor cannot read. */
export async function boardIdFrom(
  ctx: Reader,
  given: string | null | undefined,
  present: string | null = null,
): Promise<string | null> {
  if (!given || given === present) return given || null
  return given === NONE && !(await findBoard(ctx.db, NONE)) ? null : (await visibleBoard(ctx, given)).boardId
}

/** Fields of operations that name a roadmap. */
type RoadmapField = 'roadmapId' | 'roadmapIds' | 'to'

/** The id of the roadmap that a post is to have, or null, as for "none". */
export const roadmapIdTo = async (
  ctx: Reader,
  given: string | null,
  present: string | null = null,
  field?: RoadmapField,
): Promise<string | null> =>
  given === NONE && !(await findRoadmap(ctx.db, NONE)) ? null : roadmapIdFrom(ctx, given, present, field)

/** The id of a roadmap that is visible to the caller, as `visibleBoard`. */
export async function roadmapIdFrom(
  { db, actor }: Reader,
  given: string | null | undefined,
  present: string | null = null,
  field: RoadmapField = 'roadmapId',
): Promise<string | null> {
  if (!given || given === present) return given || null
  const roadmap = await findRoadmap(db, given)
  if (roadmap && (roadmap.display === 1 || can(actor, 'roadmap:read'))) return roadmap.id
  throw unknown(field, 'roadmap', given)
}

/** The ids of boards, each once, and null for "none", unless a board of an earlier version has that url. */
export const boardIdsFrom = async (ctx: Reader, given: readonly string[]): Promise<(string | null)[]> => [
  ...new Set(
    await Promise.all(
      given.map(async (each) => (each === '' ? (await visibleBoard(ctx, each)).boardId : boardIdFrom(ctx, each))),
    ),
  ),
]

/**
 * The same of roadmaps. "none" needs roadmap:read: a post of a private roadmap is shown as one without, but is not found
 * by this filter.
 */
export async function roadmapIdsFrom(ctx: Reader, given: readonly string[]): Promise<(string | null)[]> {
  const isNone = given.includes(NONE) && !(await findRoadmap(ctx.db, NONE))
  if (isNone && !can(ctx.actor, 'roadmap:read')) throw notAllowed(['roadmap:read'])
  const ids = given.map(async (each) => (each === NONE && isNone ? null : roadmapIdFrom(ctx, each, null, 'roadmapIds')))
  return [...new Set(await Promise.all(ids))]
}

/** Roadmaps that are looked at for their kinds, in their order. */
const MOST_OF_KINDS = 1000

/**
 * The roadmaps of some kinds. A post without one is open, and so is to this caller a post on a private one that they may
 * not see: nobody learns from a filter that it is there.
 */
export async function roadmapsOfKinds({ db, actor }: Reader, kinds: readonly StatusKind[]) {
  const isReader = can(actor, 'roadmap:read')
  const all = await listRoadmaps(db, { visibility: ['public', 'private'] }, { limit: MOST_OF_KINDS })
  const ids = all.filter(({ kind, display }) => kinds.includes(isReader || display === 1 ? kind : 'open')).map(({ id }) => id) // prettier-ignore
  return kinds.includes('open') ? [null, ...ids] : ids
}

/** Throws a VALIDATION_ERROR for more boards and roadmaps than a list can have. */
export function assertFew(boards: readonly unknown[], roadmaps: readonly unknown[] = []): void {
  if (boards.length * roadmaps.length <= MOST_RANGES) return
  throw invalidField({
    code: 'TOO_MANY',
    message: `The number of boards times that of roadmaps must be ${MOST_RANGES} at most; it is ${boards.length * roadmaps.length}.`,
    field: 'roadmapIds',
    rule: `at most ${MOST_RANGES} combinations of boards and roadmaps`,
    value: `${boards.length} boards, ${roadmaps.length} roadmaps`,
  })
}

/**
 * The id of the roadmap of a post after a change. A private roadmap stays if the actor may not see it: the editors of
 * clients send null for it, because they never received it. Throws NOT_ENOUGH_PERMISSION for any other roadmap.
 */
export async function roadmapIdAfter(
  ctx: Reader,
  given: string | null | undefined,
  { roadmap_id: present, roadmapDisplay: display }: Pick<PostView, 'roadmap_id' | 'roadmapDisplay'>,
): Promise<string | null> {
  if (given === undefined) return present
  const isHidden = present !== null && display !== 1 && !can(ctx.actor, 'roadmap:read')
  if (!isHidden) return roadmapIdTo(ctx, given, present)
  if (given !== null && given !== '' && given !== NONE) throw notAllowed(['roadmap:read'])
  return present
}

/**
 * A tag by id or url. A private one is as one that does not exist for those who lack dashboard:read.
 */
export async function tagFrom(ctx: Reader, given: string, field: string): Promise<TagRow> {
  const tag = await visibleTag(ctx, given)
  if (tag) return tag
  throw unknown(field, 'tag', given)
}

/** The ids of tags, each once, in one order; undefined where none is given. */
export async function tagIdsFrom(
  ctx: Reader,
  field: string,
  given: readonly string[] = [],
): Promise<string[] | undefined> {
  const found = new Set<string>()
  for (const each of given) found.add((await tagFrom(ctx, each, field)).tagId)
  return found.size === 0 ? undefined : [...found].toSorted((one, other) => (one < other ? -1 : 1))
}

export async function visibleTag({ db, actor }: Reader, given: string): Promise<TagRow | undefined> {
  const tag = await findTag(db, given)
  return tag && (tag.display === 1 || can(actor, 'dashboard:read')) ? tag : undefined
}

/** The id of an author. */
export async function authorIdFrom(ctx: Reader, given: string | undefined): Promise<string | undefined> {
  if (given === undefined || given === '') return undefined
  const user = await findPerson(ctx, given)
  if (!user) throw unknown('authorId', 'user', given)
  return user.userId
}

const unknown = (field: string, noun: 'board' | 'roadmap' | 'tag' | 'user', given: string) => {
  const [value, rule] = [
    given.slice(0, 100).toWellFormed(),
    noun === 'user' ? 'the id or user name of a user' : `the id or url of a ${noun}`,
  ]
  return invalidField({
    code: unknownCode(noun),
    message: `${field} must be ${rule}; ${JSON.stringify(value)} is not.`,
    field,
    rule,
    value,
  })
}
