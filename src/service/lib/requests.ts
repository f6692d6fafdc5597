import { createHash } from 'node:crypto'
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'
import type { RateLimiterRes } from 'rate-limiter-flexible'
import type { Rate } from '../../core/limits.js'
import { count } from '../../db/limits.js'
import type { Db } from '../../db/tables.js'
import { clientKey } from './clients.js'

/** How often the requests of busy clients are added up with those to other processes, at least. */
const SHARE_MS = 1000
/** How often in the time of the limit, at least. */
const SHARES = 10
/** A client is busy from this part of the limit on. The requests of others are counted in this process only. */
const BUSY = 0.1
/** Clients in one statement. */
const BATCH = 1000

/** Why a request is refused. */
interface Refusal {
  /** Until the client may try again. */
  seconds: number
  /** Whether it is the first one refused. */
  isFirst: boolean
}

/** Requests of a busy client that the database does not know yet. */
interface Unshared {
  points: number
  /** When the time is over in which they are counted. */
  until: Date
}

/**
 * Limits the requests of each client, whatever they are for. Each is counted in memory; those of busy clients are added
 * up in the database, for all workers and servers.
 */
export class RequestLimit {
  readonly #rate: Rate
  readonly #site: { db: Db; now: () => Date }
  readonly #counted: RateLimiterMemory
  readonly #busyFrom: number
  readonly #shareMs: number
  #unshared = new Map<string, Unshared>()
  #isSharing = false

  constructor(rate: Rate, site: { db: Db; now: () => Date }) {
    this.#rate = rate
    this.#site = site
    this.#counted = new RateLimiterMemory({ points: rate.points, duration: rate.seconds })
    this.#busyFrom = Math.ceil(rate.points * BUSY)
    this.#shareMs = Math.min(SHARE_MS, (rate.seconds * 1000) / SHARES)
  }

  /** Counts a request. Undefined where it may pass. */
  async take(address: string): Promise<Refusal | undefined> {
    const client = clientKey(address)
    if (client === undefined) return undefined
    const counted = await this.#counted.consume(client).catch((refused: RateLimiterRes) => refused) // its only error
    const { consumedPoints, msBeforeNext } = counted
    if (consumedPoints > this.#rate.points)
      return { seconds: Math.ceil(msBeforeNext / 1000), isFirst: consumedPoints === this.#rate.points + 1 }
    if (consumedPoints >= this.#busyFrom) this.#share(client, counted)
    return undefined
  }

  #share(client: string, { consumedPoints, msBeforeNext }: RateLimiterRes): void {
    const known = this.#unshared.get(client)
    if (known) known.points++
    else {
      const points = consumedPoints === this.#busyFrom ? consumedPoints : 1 // those before it too
      this.#unshared.set(client, { points, until: new Date(this.#site.now().getTime() + msBeforeNext) })
    }
    if (this.#isSharing) return
    this.#isSharing = true
    setTimeout(() => {
      // Without the database each process counts alone, and the next requests are shared again
      void this.#addUp().catch(() => {}).finally(() => (this.#isSharing = false)) // prettier-ignore
    }, this.#shareMs).unref()
  }

  async #addUp(): Promise<void> {
    const clients = [...this.#unshared]
    this.#unshared = new Map()
    for (let at = 0; at < clients.length; at += BATCH) {
      const now = this.#site.now()
      const byKey = new Map(clients.slice(at, at + BATCH).map(([client, { points, until }]) => [keyOf(client), { client, points, until: until.toISOString() }])) // prettier-ignore
      const counters = [...byKey].map(([key, { points, until }]) => ({ key, points, until }))
      for (const { key, points, until } of await count(this.#site.db, counters, now.toISOString()))
        if (points >= this.#rate.points)
          await this.#refuse(byKey.get(key)?.client ?? '', Date.parse(until) - now.getTime())
    }
  }

  /** Refuses the next request of a client that has sent too many to all processes together. */
  async #refuse(client: string, milliseconds: number): Promise<void> {
    if (milliseconds <= 0) return // to the library that means for ever
    const counted = await this.#counted.get(client)
    if ((counted?.consumedPoints ?? 0) < this.#rate.points)
      await this.#counted.set(client, this.#rate.points, milliseconds / 1000)
  }
}

const keyOf = (client: string): string => createHash('sha256').update(`requests\n${client}`).digest('base64url')
