/** Where a post was found. What comes first ranks higher, whatever else is true of it. */
export const PLACES = ['title', 'text', 'comment'] as const
export type FoundIn = (typeof PLACES)[number]

/** How a hit matches: words side by side, all words, some words, all words with corrected spelling, or words inside longer ones. */
export const MATCHES = ['phrase', 'all', 'some', 'near', 'inside'] as const
export type Match = (typeof MATCHES)[number]

const OF_PLACE: Readonly<Record<FoundIn, number>> = { title: 400, text: 200, comment: 0 }
const OF_MATCH: Readonly<Record<Match, number>> = { phrase: 100, all: 0, some: -1000, near: -450, inside: -2000 }

/** Added for votes at most, and for a post of today. They order what was found alike. */
const MOST_VOTES = 60
const PER_DOUBLING = 6
const NEWEST = 20
const HALF_LIFE_MS = 180 * 24 * 60 * 60 * 1000

interface Ranked {
  foundIn: FoundIn
  match: Match
  /** Of some words, how many of all, from 0 to 1. */
  share: number
  /** Votes that the reader may see. */
  ranking: number
  createdAt: string
}

/** How high a hit ranks. `docs/search.md` says it in words. */
export function rankOf({ foundIn, match, share, ranking, createdAt }: Ranked, now: number): number {
  const age = Math.max(0, now - Date.parse(createdAt)) || 0
  return (
    OF_PLACE[foundIn] +
    OF_MATCH[match] +
    (match === 'some' ? share * 500 : 0) +
    Math.min(MOST_VOTES, PER_DOUBLING * Math.log2(1 + ranking)) +
    NEWEST * 2 ** (-age / HALF_LIFE_MS)
  )
}
