import { comparedOf, likenessOf, partsOf, weightOf, type Part, type Weighed } from '../../core/search/alike.js'
import { groupedBy } from '../../core/grouped.js'
import { foldedText } from '../../core/search/marks.js'
import { wordsMeaning } from '../../core/search/meanings.js'
import { termOf, termOfAny, termOrAny, withoutBeginnings, type Term } from '../../core/search/terms.js'
import { wordsNear } from '../../core/search/typos.js'
import { titlesMergedInto, type ComparedPost } from '../../db/posts/compared.js'
import type { PostFilter } from '../../db/posts/filter.js'
import { MOST_COUNTED, newestNumber, postsHaving, postsWithMost } from '../../db/posts/similar.js'
import { matchOfTerms } from '../../db/search.js'
import type { Db } from '../../db/tables.js'
import { turns } from './turns.js'

/** Of these, the rarest are searched for. A pair of letters counts as a word, so a Chinese title has many. */
const MOST_WORDS = 16
/** The first words of the title and of the text. */
const MOST_READ = { title: 20, text: 12 }
/** A word of the new post's text counts this much of a word of its title. */
const OF_TEXT = 0.3
/** At most this many words are corrected. */
const MOST_NEAR = 2
/** Posts that are compared. */
const MOST_COMPARED = 100

export interface SimilarPost {
  post: ComparedPost
  /** See `likenessOf`. */
  score: number
}

interface SimilarQuery {
  title: string
  text?: string | undefined
  /** The id of a post to leave out, such as the one that is compared. */
  except?: string | undefined
  limit: number
}

/** A word of a title, with words that differ from it by a letter if it may have a typing error. */
export interface Spelled extends Part {
  near?: ReadonlySet<string> | undefined
}

/**
 * The posts that a new one may repeat, the most alike first, with the words of its title. Other requests have their turn
 * between two posts that are compared.
 */
export async function findSimilar(
  db: Db,
  filter: PostFilter,
  { title, text = '', except, limit }: SimilarQuery,
  { hidden }: { hidden: boolean },
): Promise<{ found: SimilarPost[]; parts: Spelled[] }> {
  const said = partsOf(title)
  const ofTitle = said.slice(0, MOST_READ.title)
  const known = new Set(ofTitle.map(({ key }) => key))
  const ofText = partsOf(text).filter(({ key }) => !known.has(key))
  const newest = await newestNumber(db)
  const asked = await lookUp(db, newest, [...ofTitle, ...ofText.slice(0, MOST_READ.text)], said.at(-1))
  const weighed = asked.map((word) => ({
    ...word,
    weight: weightOf(word.part, word.having, newest) * (known.has(word.part.key) ? 1 : OF_TEXT),
    isExtra: known.size > 0 && !known.has(word.part.key),
  }))
  const wanted = weighed
    .filter(({ isThere }) => isThere)
    .toSorted((one, other) => other.weight - one.weight)
    .slice(0, MOST_WORDS)
    .map(({ part, weight, term, having, all: titles, near }) => ({
      inTitle: inTitle(db, termOrAny(term, [...new Set(part.meanings.flatMap(wordsMeaning))])),
      anywhere: having < MOST_COUNTED ? anywhere(db, term) : undefined,
      weight,
      isFrequent: titles >= MOST_COUNTED || part.meanings.length > 0,
      isSpelled: near !== undefined,
    }))
  const posts = (await postsWithMost(db, filter, wanted, { limit: MOST_COMPARED, hidden, newest })).filter(
    ({ postId }) => postId !== except,
  )
  const ids = posts.map(({ postId }) => postId)
  const merged = groupedBy(await titlesMergedInto(db, ids, { hidden }), ({ rootId }) => rootId)
  const [turn, found] = [turns(), [] as SimilarPost[]]
  for (const post of posts) {
    let score = likenessOf(weighed, comparedOf(post.title), foldedText(post.text))
    for (const { title: other } of merged.get(post.postId) ?? []) {
      await turn()
      score = Math.max(score, likenessOf(weighed, comparedOf(other)))
    }
    if (score > 0) found.push({ post, score })
    await turn()
  }
  const near = new Map(asked.map((word) => [word.part.key, word.near]))
  return {
    found: found
      .toSorted((one, other) => other.score - one.score || other.post.number - one.post.number)
      .slice(0, limit),
    parts: ofTitle.map((part) => ({ ...part, near: near.get(part.key) })),
  }
}

const inTitle = (db: Db, term: Term): string => matchOfTerms(db, { all: [term.inTitle] })
const anywhere = (db: Db, term: Term): string => matchOfTerms(db, { all: [term.any] })

interface Word extends Omit<Weighed, 'weight'> {
  term: Term
  /** How many public posts have it in the title, up to the limit of `postsHaving`. */
  having: number
  /** The same of all posts. */
  all: number
  /** Whether a search for it can find posts. The others are left out, as the number of searches is limited. */
  isThere: boolean
}

/** Shorter prefixes match too many words. */
const SHORTEST_START = 3

/** The last word of a title may be half typed. If no post has it, words that start with it count instead. */
async function startedAmong(db: Db, newest: number, nowhere: readonly Term[], last: string | undefined) {
  const of = nowhere.find(({ word }) => word === last)
  if (of === undefined || of.word.length < SHORTEST_START) return undefined
  const term = termOf(of.word)
  const [having] = await postsHaving(db, [inTitle(db, term)], { titles: true, newest })
  return having && having.shown > 0 ? { of, term, having } : undefined
}

/**
 * Counts the public posts that have each word. A word that no post has may be misspelled, so it is replaced by similar
 * spellings. `last` is the last word of the title.
 */
async function lookUp(db: Db, newest: number, parts: readonly Part[], last: Part | undefined): Promise<Word[]> {
  const terms = parts.map(({ word }) => withoutBeginnings(termOf(word)))
  const counts = await postsHaving(db, terms.map((term) => inTitle(db, term)), { titles: true, newest }) // prettier-ignore
  const rare = terms.filter((_, at) => counts[at]?.shown === 0)
  const inTexts = await postsHaving(db, rare.map((term) => anywhere(db, term)), { titles: false, newest }) // prettier-ignore
  const nowhere = new Set(rare.filter((_, at) => inTexts[at]?.shown === 0))
  const started = await startedAmong(db, newest, [...nowhere], last?.word)
  if (started) nowhere.delete(started.of)
  const wrong = new Map(
    [...nowhere]
      .map((term) => [term, new Set(wordsNear(term.word))] as const)
      .filter(([, near]) => near.size > 0)
      .slice(0, MOST_NEAR),
  )
  return parts.map((part, at): Word => {
    const term = terms[at] ?? termOf(part.word)
    const { shown: having, all } = (started?.of === term ? started.having : counts[at]) ?? { shown: 0, all: 0 }
    if (started?.of === term) return { part, having, all, isThere: true, term: started.term }
    const near = wrong.get(term)
    if (near) return { part, having, all, near, isThere: true, term: termOfAny(term.word, [...near]) }
    return { part, having, all, isThere: !nowhere.has(term) || part.meanings.length > 0, term }
  })
}
