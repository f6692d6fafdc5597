import { joined, tokensOf, type Token } from '../../core/search/alike.js'

/** What is compared of a post. */
export interface Text {
  title: string
  text: string
  /** Titles of what was merged into it. */
  merged: readonly string[]
}

/** The tokens of a text by their numbers. */
interface Known {
  title: readonly number[]
  text: ReadonlySet<number>
  merged: readonly (readonly number[])[]
}

/** Why two texts are alike. */
export interface Likeness {
  /** The part of the words of both titles that they share: 1 is all of them. */
  score: number
  /** The shared words of the titles, as the first or else the second text has them. */
  words: string[]
  /** Words that only what was merged into one of them has, and how many of these titles have one. */
  merged?: { posts: number; words: string[] }
}

/** What two titles share counts whole, and what one has in its title and the other in its text less. */
const OF_TEXT = 0.7
/** From this on, two texts look like the same wish. */
const LIKE = 0.5
/** Texts with a word that so many have are not looked for by that word: they are if they share a rarer one. */
const MOST_WITH_WORD = 200
/** A site with few posts does not say which words are rare. */
const FEW = 50

/** Finds texts that look like the same wish, by the words of their titles: rare words count more. It holds them in memory. */
export class Likenesses {
  readonly #numbers = new Map<string, number>()
  readonly #texts: Known[] = []
  /** For each token, the texts that have it. */
  readonly #having: number[][] = []
  /** Texts with the same words in the title: there may be more than have a word that is looked for. */
  readonly #same = new Map<string, number[]>()

  /** Adds a text. The first is 0. */
  add({ title, text, merged }: Text): void {
    const at = this.#texts.length
    const known: Known = {
      title: this.#numbersOf(title),
      text: new Set(this.#numbersOf(text)),
      merged: merged.map((each) => this.#numbersOf(each)),
    }
    this.#texts.push(known)
    for (const token of new Set([...known.title, ...known.text, ...known.merged.flat()])) this.#having[token]?.push(at)
    const key = sameKey(known.title)
    const same = this.#same.get(key)
    if (same) same.push(at)
    else if (known.title.length > 0) this.#same.set(key, [at])
  }

  #numbersOf(text: string): number[] {
    return tokensOf(text).map(({ key }) => {
      const present = this.#numbers.get(key)
      if (present !== undefined) return present
      const number = this.#having.push([]) - 1
      this.#numbers.set(key, number)
      return number
    })
  }

  /** Texts that may be like one, without it. */
  around(at: number): number[] {
    const { title = [], merged = [] } = this.#texts[at] ?? {}
    const found = new Set(this.#same.get(sameKey(title)))
    for (const token of new Set([...title, ...merged.flat()])) {
      const having = this.#having[token] ?? []
      if (having.length <= MOST_WITH_WORD) for (const each of having) found.add(each)
    }
    found.delete(at)
    return [...found]
  }

  /** How alike two texts are; undefined where they do not look like the same wish. */
  score(one: number, other: number): number | undefined {
    const [first, second] = [this.#texts[one], this.#texts[other]]
    if (!first || !second) return undefined
    const score = Math.max(
      this.#ofTitles(first.title, second.title, first.text, second.text),
      ...first.merged.map((title) => this.#ofTitles(title, second.title, NOTHING, second.text)),
      ...second.merged.map((title) => this.#ofTitles(first.title, title, first.text, NOTHING)),
    )
    return score >= LIKE ? score : undefined
  }

  #ofTitles(
    one: readonly number[],
    other: readonly number[],
    oneText: ReadonlySet<number>,
    otherText: ReadonlySet<number>,
  ): number {
    let [all, shared, count, same] = [0, 0, 0, 0]
    const look = (token: number, isInTitle: boolean, isInText: boolean) => {
      const weight = Math.log(1 + Math.max(this.#texts.length, FEW) / (this.#having[token]?.length ?? 1))
      all += weight
      if (isInTitle) same += 1
      if (!isInTitle && !isInText) return
      count += 1
      shared += isInTitle ? weight : OF_TEXT * weight
    }
    for (const token of one) look(token, other.includes(token), otherText.has(token))
    for (const token of other) if (!one.includes(token)) look(token, false, oneText.has(token))
    // One word says little, unless it is all that both say
    const isSame = same > 0 && same === one.length && same === other.length
    return all === 0 || (count < 2 && !isSame) ? 0 : shared / all
  }
}

const NOTHING: ReadonlySet<number> = new Set()

/** The same for titles that have the same words in another order. */
const sameKey = (tokens: readonly number[]): string => tokens.toSorted((one, other) => one - other).join(' ')

/** The words that make two texts alike. */
export function sharedWords(one: Text, other: Text): Pick<Likeness, 'words' | 'merged'> {
  const [title, otherTitle] = [tokensOf(one.title), tokensOf(other.title)]
  const [has, otherHas] = [keysOf(`${one.title}\n${one.text}`), keysOf(`${other.title}\n${other.text}`)]
  const own = title.filter(({ key }) => otherHas.has(key))
  const ownKeys = new Set(own.map(({ key }) => key))
  const shared = [...own, ...otherTitle.filter(({ key }) => has.has(key) && !ownKeys.has(key))]
  const keys = new Set(shared.map(({ key }) => key))
  const said = new Map<string, Token>()
  let posts = 0
  for (const [titles, wanted] of [
    [one.merged, otherTitle],
    [other.merged, title],
  ] as const)
    for (const merged of titles) {
      const tokens = keysOf(merged)
      const found = wanted.filter(({ key }) => tokens.has(key) && !keys.has(key))
      if (found.length > 0) posts += 1
      for (const token of found) said.set(token.key, token)
    }
  return { words: joined(shared), ...(posts > 0 && { merged: { posts, words: joined([...said.values()]) } }) }
}

const keysOf = (text: string): Set<string> => new Set(tokensOf(text).map(({ key }) => key))
