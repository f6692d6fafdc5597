import type { SearchQuery } from '../../core/search/grammar.js'
import { comparedText, phrasePattern } from '../../core/search/marks.js'
import { isPart, wordsAround } from '../../core/search/inside.js'
import { rankOf, type FoundIn, type Match } from '../../core/search/rank.js'
import { spellingsOf, termOfAny, termOfForms, termsOf, withoutBeginnings, type Term } from '../../core/search/terms.js'
import { wordsNear } from '../../core/search/typos.js'
import { unsharp, wordsInOrder } from '../../core/search/words.js'
import { textsMergedInto } from '../../db/merges.js'
import type { PostFilter } from '../../db/posts/filter.js'
import { matchOfAny, matchOfTerms } from '../../db/search.js'
import {
  areMany,
  commentHits,
  hitsNumbered,
  postHits,
  rootsWith,
  type CommentHit,
  type PostHit,
  type Readable,
} from '../../db/searchhits.js'
import type { Db } from '../../db/tables.js'
import { turns } from './turns.js'

/** Hits that are ranked: what has the words in the title fills them first. */
export const MOST_HITS = 200
/** Of posts with the words in the title, so many of the newest are looked at, and of texts and of comments with them. */
const MOST_LOOKED = { title: 1000, text: 500, comment: 500 }
/** Of posts with one of the words, so many for each of the rarest. */
const MOST_OF_WORD = 200
/** A word that so many posts have fills every list of hits by itself. */
const MANY = 1000
/** With fewer, posts with some of the words follow. */
const FEW = 10
/** Words that are looked for one by one. */
const MOST_WORDS = 6

export interface Hit extends PostHit {
  foundIn: FoundIn
  match: Match
  comment?: CommentHit
  rank: number
}

interface Search {
  db: Db
  filter: PostFilter
  query: SearchQuery
  readable: Readable
  now: number
}

export interface Found {
  /** The best first. */
  hits: Hit[]
  /** Whether more posts have the words, and were not looked at. */
  isCapped: boolean
  /** The words that were looked for, to mark. */
  words: string[]
}

/** The best hits of a query. */
export async function findHits({ db, filter, query, readable, now }: Search): Promise<Found> {
  const asked = [query.text, ...query.phrases].join(' ')
  const { terms, many } = await bounded(db, termsOf(asked))
  const words = terms.map(({ word }) => word)
  const { isCovered } = readable
  const isRead = query.phrases.length > 0 || query.without.length > 0
  const tests = testsOf(query)
  const hits = new Map<number, Hit>()
  let isCapped = false
  const keep = (row: PostHit, how: Pick<Hit, 'foundIn' | 'match'> & { share: number }) => {
    const { foundIn, match: its } = how
    const hit: Hit = { ...row, foundIn, match: its, rank: rankOf({ ...row, ...how }, now), ...('id' in row && { comment: row as CommentHit }) } // prettier-ignore
    if (hit.rank > (hits.get(row.number)?.rank ?? -Infinity)) hits.set(row.number, hit)
  }
  const add = async (rows: readonly PostHit[], foundIn: FoundIn, match: (row: PostHit) => Match) => {
    isCapped ||= rows.length >= MOST_LOOKED[foundIn]
    for (const row of await passing(db, tests, rows)) keep(row, { foundIn, match: match(row), share: 1 })
  }
  const done = (): Found => ({
    hits: [...hits.values()].toSorted((one, other) => other.rank - one.rank || other.number - one.number).slice(0, MOST_HITS), // prettier-ignore
    isCapped: isCapped || hits.size > MOST_HITS,
    words,
  })
  if (query.numbers.length > 0) {
    const rows = await hitsNumbered(db, filter, query.numbers, readable)
    const hasWords = (row: PostHit) =>
      words.every((word) => comparedText(`${row.title} ${row.text}`).includes(unsharp(word)))
    await add(rows.filter(hasWords), 'title', () => 'all')
    return done()
  }
  if (terms.length === 0) {
    await add(
      await postHits(db, filter, undefined, { most: MOST_LOOKED.title, text: isRead, isCovered }),
      'title',
      () => 'all',
    )
    return done()
  }
  const inOrder = wordsInOrder(asked)
  const side = inOrder.length > 1 ? phrasePattern(inOrder, { isOpen: true }) : undefined
  const besideIn = (text: string): Match => (side === undefined || side.test(comparedText(text)) ? 'phrase' : 'all')
  const without = query.without.flatMap((text) => (wordsInOrder(text).length === 1 ? wordsInOrder(text) : []))
  const match = (of: (term: Term) => Term['any'], some: readonly Term[] = terms) =>
    matchOfTerms(db, { all: some.map(of), without })

  await add(await postHits(db, filter, match(({ inTitle }) => inTitle), { most: MOST_LOOKED.title, text: isRead, isCovered }), 'title', ({ title }) => besideIn(title)) // prettier-ignore
  if (hits.size >= MOST_HITS) return done()
  await add(await postHits(db, filter, match(({ any }) => any), { most: MOST_LOOKED.text, text: isRead || side !== undefined, isCovered }), 'text', ({ text }) => besideIn(text)) // prettier-ignore
  if (hits.size >= MOST_HITS) return done()
  await add(await commentHits(db, filter, readable, match(({ any }) => any), { most: MOST_LOOKED.comment, text: isRead }), 'comment', ({ text }) => besideIn(text)) // prettier-ignore
  const known = new Map<Term, Promise<boolean>>()
  if (hits.size < FEW && terms.length > 1 && query.phrases.length === 0) await addSome()
  const hasAll = [...hits.values()].some((hit) => hit.match !== 'some')
  if (!hasAll && query.phrases.length === 0) await addNear()
  if (hits.size < FEW && query.phrases.length === 0) await addInside()
  return done()

  /** Whether the reader can see any post or comment with a word. */
  function isThere(term: Term): Promise<boolean> {
    const found = known.get(term) ?? look(term)
    known.set(term, found)
    return found
  }

  async function look(term: Term): Promise<boolean> {
    const any = match((each) => each.any, [term])
    return (
      many.has(term) ||
      (await postHits(db, filter, any, { most: MOST_OF_WORD, text: false, isCovered })).length > 0 ||
      (await commentHits(db, filter, readable, any, { most: MOST_OF_WORD, text: false })).length > 0
    )
  }

  /** Where a word is nowhere, it may have a typing error. */
  async function addNear(): Promise<void> {
    const spelled = await Promise.all(
      terms.slice(0, MOST_WORDS).map(async (term) => {
        const near = (await isThere(term)) ? [] : wordsNear(term.word)
        return near.length > 0 ? termOfAny(term.word, near) : term
      }),
    )
    await addSpelled(spelled, 'near')
  }

  /** Searches for longer words that contain the words of the query. They come from the titles of the newest visible posts. */
  async function addInside(): Promise<void> {
    const asked = terms.slice(0, MOST_WORDS).filter(({ word }) => isPart(word))
    const areThere = await Promise.all(terms.length === 1 ? [] : asked.map(isThere))
    const wanted = asked.filter((_, at) => areThere[at] !== true)
    if (wanted.length === 0) return
    const newest = await postHits(db, filter, undefined, { most: MOST_LOOKED.title, text: false, isCovered })
    const titles = newest.map(({ title }) => comparedText(title))
    const spelled = terms.map((term) => {
      const others = wanted.includes(term) ? wordsAround(unsharp(term.word), titles) : []
      return others.length > 0 ? termOfForms(term.word, others) : term
    })
    await addSpelled(spelled, 'inside')
  }

  /** Adds the posts and comments that have all terms, after some terms were replaced with other words. */
  async function addSpelled(spelled: readonly Term[], how: Match): Promise<void> {
    if (spelled.every((term) => terms.includes(term))) return
    const all = match(({ any }) => any, spelled)
    // If many posts match, the index is read from the newest post on. Otherwise all matches are sorted
    const given = { most: MOST_OF_WORD, isRare: how === 'near' || !(await areMany(db, all, MANY)) }
    await add(await postHits(db, filter, match(({ inTitle }) => inTitle, spelled), { ...given, text: true, isCovered }), 'title', () => how) // prettier-ignore
    // Each of these looks for hundreds of spellings
    if (hits.size < FEW) await add(await postHits(db, filter, all, { ...given, text: true, isCovered }), 'text', () => how) // prettier-ignore
    if (hits.size < FEW) await add(await commentHits(db, filter, readable, all, { ...given, text: isRead }), 'comment', () => how) // prettier-ignore
    const tried = new Set(spelled.flatMap(({ any }) => any.flat().map(({ text }) => text)))
    const there = [...hits.values()].flatMap(({ title, text }) => wordsInOrder(`${title} ${text}`))
    words.push(...new Set(there.filter((word) => tried.has(word))))
  }

  async function addSome(): Promise<void> {
    const parts = await Promise.all(
      terms.slice(0, MOST_WORDS).map(async (term) => ({ term, rows: await postHits(db, filter, match(({ any }) => any, [term]), { most: MOST_OF_WORD, text: isRead, isCovered }) })), // prettier-ignore
    )
    const weights = parts.map(({ rows }) => (rows.length === 0 ? 1 : 1 / Math.log2(2 + rows.length)))
    const all = weights.reduce((sum, weight) => sum + weight, 0)
    const shares = new Map<number, { row: PostHit; share: number }>()
    for (const [index, { rows }] of parts.entries())
      for (const row of rows) shares.set(row.number, { row, share: (shares.get(row.number)?.share ?? 0) + (weights[index] ?? 0) / all }) // prettier-ignore
    const given = [...shares.values()].map(({ row }) => row)
    for (const row of await passing(db, tests, given)) {
      // prettier-ignore
      const title = comparedText(row.title)
      const foundIn = words.some((word) => title.includes(unsharp(word))) ? 'title' : 'text'
      keep(row, { foundIn, match: 'some', share: shares.get(row.number)?.share ?? 0 })
    }
  }
}

/**
 * A word that many posts have stands for itself and its forms, and not for longer words that begin so: to know the newest
 * posts with any of them, an index reads all of them first.
 */
async function bounded(db: Db, terms: readonly Term[]): Promise<{ terms: Term[]; many: ReadonlySet<Term> }> {
  const [found, many] = [[] as Term[], new Set<Term>()]
  for (const term of terms) {
    const whole = withoutBeginnings(term)
    const isCommon = await areMany(db, matchOfTerms(db, { all: [whole.any] }), MANY)
    if (isCommon) many.add(whole)
    found.push(isCommon ? whole : term)
  }
  return { terms: found, many }
}

/** Whether a query says what the index does not know, so that posts have to be looked at. */
export const needsReading = (query: SearchQuery): boolean =>
  query.phrases.length + query.without.length + query.numbers.length > 0 || asksVotes(query)

export const asksVotes = ({ votes }: SearchQuery): boolean => votes.min !== undefined || votes.max !== undefined

/** The numbers of the newest posts that pass a query and have all its words, for lists in any order. */
export async function numbersOf(db: Db, filter: PostFilter, query: SearchQuery): Promise<number[]> {
  const terms = termsOf([query.text, ...query.phrases].join(' '))
  const hasWords = ({ title, text }: PostHit) =>
    terms.every(({ word }) => comparedText(`${title} ${text}`).includes(unsharp(word)))
  const rows =
    query.numbers.length > 0
      ? (await hitsNumbered(db, filter, query.numbers, { isCovered: false })).filter(hasWords)
      : await postHits(db, filter, terms.length > 0 ? matchOfTerms(db, { all: terms.map(({ any }) => any) }) : undefined, { most: MOST_LOOKED.title, text: query.phrases.length + query.without.length > 0, isCovered: false }) // prettier-ignore
  return (await passing(db, testsOf(query), rows)).map(({ number }) => number)
}

/** Maximum number of posts whose merged posts are read, for phrases and for exclusions. */
const MOST_ROOTS = 50

/**
 * Applies the conditions that the index cannot check: phrases, exclusions and votes. Phrases and exclusions also match the
 * posts that were merged into a post.
 */
async function passing<Row extends PostHit>(db: Db, tests: Tests, rows: readonly Row[]): Promise<Row[]> {
  const some = rows.filter(tests.hasVotes)
  const passed = new Set(some.filter((row) => tests.hasText(row)))
  const others = tests.patterns.length > 0 ? some.filter((row) => !passed.has(row)) : []
  for (const row of await passingMerged(db, tests, others)) passed.add(row)
  const roots = await refusedMerged(db, tests, passed)
  return some.filter((row) => passed.has(row) && !roots.has(row.postId))
}

/** Returns the rows that have the phrases only together with a merged post. */
async function passingMerged<Row extends PostHit>(
  db: Db,
  { patterns, hasText }: Tests,
  rows: readonly Row[],
): Promise<Row[]> {
  const roots = [...new Set(rows.map(({ postId }) => postId))].slice(0, MOST_ROOTS)
  const turn = turns()
  const merged = await mergedTexts(db, roots, patterns)
  const found: Row[] = []
  for (const row of rows) {
    const texts = merged.get(row.postId)
    if (texts?.some((text) => hasText(row, text))) found.push(row)
    if (texts) await turn()
  }
  return found
}

/** Returns the posts whose merged posts contain an excluded word or phrase. */
async function refusedMerged(db: Db, { without, refused }: Tests, rows: ReadonlySet<PostHit>) {
  if (without.length === 0 || rows.size === 0) return new Map<string, string[]>()
  const spelled = (word: string) => spellingsOf(word).map((text) => [{ text, isStart: false }])
  const ids = [...new Set([...rows].map(({ postId }) => postId))]
  const roots = await rootsWith(db, ids, matchOfAny(db, without.map((words) => matchOfTerms(db, { all: words.map(spelled) })))) // prettier-ignore
  return mergedTexts(db, roots.slice(0, MOST_ROOTS), refused)
}

/** Returns the merged texts that match any pattern, by post. Texts that not everybody can read are never used. */
async function mergedTexts(
  db: Db,
  roots: readonly string[],
  patterns: readonly RegExp[],
): Promise<Map<string, string[]>> {
  const turn = turns()
  const merged = new Map<string, string[]>()
  for (const { rootId, title, contentMarkdown } of await textsMergedInto(db, roots, { hidden: false })) {
    const text = comparedText(`${title} \n ${contentMarkdown ?? ''}`)
    if (patterns.some((pattern) => pattern.test(text))) merged.set(rootId, [...(merged.get(rootId) ?? []), text])
    await turn()
  }
  return merged
}

/** The conditions that the index cannot check. `merged` is the folded text of a merged post. */
function testsOf({ phrases, without: excluded, votes }: SearchQuery) {
  const patterns = phrases.map((phrase) => phrasePattern(wordsInOrder(phrase)))
  const without = excluded.map(wordsInOrder)
  const refused = without.map((words) => phrasePattern(words))
  const { min = 0, max = Infinity } = votes
  return {
    patterns,
    without,
    refused,
    hasVotes: ({ votesCount }: PostHit): boolean => votesCount >= min && votesCount <= max,
    hasText: (row: PostHit, merged = ''): boolean => {
      if (patterns.length === 0 && refused.length === 0) return true
      const ofPost = 'ofPost' in row ? String(row.ofPost) : ''
      const text = `${comparedText(`${row.title} \n ${row.text}`)} \n ${merged}`
      const all = ofPost === '' ? text : `${text} \n ${comparedText(ofPost)}`
      return patterns.every((pattern) => pattern.test(text)) && !refused.some((pattern) => pattern.test(all))
    },
  }
}

type Tests = ReturnType<typeof testsOf>
