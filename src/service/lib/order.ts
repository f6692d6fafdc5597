import { coverAmong, coverOf, showsVotes, type Cover } from '../../db/posts/covered.js'
import type { PostFilter } from '../../db/posts/filter.js'
import type { Sort } from '../../db/posts/order.js'
import { can } from './access.js'
import type { CachedContext } from './context.js'

/** The posts whose votes the actor may not see without having voted; undefined where there are none. */
export const coverFor = async ({ db, actor }: Pick<CachedContext, 'db' | 'actor'>): Promise<Cover | undefined> =>
  can(actor, 'dashboard:read') ? undefined : coverOf(db)

/** An order that does not show the actor how many voted for posts that hide it: these are as if nobody had. */
export async function orderFor(
  ctx: Pick<CachedContext, 'db' | 'actor'>,
  filter: PostFilter,
  sort: Sort,
): Promise<{ order: Sort; cover?: Cover }> {
  const hidden = showsVotes(sort) ? await coverFor(ctx) : undefined
  const cover = hidden && coverAmong(hidden, filter)
  if (cover === 'all') return { order: 'newest' }
  return { order: sort, ...(cover && { cover }) }
}
