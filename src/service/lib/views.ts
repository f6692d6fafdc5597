import * as Type from 'typebox'
import { AppError } from '../../core/errors.js'
import { quoted, searchKey } from '../../core/text.js'
import { boardsWithIds } from '../../db/boards.js'
import { SORTS } from '../../db/posts/order.js'
import { roadmapsWithIds } from '../../db/roadmaps.js'
import { tagsWithIds } from '../../db/tags.js'
import type { Period } from '../../db/paging.js'
import { findView, type NamedView, type StoredFilter } from '../../db/views.js'
import { can, refusedBy, type Actor } from './access.js'
import type { CachedContext, Context } from './context.js'
import { NONE } from './named.js'
import { findPerson } from './people.js'
import { policy } from './policies.js'
import { assertMayWait, filterFields, filterFrom, queryField, wordsGiven } from './postfilter.js'
import { oneOf } from './schemas.js'
import { personOf } from './sessions.js'
import { ageMs, agePeriodFields } from './times.js'

/** Who has views, and sees those that are shared. */
export const VIEWERS = 'dashboard:read'

const { roadmapId: _one, ...several } = filterFields

export const VIEW_SORTS = SORTS

/** What a view keeps: fields of a list of posts. */
export const viewFields = {
  sort: Type.Optional(oneOf(SORTS, { anyCase: true, description: 'Order' })),
  ...several,
  ...agePeriodFields('posts written', { keepsAge: true }),
  query: queryField,
}
export type ViewInput = Type.Static<Type.TObject<typeof viewFields>>

/** A choice of a view that is gone, or that the caller may not see. */
export const Missing = Type.Object({
  field: Type.Unsafe<'boardId' | 'roadmapIds' | 'authorId' | 'tags' | 'allTags'>({
    type: 'string',
    enum: ['boardId', 'roadmapIds', 'authorId', 'tags', 'allTags'],
  }),
  value: Type.String({ description: 'The id' }),
})
type Missing = Type.Static<typeof Missing>

/** The view of a list, for an answer. */
export const OpenView = Type.Object(
  { viewId: Type.String({ format: 'uuid' }), name: Type.String(), missing: Type.Array(Missing) },
  { description: 'The view that was asked for, and what of it is gone; absent without one' },
)

export const viewField = Type.Optional(
  Type.String({
    maxLength: 100,
    description:
      'Id or name of a saved view, whose filter and order count where no other is given; needs dashboard:read',
    names: 'view',
  }),
)

const isOwn = ({ userId }: Actor, view: Pick<NamedView, 'userId'>) => userId !== null && view.userId === userId

const byAuthor = (actor: Actor, view: Pick<NamedView, 'userId'>) =>
  refusedBy(VIEWERS, actor) ?? (actor.isOwner || isOwn(actor, view) ? undefined : notAuthor())

/** The owner of the site may also change the shared views of others. Private views of others are not visible to anyone else. */
export const viewPolicy = policy({ update: byAuthor, delete: byAuthor })

const notAuthor = () =>
  new AppError('NOT_ENOUGH_PERMISSION', 'Only the person who saved this view, or the owner of the site, may change it.')

/** A view that the actor sees, by id or name. */
export async function viewGiven(ctx: CachedContext, given: string): Promise<NamedView> {
  const idOrName = given.trim()
  const view = can(ctx.actor, VIEWERS)
    ? await findView(ctx.db, await personOf(ctx), { idOrName, folded: searchKey(idOrName) })
    : undefined
  if (!view)
    throw new AppError('VIEW_NOT_FOUND', `You have no view ${quoted(idOrName)}, and none with this name is shared.`)
  return view
}

/** Fields of a list of posts that a view keeps under other names. */
type Renamed = 'boardId' | 'roadmapIds' | 'authorId'
/** Does not compile where a field is not stored: its view would show every post. */
type Unstored = Exclude<keyof ViewInput, keyof StoredFilter | Renamed>
true satisfies [Unstored] extends [never] ? true : never

/** What a filter is stored as. Throws a VALIDATION_ERROR where a list of posts would. */
export async function storedFrom(
  ctx: Context,
  { sort, query = '', statusKind, waiting, pinned, spam, withoutSpam, mine, voted, following, ...given }: ViewInput,
): Promise<StoredFilter> {
  if (waiting !== undefined) assertMayWait(ctx.actor)
  const filter = await filterFrom(ctx, given, wordsGiven(query))
  return {
    ...(sort && { sort }),
    ...(filter.boards.length > 0 && { boards: [...filter.boards] }),
    ...(filter.roadmaps && { roadmaps: [...filter.roadmaps] }),
    ...(statusKind && { statusKind: [...new Set(statusKind)] }),
    ...(filter.tags && { tags: [...filter.tags] }),
    ...(filter.allTags && { allTags: [...filter.allTags] }),
    ...(filter.withoutTags && { withoutTags: [...filter.withoutTags] }),
    ...(filter.author !== undefined && { author: filter.author }),
    ...storedTimes(given, filter),
    ...(waiting !== undefined && { waiting }),
    ...(pinned && { pinned }),
    ...(spam && { spam }),
    ...(withoutSpam && { withoutSpam }),
    ...(mine && { mine }),
    ...(voted && { voted }),
    ...(following && { following }),
    ...(query.trim() !== '' && { query: query.trim() }),
  }
}

/** An age stays one, so that the view is as old tomorrow. */
function storedTimes(given: Period, filter: Period): Pick<StoredFilter, 'since' | 'until'> {
  const stored = (which: keyof Period) => {
    const time = ageMs(given[which] ?? '') === undefined ? filter[which] : given[which]
    return time === undefined ? {} : { [which]: time }
  }
  return { ...stored('since'), ...stored('until') }
}

/** The names of the fields in what is stored, where they differ. */
const STORED: Readonly<Record<string, keyof StoredFilter>> = {
  boardId: 'boards',
  roadmapIds: 'roadmaps',
  authorId: 'author',
}

/** A stored filter without the fields that are given anew, which may be empty. */
export const without = (stored: StoredFilter, given: ViewInput): StoredFilter => {
  const fields = Object.entries(given).flatMap(([field, value]) =>
    value === undefined ? [] : (STORED[field] ?? field),
  )
  return Object.fromEntries(Object.entries(stored).filter(([field]) => !fields.includes(field)))
}

export interface Opened {
  filter: ViewInput
  missing: Missing[]
}

/** The fields that a view stands for, without what is gone or what the actor may not see. */
export async function opened(ctx: CachedContext, stored: StoredFilter): Promise<Opened> {
  const { boards = [], roadmaps = [], tags = [], allTags = [], withoutTags = [], author, waiting, ...others } = stored
  const { db, actor } = ctx
  const [reads, follows] = [can(actor, 'board:read'), can(actor, 'roadmap:read')]
  const places = new Map((await boardsWithIds(db, idsIn(boards))).filter(({ display }) => reads || display === 1).map(({ boardId, url }) => [boardId, url])) // prettier-ignore
  const stages = new Map((await roadmapsWithIds(db, idsIn(roadmaps))).filter(({ display }) => follows || display === 1).map(({ id, url }) => [id, url])) // prettier-ignore
  const urlsOf = (ids: readonly (string | null)[], known: ReadonlyMap<string, string>, none: boolean) =>
    ids.flatMap((id) => (id === null ? (none ? [NONE] : []) : (known.get(id) ?? [])))
  const lacking = (
    field: Missing['field'],
    ids: readonly (string | null)[],
    known: ReadonlyMap<string, string>,
    none: boolean,
  ): Missing[] =>
    // prettier-ignore
    ids.filter((id) => (id === null ? !none : !known.has(id))).map((id) => ({ field, value: id ?? NONE }))
  const labels = new Map((await tagsWithIds(db, [...tags, ...allTags, ...withoutTags])).filter(({ display }) => can(actor, 'dashboard:read') || display === 1).map(({ tagId, url }) => [tagId, url])) // prettier-ignore
  const areAll = allTags.every((id) => labels.has(id))
  const person = author === undefined ? undefined : await findPerson(ctx, author)
  return {
    filter: {
      ...others,
      ...(boards.length > 0 && { boardId: urlsOf(boards, places, true) }),
      ...(roadmaps.length > 0 && { roadmapIds: urlsOf(roadmaps, stages, follows) }),
      ...(tags.length > 0 && { tags: urlsOf(tags, labels, false) }),
      ...(allTags.length > 0 && { allTags: areAll ? urlsOf(allTags, labels, false) : [] }),
      ...(withoutTags.length > 0 && { withoutTags: urlsOf(withoutTags, labels, false) }),
      ...(person && { authorId: person.username }),
      ...(waiting !== undefined && follows && { waiting }),
    },
    missing: [
      ...lacking('boardId', boards, places, true),
      ...lacking('roadmapIds', waiting === undefined ? roadmaps : [...new Set([...roadmaps, null])], stages, follows),
      ...lacking('tags', tags, labels, false),
      ...lacking('allTags', allTags, labels, false),
      ...(person || author === undefined ? [] : [{ field: 'authorId' as const, value: author }]),
    ],
  }
}

const idsIn = (ids: readonly (string | null)[]): string[] => ids.filter((id) => id !== null)

/** The fields of a list: those that are given, and for the others those of its view. */
export async function withView<In extends Partial<ViewInput> & { view?: string }>(ctx: CachedContext, input: In) {
  if (input.view === undefined || input.view.trim() === '')
    return { input: input as In & ViewInput, view: undefined, isNothing: false }
  const { viewId, name, filter: text } = await viewGiven(ctx, input.view)
  const { filter, missing } = await opened(ctx, JSON.parse(text) as StoredFilter)
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as In
  // Without what is gone the list would have more than the view is for
  const isNothing = missing.some(({ field }) => given[field] === undefined && (filter[field] ?? []).length === 0)
  return { input: { ...filter, ...given } as In & ViewInput, view: { viewId, name, missing }, isNothing }
}
