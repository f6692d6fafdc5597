import { setImmediate } from 'node:timers/promises'
import { comparedPosts, titlesMergedInto, type BoardedPost } from '../../db/posts/compared.js'
import type { PostFilter } from '../../db/posts/filter.js'
import type { Db } from '../../db/tables.js'
import { can, type Actor } from './access.js'
import { Likenesses, sharedWords, type Likeness, type Text } from './likeness.js'
import { turns } from './turns.js'
import { seesVotes, shownBy } from './voters.js'

/** Posts that look like the same wish. */
export interface Cluster {
  /** The one that should stay. */
  into: BoardedPost
  posts: (Likeness & { post: BoardedPost; isApart: boolean })[]
}

interface Read {
  posts: BoardedPost[]
  /** Titles of what was merged into each of them. */
  merged: Map<string, string[]>
}

/** Posts read in one query. */
const PAGE = 200
/** Posts of a cluster: a request merges as many. What remains is found when they are merged. */
const MOST_OF_CLUSTER = 100
/** Pairs that are compared before others may have their turn. */
const PAIRS = 50

/**
 * The clusters among the newest posts that pass a filter, those that are most alike first. The post that stays is one of
 * `ahead`, which the team has planned or begun, or else has the most votes, or else is the oldest; every other post of the
 * cluster is like that one itself. A pair of a
 * private and a public post is listed once, with `isApart`, because a merge would publish one or hide the other. Such a post
 * can also be in another cluster. Posts whose votes are hidden from the actor count as if nobody had voted for them, as in
 * lists: which one stays would tell their order.
 */
export async function findClusters(
  db: Db,
  filter: PostFilter,
  { most, limit, ahead, actor }: { most: number; limit: number; ahead: ReadonlySet<string | null>; actor: Actor },
): Promise<{ clusters: Cluster[]; looked: number; isCapped: boolean }> {
  const { posts, merged } = await readPosts(db, filter, { most: most + 1, hidden: can(actor, 'board:read') })
  const isCapped = posts.length > most
  const looked = posts.slice(0, most)
  const turn = turns()
  const texts = looked.map<Text>((post) => ({ title: post.title, text: post.text, merged: merged.get(post.postId) ?? [] })) // prettier-ignore
  const likenesses = new Likenesses()
  for (const text of texts) {
    likenesses.add(text)
    await turn()
  }
  const clusters = await starsOf(inOrder(looked, ahead, actor), { looked, likenesses, turn })
  const surest = clusters
    .toSorted(({ posts: [one] }, { posts: [other] }) => (other?.score ?? 0) - (one?.score ?? 0))
    .slice(0, limit)
  return { clusters: await shown(surest, { looked, texts, turn }), looked: looked.length, isCapped }
}

/** A post that stays, and those like it, by their places in the list. */
interface Star {
  into: number
  posts: { at: number; score: number; isApart?: true }[]
}

interface Comparing {
  looked: readonly BoardedPost[]
  likenesses: Likenesses
  turn(this: void): Promise<void>
}

/** The places of posts, those first that should rather stay. */
function inOrder(looked: readonly BoardedPost[], ahead: ReadonlySet<string | null>, actor: Actor): number[] {
  const rankOf = ({ roadmap_id: roadmap }: BoardedPost) => (ahead.has(roadmap) ? 1 : 0)
  return looked
    .map((post, at) => ({ post, at, votes: seesVotes(actor, post, false) ? post.votesCount : 0 }))
    .toSorted(
      ({ post: one, votes: its }, { post: other, votes }) =>
        rankOf(other) - rankOf(one) || votes - its || one.number - other.number,
    ) // prettier-ignore
    .map(({ at }) => at)
}

/** Each post is in one cluster at most. */
async function starsOf(order: readonly number[], comparing: Comparing): Promise<Star[]> {
  const taken = new Map<number, number>()
  const apart = new Map<number, number>()
  const stars: Star[] = []
  for (const into of order) {
    if (taken.has(into)) continue
    const posts = await likeOf(into, { taken, apart }, comparing)
    if (posts.length > 0) stars.push({ into, posts })
    taken.set(into, into)
    for (const { at, isApart } of posts)
      if (isApart) apart.set(at, into)
      else taken.set(at, into)
    await comparing.turn()
  }
  return stars
}

interface Listed {
  /** For each post in a cluster, the post that stays. */
  taken: ReadonlyMap<number, number>
  /** For each post listed as apart, the post that stays in that cluster. */
  apart: ReadonlyMap<number, number>
}

/** Returns the posts most like one that are in no cluster yet, followed by those that are apart. */
async function likeOf(
  into: number,
  { taken, apart }: Listed,
  { looked, likenesses, turn }: Comparing,
): Promise<Star['posts']> {
  const found: Star['posts'] = []
  for (const [count, at] of likenesses.around(into).entries()) {
    if (count % PAIRS === PAIRS - 1) await turn()
    const isApart = looked[into]?.display !== looked[at]?.display
    const isNamed = isApart ? apart.has(at) || (apart.has(into) && apart.get(into) === taken.get(at)) : taken.has(at)
    if (at === into || isNamed || (!isApart && !isMergeable(looked[into], looked[at]))) continue
    const score = likenesses.score(into, at)
    if (score !== undefined) found.push({ at, score, ...(isApart && { isApart }) })
  }
  return found
    .toSorted(
      (one, other) =>
        Number(one.isApart ?? false) - Number(other.isApart ?? false) || other.score - one.score || other.at - one.at,
    ) // prettier-ignore
    .slice(0, MOST_OF_CLUSTER)
}

async function readPosts(
  db: Db,
  filter: PostFilter,
  { most, hidden }: { most: number; hidden: boolean },
): Promise<Read> {
  const posts: BoardedPost[] = []
  const merged: Read['merged'] = new Map()
  for (;;) {
    const page = await comparedPosts(db, filter, { limit: Math.min(PAGE, most - posts.length), after: posts.at(-1) })
    posts.push(...page)
    await setImmediate()
    for (const { rootId, title } of await titlesMergedInto(
      db,
      page.map(({ postId }) => postId),
      { hidden },
    ))
      // prettier-ignore
      merged.set(rootId, [...(merged.get(rootId) ?? []), title])
    if (page.length < PAGE || posts.length >= most) return { posts, merged }
    await setImmediate()
  }
}

/** A merge that would reveal hidden votes or voters is refused, so such posts form no cluster. */
const isMergeable = (one: BoardedPost | undefined, other: BoardedPost | undefined): boolean =>
  one !== undefined && other !== undefined && shownBy(one, other) === undefined && shownBy(other, one) === undefined

async function shown(
  stars: readonly Star[],
  { looked, texts, turn }: Pick<Comparing, 'looked' | 'turn'> & { texts: readonly Text[] },
): Promise<Cluster[]> {
  const all: Cluster[] = []
  for (const { into, posts } of stars) {
    const [stays, its] = [looked[into], texts[into]]
    if (!stays || !its) continue
    const cluster: Cluster = { into: stays, posts: [] }
    for (const { at, score, isApart = false } of posts) {
      const [post, text] = [looked[at], texts[at]]
      if (post && text) cluster.posts.push({ post, score, isApart, ...sharedWords(text, its) })
      await turn()
    }
    all.push(cluster)
  }
  return all
}
