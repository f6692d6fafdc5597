import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Rate } from '../../core/limits.js'
import { count } from '../../db/limits.js'
import type { Db } from '../../db/tables.js'
import { clientKey, type Source } from './clients.js'

/** How often the requests of busy clients are added up with those to other processes, at least. */
const SHARE_MS = 1000
/** How often in the time of the limit, at least. */
const SHARES = 10
/** A client is busy from this part of the limit on. The requests of others are counted in this process only. */
const BUSY = 0.1
/** Clients that are counted at a time; above it, those are forgotten that sent nothing for longest. */
const MAX_CLIENTS = 100_000
/** Clients in one statement. */
const BATCH = 1000

/** What a client has sent in its present time. */
interface Sent {
  requests: number
  /** Of them, what the database does not know yet. */
  unshared: number
  /** When the time is over, of `performance.now()`. */
  until: number
}

/** Why a request is refused. */
interface Refusal {
  /** Until the client may try again. */
  seconds: number
  /** Whether it is the first one refused. */
  isFirst: boolean
}

/**
 * Limits the requests of each client, whatever they are for. Each is counted in memory, in less than a microsecond;
 * those of busy clients are added up in the database, for all workers and servers.
 */
export class RequestLimit {
  readonly #rate: Rate
  readonly #site: { db: Db; now: () => Date }
  /** By size, as `max` would reserve the memory of all clients at the start, which takes 10 ms. */
  readonly #sent = new LRUCache<string, Sent>({ maxSize: MAX_CLIENTS, sizeCalculation: () => 1 })
  readonly #busy = new Map<string, Sent>()
  #isSharing = false
  /** Requests that were refused. */
  refused = 0

  constructor(rate: Rate, site: { db: Db; now: () => Date }) {
    this.#rate = rate
    this.#site = site
  }

  /** Counts a request. Undefined where it may pass. */
  take(source: Source): Refusal | undefined {
    const client = clientKey(source)
    if (client === undefined) return undefined
    const now = performance.now()
    const { points, seconds } = this.#rate
    let sent = this.#sent.get(client)
    if (!sent || sent.until <= now) {
      sent = { requests: 0, unshared: 0, until: now + seconds * 1000 }
      this.#sent.set(client, sent)
    }
    sent.requests++
    if (sent.requests > points) {
      this.refused++
      return { seconds: Math.ceil((sent.until - now) / 1000), isFirst: sent.requests === points + 1 }
    }
    sent.unshared++
    if (sent.requests >= points * BUSY) this.#share(client, sent)
    return undefined
  }

  #share(client: string, sent: Sent): void {
    this.#busy.set(client, sent)
    if (this.#isSharing) return
    this.#isSharing = true
    const delay = Math.min(SHARE_MS, (this.#rate.seconds * 1000) / SHARES)
    setTimeout(() => {
      // Without the database each process counts alone
      void this.#addUp().catch(() => {}).finally(() => (this.#isSharing = false)) // prettier-ignore
    }, delay).unref()
  }

  async #addUp(): Promise<void> {
    const [now, moment] = [this.#site.now(), performance.now()]
    const clients = [...this.#busy].filter(([, { until }]) => until > moment)
    this.#busy.clear()
    for (let at = 0; at < clients.length; at += BATCH) {
      const batch = new Map(clients.slice(at, at + BATCH).map(([client, sent]) => [keyOf(client), sent]))
      const counters = [...batch].map(([key, sent]) => {
        const points = sent.unshared
        sent.unshared = 0
        return { key, points, until: new Date(now.getTime() + sent.until - moment).toISOString() }
      })
      for (const { key, points, until } of await count(this.#site.db, counters, now.toISOString())) {
        const sent = batch.get(key)
        if (!sent || points < this.#rate.points || sent.requests >= this.#rate.points) continue
        sent.requests = this.#rate.points // the next one is refused
        sent.until = moment + Date.parse(until) - now.getTime()
      }
    }
  }
}

const keyOf = (client: string): string => createHash('sha256').update(`requests\n${client}`).digest('base64url')
