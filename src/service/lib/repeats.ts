import { LRUCache } from 'lru-cache'
import * as Type from 'typebox'
import { SHOWN } from '../../core/hidden.js'
import { LIKELY } from '../../core/search/likely.js'
import type { PostView } from '../../db/posts/row.js'
import { postsNumbered } from '../../db/searchhits.js'
import { can } from './access.js'
import type { Context } from './context.js'
import { filterFrom } from './postfilter.js'
import { findSimilar } from './similar.js'
import { reasonsOf, SimilarReason } from './similarreasons.js'
import { shownBy } from './voters.js'

/** An earlier post that a new one most likely repeats. */
export const Repeated = Type.Object({
  ...SimilarReason.properties,
  number: Type.Integer(),
  title: Type.String(),
  slug: Type.String(),
  board: Type.Union([Type.Object({ name: Type.String(), url: Type.String() }), Type.Null()]),
  is_private: Type.Boolean({ description: 'Whether its board is private' }),
  is_mergeable: Type.Boolean({
    description:
      'Whether you may merge into it as things are, and as many people see it and its voters: nothing is held or reported, and the boards are both public or both private',
  }),
})
export type Repeated = Type.Static<typeof Repeated>

/** What of a post is compared with earlier ones. */
export interface Newer {
  postId: string
  number: number
  title: string
  text: string | null
  /** When it was last changed. */
  updatedAt: string
  /** Whether it has open reports. */
  isReported: boolean
}

/** Posts that are looked for at once. The others say nothing, so that a long page costs no more than a usual one. */
const MOST_AT_ONCE = 20
/** Similar posts that are looked at: the first of them that is earlier is the one. */
const LOOKED = 5
/** Characters of a title and of a text that are read. */
const [MAX_TITLE, MAX_TEXT] = [200, 1000]
const MINUTE_MS = 60_000

interface Found {
  /** Undefined where no earlier post is like it. */
  repeated: { number: number; reason: SimilarReason } | undefined
}

/** A team reads the same queue again and again, and a search costs more than a row of it: each is kept for a while. */
const known = new LRUCache<string, Found>({ max: 2000, ttl: 10 * MINUTE_MS })

/** The earlier posts that these most likely repeat, by the ids of the newer ones. */
export async function repeatedBy(ctx: Context, newer: readonly Newer[]): Promise<Map<string, Repeated>> {
  const found = new Map<string, Found>()
  let looked = 0
  for (const each of newer) {
    const key = [each.postId, each.updatedAt, can(ctx.actor, 'board:read')].join(' ')
    const present = known.get(key)
    if (!present && (looked += 1) > MOST_AT_ONCE) continue
    const one = present ?? { repeated: await earlierThan(ctx, each) }
    found.set(each.postId, one)
    known.set(key, one)
  }
  const pairs = newer.flatMap((each) => {
    const repeated = found.get(each.postId)?.repeated
    return repeated ? [{ each, repeated }] : []
  })
  const numbers = pairs.flatMap(({ each, repeated }) => [each.number, repeated.number])
  const rows = new Map((await postsNumbered(ctx.db, [...new Set(numbers)])).map((row) => [row.number, row]))
  return new Map(
    pairs.flatMap(({ each, repeated }) => {
      const [post, row] = [rows.get(each.number), rows.get(repeated.number)]
      return post && row && isShown(ctx, row) ? [[each.postId, shownOf(ctx, { each, post, row }, repeated.reason)]] : []
    }),
  )
}

function shownOf(
  { actor }: Context,
  { each, post, row }: { each: Newer; post: PostView; row: PostView },
  reason: SimilarReason,
): Repeated {
  const { number, title, slug, boardName: name, boardUrl: url } = row
  return {
    ...reason,
    number,
    title,
    slug,
    board: name === null || url === null ? null : { name, url },
    is_private: row.display !== 1,
    is_mergeable: can(actor, 'post:update') && !each.isReported && isSeenAlike(post, row),
  }
}

/** A merge that hides a post from those who see it, or shows its voters to others, takes more than one look. */
export const isSeenAlike = (post: PostView, into: PostView): boolean =>
  post.is_spam === SHOWN && post.display === into.display && shownBy(post, into) === undefined

/** Since it was found, it may have been merged, hidden or made private. */
const isShown = ({ actor }: Context, { is_spam: hidden, display }: PostView): boolean =>
  hidden === SHOWN && (display === 1 || can(actor, 'board:read'))

async function earlierThan(ctx: Context, { postId, number, title, text }: Newer): Promise<Found['repeated']> {
  const asked = {
    title: title.slice(0, MAX_TITLE),
    text: (text ?? '').slice(0, MAX_TEXT),
    except: postId,
    limit: LOOKED,
  }
  const hidden = can(ctx.actor, 'board:read')
  const { found, parts } = await findSimilar(ctx.db, await filterFrom(ctx, {}), asked, { hidden })
  const first = found.find(({ post, score }) => post.number < number && score >= LIKELY)
  if (!first) return undefined
  const [row] = await postsNumbered(ctx.db, [first.post.number])
  const [reason] = row ? await reasonsOf(ctx, parts, [{ row, score: first.score }]) : []
  return reason && { number: first.post.number, reason }
}

/** A post of an import that looks like one that was there before. */
export interface Imported {
  title: string
  number: number
  earlier: string
}

/** How many new posts of an import are looked for, and how many are named. */
const [MOST_IMPORTED, MOST_NAMED] = [200, 20]
/** Similar posts that are looked at: others of the same import may be more alike. */
const LOOKED_IMPORTED = 20

/** Compares the first posts of an import with those that a site had before it. */
export class ImportedRepeats {
  readonly #ctx: Context
  readonly #newest: number
  looked = 0
  count = 0
  readonly named: Imported[] = []

  /** `newest` is the number of the newest post before. */
  constructor(ctx: Context, newest: number) {
    this.#ctx = ctx
    this.#newest = newest
  }

  async look(titles: readonly string[]): Promise<void> {
    if (this.#newest === 0) return
    const filter = await filterFrom(this.#ctx, {})
    for (const title of titles.slice(0, MOST_IMPORTED - this.looked)) {
      this.looked += 1
      const asked = { title: title.slice(0, MAX_TITLE), limit: LOOKED_IMPORTED }
      const { found } = await findSimilar(this.#ctx.db, filter, asked, { hidden: true })
      const first = found.find(({ post, score }) => post.number <= this.#newest && score >= LIKELY)
      if (!first) continue
      this.count += 1
      if (this.named.length < MOST_NAMED)
        this.named.push({ title, number: first.post.number, earlier: first.post.title })
    }
  }

  /** Undefined if none looks like an earlier one. */
  get shown(): { looked: number; count: number; posts: readonly Imported[] } | undefined {
    return this.count === 0 ? undefined : { looked: this.looked, count: this.count, posts: this.named }
  }
}
