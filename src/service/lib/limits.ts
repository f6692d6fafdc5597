import { createHash } from 'node:crypto'
import { AppError } from '../../core/errors.js'
import { LIMITS, rateLimited, SHARED, type LimitName, type Rates } from '../../core/limits.js'
import { count, findCounters, forget } from '../../db/limits.js'
import { clientKey } from './clients.js'
import type { Context, Limiter } from './context.js'

interface Counter {
  key: string
  /** How many are too many. */
  points: number
  of: 'account' | 'address'
  /** Whether a success sets it back. */
  clears: boolean
}

/** What runs in this process and may still count. */
interface Running {
  count: number
  waiting: (() => void)[]
}

/**
 * Counts failures and mails in the database, for all workers and servers. What runs counts as a failure until it ends,
 * so that many at once are no way around a limit: where they could exceed it, the others wait for them.
 */
export class Limits implements Limiter {
  readonly #rates: Rates
  readonly #running = new Map<string, Running>()

  constructor(rates: Rates) {
    this.#rates = rates
  }

  async guard<T>(name: LimitName, ctx: Context, account: string | undefined, work: () => Promise<T>): Promise<T> {
    const counters = this.#countersOf(name, ctx, account)
    if (counters.length === 0) return work()
    const used = await this.#admit(name, ctx, counters)
    const { failures, successes = false } = LIMITS[name]
    try {
      const result = await work()
      if (successes && !ctx.dryRun) await this.#count(name, ctx, counters)
      const cleared = counters.filter(({ key, clears }) => clears && used.has(key)).map(({ key }) => key)
      if (cleared.length > 0) await forget(ctx.db, cleared)
      return result
    } catch (error) {
      if (error instanceof AppError && failures.includes(error.code)) await this.#count(name, ctx, counters)
      throw error
    } finally {
      for (const { key } of counters) this.#leave(key)
    }
  }

  async forgive(name: LimitName, ctx: Context, account: string): Promise<void> {
    const counters = this.#countersOf(name, ctx, account).filter((counter) => counter.of === 'account')
    if (counters.length > 0) await forget(ctx.db, counters.map(({ key }) => key)) // prettier-ignore
  }

  #countersOf(name: LimitName, { client }: Pick<Context, 'client'>, account: string | undefined): Counter[] {
    const rate = this.#rates[name]
    if (!rate || !client) return []
    const { successes = false, accounts } = LIMITS[name]
    const address = clientKey(client)
    const [few, many] = [rate.points, rate.points * SHARED]
    const counter = (of: Counter['of'], points: number, ...whose: string[]): Counter => ({
      key: createHash('sha256')
        .update([name, ...whose].join('\n'))
        .digest('base64url'), // says nothing to who reads it
      points,
      of,
      clears: !successes && of === 'account' && (points === few || address === undefined),
    })
    const counters = address === undefined ? [] : [counter('address', accounts === 'none' ? few : many, address)]
    if (account === undefined || accounts === 'none') return counters
    if (accounts === 'together') return [counter('account', few, '', account), ...counters]
    const here = address === undefined ? [] : [counter('account', few, address, account)]
    return [...here, counter('account', many, '', account), ...counters]
  }

  /** Waits until the work may run, and returns the keys with points. Throws RATE_LIMITED. */
  async #admit(name: LimitName, ctx: Context, counters: readonly Counter[]): Promise<Set<string>> {
    const keys = counters.map(({ key }) => key)
    for (let waited: string | undefined; ;) {
      const now = ctx.now()
      const found = await findCounters(ctx.db, keys, now.toISOString()).catch((error: unknown) => {
        if (waited !== undefined) this.#wake(waited, 1)
        throw error
      })
      const used = new Map(found.map((each) => [each.key, each]))
      const full = counters.find(({ key, points }) => (used.get(key)?.points ?? 0) >= points)
      if (full) {
        if (waited !== undefined) this.#wake(waited, Infinity) // they find the same
        throw rateLimited(LIMITS[name].message, (Date.parse(used.get(full.key)?.until ?? '') - now.getTime()) / 1000)
      }
      const busy = counters.find(
        ({ key, points }) => (used.get(key)?.points ?? 0) + (this.#running.get(key)?.count ?? 0) >= points,
      )
      if (!busy) {
        for (const key of keys) this.#runningOf(key).count++
        return new Set(used.keys())
      }
      if (waited !== undefined && waited !== busy.key) this.#wake(waited, 1)
      waited = busy.key
      await new Promise<void>((resolve) => this.#runningOf(busy.key).waiting.push(resolve))
    }
  }

  #runningOf(key: string): Running {
    const known = this.#running.get(key) ?? { count: 0, waiting: [] }
    this.#running.set(key, known)
    return known
  }

  #leave(key: string): void {
    const running = this.#runningOf(key)
    running.count--
    this.#wake(key, 1)
  }

  #wake(key: string, most: number): void {
    const running = this.#runningOf(key)
    for (const next of running.waiting.splice(0, most)) next()
    if (running.count === 0 && running.waiting.length === 0) this.#running.delete(key)
  }

  async #count(name: LimitName, { db, now }: Context, counters: readonly Counter[]): Promise<void> {
    const { seconds = 0 } = this.#rates[name] ?? {}
    const until = new Date(now().getTime() + seconds * 1000).toISOString()
    await count(
      db,
      counters.map(({ key }) => ({ key, points: 1, until })),
      now().toISOString(),
    )
  }
}
