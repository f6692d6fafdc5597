import * as Type from 'typebox'
import { STATUS_KINDS } from '../../core/statuskinds.js'
import { searchWords } from '../../core/search/words.js'
import type { PostFilter } from '../../db/posts/filter.js'
import { MOST_FOUND } from '../../db/posts/read.js'
import type { Period } from '../../db/paging.js'
import { assertSignedIn, can, notAllowed, type Actor } from './access.js'
import { currentHour, type CachedContext, type Context, type HourlyContext } from './context.js'
import { NONE } from './named.js'
import {
  assertFew,
  authorIdFrom,
  boardIdsFrom,
  roadmapIdFrom,
  roadmapIdsFrom,
  roadmapsOfKinds,
  tagIdsFrom,
} from './postplaces.js'
import { nullable, someOf } from './schemas.js'
import { personOf } from './sessions.js'
import { agePeriodFields, periodBefore } from './times.js'

const tagsField = (description: string) =>
  Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 20,
      rule: 'a list of up to 20 tag ids or urls',
      description: `${description}: ids or urls`,
      names: 'tag',
    }),
  )

/** Which posts. */
export const filterFields = {
  boardId: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 50,
      rule: 'a list of up to 50 board ids or urls',
      description: `Only posts on these boards: ids or urls, or "${NONE}" for posts without a board`,
      names: 'board',
    }),
  ),
  roadmapIds: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 50,
      rule: 'a list of up to 50 roadmap ids or urls',
      description: `Only posts on these roadmaps: ids or urls, or "${NONE}" for posts without a roadmap, which needs roadmap:read`,
      names: 'roadmap',
    }),
  ),
  roadmapId: Type.Optional(
    nullable('string', { description: 'Only posts on this roadmap: id or url', names: 'roadmap' }),
  ),
  statusKind: Type.Optional(
    someOf(STATUS_KINDS, {
      description:
        'Only posts whose roadmap is of one of these kinds; a post without a roadmap that you may see is open',
    }),
  ),
  tags: tagsField(`Only posts with any of these tags; of these only the newest ${MOST_FOUND} count`),
  allTags: tagsField(`Only posts with all of these tags; of these only the newest ${MOST_FOUND} count`),
  withoutTags: tagsField('Only posts with none of these tags; needs dashboard:read'),
  authorId: Type.Optional(Type.String({ description: 'Only by this user: id or user name', names: 'user' })),
  ...agePeriodFields('posts written'),
  waiting: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 3650,
      inDays: true,
      description:
        'Only posts without a roadmap that were written at least so many days before this hour, and are not hidden as spam; needs roadmap:read',
    }),
  ),
  pinned: Type.Optional(
    Type.Boolean({
      description: `Only posts that are above the others of their board; of these only the newest ${MOST_FOUND} count`,
    }),
  ),
  spam: Type.Optional(
    Type.Boolean({
      description: `Only posts that the team hid as spam, which those with board:read see; of these only the newest ${MOST_FOUND} count`,
    }),
  ),
  withoutSpam: Type.Optional(
    Type.Boolean({
      description:
        'Without posts that the team hid as spam, as the table of posts in the browser shows them; spam wins',
    }),
  ),
  mine: Type.Optional(Type.Boolean({ description: 'Only your own posts; needs an account' })),
  voted: Type.Optional(
    Type.Boolean({
      description: `Only posts you voted for; of these only the newest ${MOST_FOUND} count; needs an account`,
    }),
  ),
  following: Type.Optional(
    Type.Boolean({
      description: `Only posts you follow; of these only the newest ${MOST_FOUND} count; needs an account`,
    }),
  ),
}

export const queryField = Type.Optional(
  Type.String({
    maxLength: 500,
    description: `Only posts with all these words, or words that begin with them, in the title or text; takes filters too, such as "dark mode" -legacy board:ideas votes:>10; of these posts only the newest ${MOST_FOUND} count`,
  }),
)

/** Words of a search that count. */
const MAX_WORDS = 16

export const wordsOf = (text: string) => searchWords(text).slice(0, MAX_WORDS)

/** Undefined where a query says nothing. */
export const wordsGiven = (query = ''): readonly string[] | undefined =>
  query.trim() === '' ? undefined : wordsOf(query)

/** As for posts without a roadmap: one of a private roadmap would be among them. */
export function assertMayWait(actor: Actor): void {
  if (!can(actor, 'roadmap:read')) throw notAllowed(['roadmap:read'])
}

type Reader = CachedContext & (Pick<HourlyContext, 'hour'> | Pick<Context, 'now'>)

const DAY_MS = 24 * 60 * 60 * 1000

/** The period, without what is newer than the days that it waits. */
function waitingIn({ since, until }: Period, days: number | undefined, ctx: Reader): Period {
  if (days === undefined) return { since, until }
  const written = new Date(currentHour(ctx).getTime() - days * DAY_MS).toISOString()
  return { since, until: until === undefined || written < until ? written : until }
}

/**
 * Throws a VALIDATION_ERROR for a place or a person that does not exist, or that the actor may not see, and the refusal of
 * the actor where the filter is about them and they have no account.
 */
export async function filterFrom(
  ctx: Reader,
  {
    boardId: boards = [],
    roadmapIds = [],
    roadmapId,
    statusKind,
    tags,
    allTags,
    withoutTags,
    authorId,
    since,
    until,
    waiting,
    spam = false,
    withoutSpam = false,
    pinned = false,
    mine = false,
    voted = false,
    following = false,
  }: Type.Static<Type.TObject<typeof filterFields>>,
  words?: readonly string[],
): Promise<PostFilter> {
  const isPersonal = mine || voted || following
  if (isPersonal) assertSignedIn('signed-in', ctx.actor)
  const person = isPersonal ? await personOf(ctx) : undefined
  const roadmap = await roadmapIdFrom(ctx, roadmapId)
  const several = roadmapIds.length > 0 ? await roadmapIdsFrom(ctx, roadmapIds) : undefined
  const given = roadmap === null ? several : (several ?? [roadmap]).filter((id) => id === roadmap)
  if (waiting !== undefined) assertMayWait(ctx.actor)
  const named = waiting === undefined ? given : (given ?? [null]).filter((id) => id === null)
  const boardIds = await boardIdsFrom(ctx, boards)
  assertFew(boardIds, named)
  const ofKinds = statusKind && (await roadmapsOfKinds(ctx, statusKind))
  const roadmaps = ofKinds && named ? named.filter((id) => ofKinds.includes(id)) : (named ?? ofKinds)
  const author = await authorIdFrom(ctx, authorId)
  // It may have to look at every post
  if (withoutTags && withoutTags.length > 0 && !can(ctx.actor, 'dashboard:read')) throw notAllowed(['dashboard:read'])
  return {
    boards: boardIds,
    roadmaps,
    author: mine ? person : author,
    voter: voted ? person : undefined,
    follower: following ? person : undefined,
    pinned: pinned || undefined,
    tags: await tagIdsFrom(ctx, 'tags', tags),
    allTags: await tagIdsFrom(ctx, 'allTags', allTags),
    withoutTags: await tagIdsFrom(ctx, 'withoutTags', withoutTags),
    hidden: can(ctx.actor, 'board:read'),
    words: mine && author !== undefined && author !== person ? [] : words, // nobody is two people
    ...(waiting !== undefined && { spam: false as const }),
    // Others see none anyway
    ...(spam
      ? { onlySpam: true as const }
      : withoutSpam && can(ctx.actor, 'board:read') && { withoutSpam: true as const }),
    ...waitingIn(
      periodBefore(() => currentHour(ctx), { since, until }),
      waiting,
      ctx,
    ),
  }
}
