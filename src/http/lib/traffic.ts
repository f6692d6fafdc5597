/** What a route belongs to, for the metrics. */
export type Part = 'api' | 'page' | 'feed' | 'file' | 'probe'

/** Whether the response came from the response cache: `none` where the route has no cached responses. */
type CacheState = 'hit' | 'miss' | 'none'

const CACHE_STATES: readonly CacheState[] = ['hit', 'miss', 'none']
const CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx']
const HIT = CACHE_STATES.indexOf('hit')

/** Upper bounds of the buckets of the histogram, in milliseconds. */
const BOUNDS_MS = [1, 5, 10, 25, 50, 100, 250, 500, 1000, 5000]

/** Requests to paths without a route. */
const UNMATCHED = 'unmatched'
/** Requests that were refused before a route was looked for: rate limits, bytes that are not HTTP. */
const REFUSED = 'refused'

interface Tally {
  part: Part | 'other'
  /** By status class and cache state. */
  counts: number[]
}

/** The durations of the requests to a part. */
interface Durations {
  /** How many took as long as the bound of the same index, and longer than the one before; the last had no bound. */
  counts: number[]
  milliseconds: number
}

const newTally = (part: Tally['part']): Tally => ({
  part,
  counts: Array.from({ length: CLASSES.length * CACHE_STATES.length }, () => 0),
})

/**
 * Counts requests in plain numbers, as the response cache answers in microseconds. There is a tally for each route that
 * was declared, so no client can add one.
 */
export class Traffic {
  readonly #tallies = new Map<string, Tally>([
    [UNMATCHED, newTally('other')],
    [REFUSED, newTally('other')],
  ])
  readonly #durations = new Map<Tally['part'], Durations>()

  /** Adds a route. Several may share an operation. */
  declare(operation: string, part: Part): void {
    if (!this.#tallies.has(operation)) this.#tallies.set(operation, newTally(part))
  }

  /** Counts a response of the response cache. */
  hit(operation: string, status: number, ms: number): void {
    this.#count(operation, status, HIT, ms)
  }

  /** Counts a response of a handler. The operation is absent where no route matched. */
  handled(operation: string | undefined, status: number, { isCached, ms }: { isCached: boolean; ms: number }): void {
    this.#count(operation ?? UNMATCHED, status, CACHE_STATES.indexOf(isCached ? 'miss' : 'none'), ms)
  }

  /** Counts a request that was refused before a route was looked for. */
  refused(status: number): void {
    this.#count(REFUSED, status, CACHE_STATES.indexOf('none'))
  }

  #count(operation: string, status: number, cache: number, ms?: number): void {
    const tally = this.#tallies.get(operation) ?? this.#tallies.get(UNMATCHED)
    if (!tally) return
    const index = (Math.trunc(status / 100) - 1) * CACHE_STATES.length + cache
    tally.counts[index] = (tally.counts[index] ?? 0) + 1
    if (ms === undefined) return
    let durations = this.#durations.get(tally.part)
    if (!durations) {
      durations = { counts: Array.from({ length: BOUNDS_MS.length + 1 }, () => 0), milliseconds: 0 }
      this.#durations.set(tally.part, durations)
    }
    let bucket = 0
    while (bucket < BOUNDS_MS.length && ms > (BOUNDS_MS[bucket] ?? 0)) bucket++
    durations.counts[bucket] = (durations.counts[bucket] ?? 0) + 1
    durations.milliseconds += ms
  }

  /** How many requests there were, without the combinations that never came. */
  *requests(): Generator<{ operation: string; part: string; status: string; cache: string; count: number }> {
    for (const [operation, { part, counts }] of this.#tallies)
      for (const [index, count] of counts.entries())
        if (count > 0)
          yield {
            operation,
            part,
            status: CLASSES[Math.trunc(index / CACHE_STATES.length)] ?? '',
            cache: CACHE_STATES[index % CACHE_STATES.length] ?? '',
            count,
          }
  }

  /** How long they took, with the requests up to each bound. */
  *durations(): Generator<{ part: string; seconds: number; count: number; upTo: { bound: number; count: number }[] }> {
    for (const [part, { counts, milliseconds }] of this.#durations) {
      let sum = 0
      const upTo = BOUNDS_MS.map((bound, index) => ({ bound: bound / 1000, count: (sum += counts[index] ?? 0) }))
      yield { part, seconds: milliseconds / 1000, count: sum + (counts.at(-1) ?? 0), upTo }
    }
  }
}
