import * as Type from 'typebox'
import { groupedBy } from '../../core/grouped.js'
import { comparedOf, joined, saidBy } from '../../core/search/alike.js'
import { stemOf } from '../../core/search/stem.js'
import { indexWords, pairsOf } from '../../core/search/words.js'
import { MOST_REASONS, textsMergedInto } from '../../db/merges.js'
import type { PostView } from '../../db/posts/row.js'
import { can } from './access.js'
import type { CachedContext } from './context.js'
import type { Spelled } from './similar.js'

/** What was merged into a post says words that the post itself does not have. */
export const mergedReason = (description: string, posts: string) =>
  Type.Optional(
    Type.Object({ posts: Type.Integer({ description: posts }), words: Type.Array(Type.String()) }, { description }),
  )

export const SimilarReason = Type.Object({
  postId: Type.String({ format: 'uuid' }),
  score: Type.Number({
    description: 'How much of the words its title says, rare ones counting more; 1 is all of them',
  }),
  words: Type.Array(Type.String(), { description: 'Words of the title that the post has, or others for them' }),
  merged: mergedReason(
    'Words that only what was merged into it has; absent if there are none',
    `Posts merged into it that have such a word, of the ${MOST_REASONS} merged last`,
  ),
})
export type SimilarReason = Type.Static<typeof SimilarReason>

/** What a text has for a word: it, a longer one that begins with it or another form of it; or else the right spelling. */
type Finder = (this: void, part: Spelled) => string | undefined

/** As the search finds them. */
function finder(text: string): Finder {
  const words = indexWords(text)
  const stems = new Set(words.map(stemOf))
  const pairs = new Set(pairsOf(text))
  return ({ word, key, isPair, near }) => {
    if (isPair) return pairs.has(key) ? word : undefined
    return stems.has(key) || words.some((each) => each.startsWith(word)) ? word : near && words.find((each) => near.has(each)) // prettier-ignore
  }
}

/** A title has a word, or another one for it, from this value of `saidBy` on. */
const SAYS = 0.5

/** Finds synonyms in a title. */
function meaningFinder(title: string): Finder {
  const compared = comparedOf(title)
  return (part) => (saidBy(part, compared) >= SAYS ? part.word : undefined)
}

/** The words that are found, each with its part. */
const foundOf = (parts: readonly Spelled[], find: Finder) =>
  parts.flatMap((part) => {
    const word = find(part)
    return word === undefined ? [] : [{ part, word }]
  })

/** Characters of a text that are looked at: the rest of a very long one would hold up other requests. */
const MOST_READ = 8000

/** Finders for the words of a post: exact words and forms, or synonyms. */
const findersOf = (title: string, text: string | null): { literal: Finder; meant: Finder } => ({
  literal: finder(`${title} ${(text ?? '').slice(0, MOST_READ)}`),
  meant: meaningFinder(title),
})

/**
 * Why each post is similar to a title. A word in a merged post takes precedence over a synonym in the post itself.
 */
export async function reasonsOf(
  { db, actor }: Pick<CachedContext, 'db' | 'actor'>,
  parts: readonly Spelled[],
  posts: readonly { row: PostView; score: number }[],
): Promise<SimilarReason[]> {
  const own = posts.map(({ row }) => findersOf(row.title, row.contentMarkdown))
  const literal = own.map((finders) => foundOf(parts, finders.literal))
  const asked = posts.filter((_, at) => literal[at]?.length !== parts.length).map(({ row }) => row.postId)
  const merged = groupedBy(
    (await textsMergedInto(db, asked, { hidden: can(actor, 'board:read') })).map((row) => ({
      rootId: row.rootId,
      ...findersOf(row.title, row.contentMarkdown),
    })),
    ({ rootId }) => rootId,
  )
  return posts.map(({ row: { postId }, score }, at) => {
    const others = merged.get(postId) ?? []
    const lacking = withoutParts(parts, literal[at] ?? [])
    const said = foundOf(lacking, (part) => firstOf(others.map((each) => each.literal), part)) // prettier-ignore
    const meant = foundOf(withoutParts(lacking, said), own[at]?.meant ?? (() => undefined))
    const alsoMeant = foundOf(withoutParts(lacking, [...said, ...meant]), (part) => firstOf(others.map((each) => each.meant), part)) // prettier-ignore
    const ofMerged = [...said, ...alsoMeant]
    const saying = others.filter((each) => ofMerged.some(({ part }) => (each.literal(part) ?? each.meant(part)) !== undefined)) // prettier-ignore
    return {
      postId,
      score: Math.round(Math.min(1, score) * 100) / 100,
      words: joined(inOrder(parts, [...(literal[at] ?? []), ...meant])),
      ...(ofMerged.length > 0 && { merged: { posts: saying.length, words: joined(inOrder(parts, ofMerged)) } }),
    }
  })
}

type Said = ReturnType<typeof foundOf>[number]

const withoutParts = (parts: readonly Spelled[], found: readonly Said[]) =>
  parts.filter((part) => !found.some((each) => each.part === part))
const inOrder = (parts: readonly Spelled[], found: readonly Said[]) =>
  found.toSorted((one, other) => parts.indexOf(one.part) - parts.indexOf(other.part))
const firstOf = (finders: readonly Finder[], part: Spelled) =>
  finders.map((find) => find(part)).find((word) => word !== undefined)
