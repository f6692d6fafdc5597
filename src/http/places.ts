import { AppError } from '../core/errors.js'
import { rateLimited } from '../core/limits.js'

/** How long a client may let a place wait before it goes to another, where all are taken. */
const SLOW_MS = 10_000
/** Seconds after which a client should ask again for a place. */
const RETRY_SECONDS = 10

/** A transfer that runs. */
export interface Place {
  /** A person, or an address. */
  who: string | undefined
  /** Since when it waits for its client, of `performance.now()`. Infinity while it works. */
  waitsSince: number
  /** Ends it, so that another can have the place. */
  cut(this: void): void
}

interface Limits {
  /** What runs, in the plural. */
  what: string
  /** How many run at a time, and of one person, or of one address that is not signed in. */
  most(this: void): { all: number; own: number }
}

/** Of long transfers, only some run at a time, in all and for each person: each has a part of its body in memory. */
export class Places {
  readonly #taken = new Set<Place>()
  readonly #limits: Limits

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** Throws where all places are taken, unless a client lets one of them wait. */
  take(place: Place): void {
    const { what, most } = this.#limits
    const { all, own } = most()
    const others = [...this.#taken].filter(({ who }) => who !== undefined && who === place.who)
    if (others.length >= own)
      throw rateLimited(`${own} ${what} of yours are running. Let one of them end.`, RETRY_SECONDS)
    if (this.#taken.size >= all) this.#makeRoom()
    this.#taken.add(place)
  }

  leave(place: Place): void {
    this.#taken.delete(place)
  }

  /** Cuts the transfer whose client has let it wait for the longest time. */
  #makeRoom(): void {
    const [slowest] = [...this.#taken].toSorted((one, other) => one.waitsSince - other.waitsSince)
    if (!slowest || performance.now() - slowest.waitsSince < SLOW_MS)
      throw new AppError('SERVER_BUSY', `Too many ${this.#limits.what} are running. Try again in a moment.`, {
        retryAfter: RETRY_SECONDS,
      })
    this.#taken.delete(slowest)
    slowest.cut()
  }
}
