import { LRUCache } from 'lru-cache'
import * as Type from 'typebox'
import { HELD, SHOWN } from '../../core/hidden.js'
import { LIKELY } from '../../core/search/likely.js'
import type { PostView } from '../../db/posts/row.js'
import { postsNumbered } from '../../db/searchhits.js'
import { can } from './access.js'
import type { Context } from './context.js'
import { filterFrom } from './postfilter.js'
import { findSimilar } from './similar.js'
import { reasonsOf, SimilarReason } from './similarreasons.js'
import { isHeld } from './postshapes.js'
import { shownBy } from './voters.js'

/** An earlier post that a new one most likely repeats. */
export const Repeated = Type.Object({
  ...SimilarReason.properties,
  number: Type.Integer(),
  title: Type.String(),
  slug: Type.String(),
  board: Type.Union([Type.Object({ name: Type.String(), url: Type.String() }), Type.Null()]),
  is_private: Type.Boolean({ description: 'Whether its board is private' }),
  is_held: isHeld,
  is_mergeable: Type.Boolean({
    description:
      'Whether you may merge into it as things are, and as many people see it and its voters: the earlier post is not held, nothing is hidden as spam or reported, and the boards are both public or both private',
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
  /** Whether the caller may merge it into some other post. */
  mayMerge: boolean
  /** Whether it is held: only then may it repeat another held one. */
  isHeld: boolean
}

/** Posts that are looked for at once. The others say nothing, so that a long page costs no more than a usual one. */
const MOST_AT_ONCE = 20
/** Similar posts that are looked at: the same text may be held many times. */
const LOOKED = 20
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
  const keyOf = ({ postId, updatedAt, isHeld }: Newer) => [postId, updatedAt, isHeld, can(ctx.actor, 'board:read')].join(' ') // prettier-ignore
  const remembered = await rowsOf(ctx, newer.map((each) => known.get(keyOf(each))?.repeated?.number)) // prettier-ignore
  let looked = 0
  for (const each of newer) {
    const key = keyOf(each)
    const before = known.get(key)
    const row = remembered.get(before?.repeated?.number)
    // Since it was found, it may have been merged into another: that one is the answer then
    const present = before?.repeated && !(row && isNamed(ctx, each, row)) ? undefined : before
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
  const rows = await rowsOf(ctx, numbers)
  return new Map(
    pairs.flatMap(({ each, repeated }) => {
      const [post, row] = [rows.get(each.number), rows.get(repeated.number)]
      return post && row && isNamed(ctx, each, row)
        ? [[each.postId, shownOf({ each, post, row }, repeated.reason)]]
        : []
    }),
  )
}

/** The posts with some numbers, by their numbers. */
async function rowsOf(
  { db }: Context,
  numbers: readonly (number | undefined)[],
): Promise<Map<number | undefined, PostView>> {
  const wanted = [...new Set(numbers)].filter((number) => number !== undefined)
  return new Map((await postsNumbered(db, wanted)).map((row) => [row.number, row]))
}

function shownOf({ each, post, row }: { each: Newer; post: PostView; row: PostView }, reason: SimilarReason): Repeated {
  const { number, title, slug, boardName: name, boardUrl: url } = row
  return {
    ...reason,
    number,
    title,
    slug,
    board: name === null || url === null ? null : { name, url },
    is_private: placeOf(row) !== 1,
    ...(row.is_spam === HELD && { is_held: true }),
    is_mergeable: each.mayMerge && isSeenAlike(post, row),
  }
}

/** A merge that hides a post from those who see it, or shows its voters to others, takes more than one look. */
export const isSeenAlike = (post: PostView, into: PostView): boolean =>
  (post.is_spam === SHOWN || post.is_spam === HELD) &&
  into.is_spam === SHOWN &&
  placeOf(post) === placeOf(into) &&
  shownBy(post, into) === undefined

/** `display` as its board has it: a held post has the one that it gets once it is published. */
const placeOf = ({ boardDisplay }: PostView): number => boardDisplay ?? 1

/** Since it was found, it may have been merged, hidden or made private. */
const isNamed = ({ actor }: Context, { isHeld }: Newer, { is_spam: hidden, display }: PostView): boolean =>
  (hidden === SHOWN || (isHeld && hidden === HELD)) && (display === 1 || can(actor, 'board:read'))

async function earlierThan(ctx: Context, newer: Newer): Promise<Found['repeated']> {
  const { postId, number, title, text } = newer
  const asked = {
    title: title.slice(0, MAX_TITLE),
    text: (text ?? '').slice(0, MAX_TEXT),
    except: postId,
    limit: LOOKED,
  }
  const hidden = can(ctx.actor, 'board:read')
  const { found, parts } = await findSimilar(ctx.db, await filterFrom(ctx, {}), asked, { hidden })
  const earlier = found.filter(({ post, score }) => post.number < number && score >= LIKELY)
  if (earlier.length === 0) return undefined
  const rows = await rowsOf(ctx, earlier.map(({ post }) => post.number)) // prettier-ignore
  const named = earlier.filter(({ post }) => {
    const row = rows.get(post.number)
    return row && isNamed(ctx, newer, row)
  })
  // One that everybody sees can be merged into; of those that are held, the oldest is to be published
  const held = named.toSorted((one, other) => one.post.number - other.post.number)
  const first = named.find(({ post }) => rows.get(post.number)?.is_spam === SHOWN) ?? held[0]
  if (!first) return undefined
  const row = rows.get(first.post.number)
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
