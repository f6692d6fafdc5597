import { createHash } from 'node:crypto'
import { AppError } from '../../core/errors.js'
import { LIMITS, rateLimited, SHARED, type LimitName, type Rate, type Rates } from '../../core/limits.js'
import { count, findCounters, forget, putCounter, type Counter as Stored } from '../../db/limits.js'
import { clientKey } from './clients.js'
import { limitOfNew } from './newaccounts.js'
import type { Client, Context, Limiter } from './context.js'

interface Counter {
  key: string
  /** How many are too many, in how many seconds. */
  points: number
  seconds: number
  of: 'account' | 'account at address' | 'address'
  /** Whether a success sets it back. */
  clears: boolean
  /** Whether it counts dry runs. They cost as much as real work, but do not use up its limit. */
  dryRuns: boolean
}

/** What runs in this process and may still count. */
interface Running {
  count: number
  waiting: (() => void)[]
}

const DAY_MS = 24 * 3600 * 1000
/** How long an address is known from which an account has signed in. */
const KNOWN_MS = 30 * DAY_MS

/**
 * Counts failures and mails in the database, for all workers and servers. What runs counts as a failure until it ends,
 * so that many at once are no way around a limit: where they could exceed it, the others wait for them.
 */
export class Limits implements Limiter {
  readonly #rates: Rates
  readonly #running = new Map<string, Running>()
  /** How many have ended. */
  #ended = 0
  /** How often each limit refused, and how often what it counts failed, whether or not it is off. */
  readonly refused = new Map<LimitName, number>()
  readonly failed = new Map<LimitName, number>()

  constructor(rates: Rates) {
    this.#rates = rates
  }

  async guard<T>(
    name: LimitName,
    ctx: Context,
    account: string | undefined,
    work: () => Promise<T>,
    weight = 1,
  ): Promise<T> {
    const counters = await this.#countersOf(name, ctx, account)
    if (counters.length === 0) return this.#noting(name, work)
    const known = knownKey(name, ctx, account)
    const used = await this.#admit(name, ctx, counters, { known, weight })
    const { failures, successes = false } = LIMITS[name]
    const counting = successes ? counters.filter(({ dryRuns }) => dryRuns === ctx.dryRun) : counters
    try {
      const result = await this.#noting(name, work)
      if (successes) await this.#count(ctx, counting, weight)
      const cleared = counters.filter(({ key, clears }) => clears && used.has(key)).map(({ key }) => key)
      if (cleared.length > 0) await forget(ctx.db, cleared)
      if (known !== undefined && !ctx.dryRun) await remember(ctx, known, used.get(known))
      return result
    } catch (error) {
      if (error instanceof AppError && failures.includes(error.code)) await this.#count(ctx, counting)
      throw error
    } finally {
      for (const { key } of counters) this.#leave(key, weight)
    }
  }

  /** Runs the work, and counts a failure for the metrics. */
  async #noting<T>(name: LimitName, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof AppError && LIMITS[name].failures.includes(error.code)) increment(this.failed, name)
      throw error
    }
  }

  async applies(name: LimitName, ctx: Context, account: string | undefined): Promise<boolean> {
    return (await this.#countersOf(name, ctx, account)).length > 0
  }

  async refusal(name: LimitName, ctx: Context, account: string | undefined): Promise<AppError | undefined> {
    const counters = await this.#countersOf(name, ctx, account)
    if (counters.length === 0) return undefined
    const now = ctx.now()
    const found = await findCounters(ctx.db, counters.map(({ key }) => key), now.toISOString()) // prettier-ignore
    return this.#refusalBy(name, counters, { used: new Map(found.map((each) => [each.key, each])), now, weight: 1 })
  }

  async forgive(name: LimitName, ctx: Context, account: string): Promise<void> {
    const counters = (await this.#countersOf(name, ctx, account)).filter((counter) => counter.of !== 'address')
    if (counters.length > 0) await forget(ctx.db, counters.map(({ key }) => key)) // prettier-ignore
  }

  /** A limit that counts successes counts dry runs separately. A dry run is refused if either count is full. */
  async #countersOf(name: LimitName, ctx: Context, account: string | undefined): Promise<Counter[]> {
    const { client, actor } = ctx
    const { isForNew = false, exceptOwner = false } = LIMITS[name]
    if (!client || (exceptOwner && actor.isOwner)) return []
    const rate = isForNew ? await limitOfNew(name, ctx, this.#rates) : this.#rates[name]
    if (!rate) return []
    const real = this.#kindOf(name, { client, rate, account, dryRuns: false })
    if (!ctx.dryRun || !LIMITS[name].successes) return real
    return [...real, ...this.#kindOf(name, { client, rate, account, dryRuns: true })]
  }

  #kindOf(
    name: LimitName,
    { client, rate, account, dryRuns }: { client: Client; rate: Rate; account: string | undefined; dryRuns: boolean },
  ): Counter[] {
    const { successes = false, accounts } = LIMITS[name]
    const address = clientKey(client)
    const [few, many] = [rate.points, rate.points * SHARED]
    const counter = (of: Counter['of'], points: number, ...whose: string[]): Counter => ({
      key: keyOf(dryRuns ? `${name} dry run` : name, ...whose),
      points,
      seconds: rate.seconds,
      of,
      dryRuns,
      clears: !successes && (of === 'account at address' || (of === 'account' && address === undefined)),
    })
    const counters = address === undefined ? [] : [counter('address', accounts === 'none' ? few : many, address)]
    if (account === undefined || accounts === 'none') return counters
    if (accounts === 'together') return [counter('account', few, '', account), ...counters]
    const here = address === undefined ? [] : [counter('account at address', few, address, account)]
    return [...here, counter('account', many, '', account), ...counters]
  }

  /**
   * Waits until the work may run, and returns what is stored. Throws RATE_LIMITED. An account that is `known` at the
   * address is counted there alone, so that strangers do not shut it out.
   */
  async #admit(
    name: LimitName,
    ctx: Context,
    counters: readonly Counter[],
    { known, weight }: { known: string | undefined; weight: number },
  ): Promise<Map<string, Stored>> {
    const keys = counters.map(({ key }) => key)
    const wanted = known === undefined ? keys : [...keys, known]
    for (let waited: string | undefined; ;) {
      const [now, ended] = [ctx.now(), this.#ended]
      const found = await findCounters(ctx.db, wanted, now.toISOString()).catch((error: unknown) => {
        if (waited !== undefined) this.#wake(waited, 1)
        throw error
      })
      if (ended !== this.#ended) continue // what ended since may be counted in neither
      const used = new Map(found.map((each) => [each.key, each]))
      const isKnown = known !== undefined && used.has(known)
      const applying = isKnown ? counters.filter((counter) => counter.of !== 'account') : counters
      const refusal = this.#refusalBy(name, applying, { used, now, weight })
      if (refusal) {
        if (waited !== undefined) this.#wake(waited, Infinity) // they find the same
        increment(this.refused, name)
        throw refusal
      }
      const busy = applying.find(
        ({ key, points }) => (used.get(key)?.points ?? 0) + (this.#running.get(key)?.count ?? 0) + weight > points,
      )
      if (!busy) {
        for (const key of keys) this.#runningOf(key).count += weight
        return used
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

  #leave(key: string, weight: number): void {
    const running = this.#runningOf(key)
    running.count -= weight
    this.#ended++
    this.#wake(key, 1)
  }

  #wake(key: string, most: number): void {
    const running = this.#runningOf(key)
    for (const next of running.waiting.splice(0, most)) next()
    if (running.count === 0 && running.waiting.length === 0) this.#running.delete(key)
  }

  #refusalBy(
    name: LimitName,
    counters: readonly Counter[],
    { used, now, weight }: { used: ReadonlyMap<string, Stored>; now: Date; weight: number },
  ): AppError | undefined {
    const { message, isForNew } = LIMITS[name]
    const pointsOf = ({ key }: Counter) => used.get(key)?.points ?? 0
    const full = counters.find((counter) => pointsOf(counter) + weight > counter.points)
    if (!full) return undefined
    const { until } = used.get(full.key) ?? {}
    const seconds = until === undefined ? full.seconds : (Date.parse(until) - now.getTime()) / 1000
    const left = full.points - pointsOf(full)
    return rateLimited(message, seconds, {
      reason: isForNew ? 'new-account' : undefined,
      ...(left > 0 && { otherwise: `give fewer: ${left} are left` }),
    })
  }

  async #count({ db, now }: Context, counters: readonly Counter[], weight = 1): Promise<void> {
    const at = now()
    const untilOf = ({ seconds }: Counter) => new Date(at.getTime() + seconds * 1000).toISOString()
    await count(
      db,
      counters.map((counter) => ({ key: counter.key, points: weight, until: untilOf(counter) })),
      at.toISOString(),
    )
  }
}

const increment = (counts: Map<LimitName, number>, name: LimitName): void =>
  void counts.set(name, (counts.get(name) ?? 0) + 1)

/** The key says nothing to who reads it. */
export const keyOf = (...whose: string[]): string => createHash('sha256').update(whose.join('\n')).digest('base64url')

/** Under what it is stored that the account has signed in from the address, where that matters. */
function knownKey(name: LimitName, { client, actor }: Context, account: string | undefined): string | undefined {
  if (LIMITS[name].accounts !== 'by address' || account === undefined) return undefined
  if (account === actor.userId) return undefined // has signed in before; what succeeds may need no password
  const address = client && clientKey(client)
  return address === undefined ? undefined : keyOf(`${name} known`, address, account)
}

/** At most once a day, so that a sign-in costs no statement more. */
async function remember({ db, now }: Context, key: string, stored: Stored | undefined): Promise<void> {
  const until = now().getTime() + KNOWN_MS
  if (stored && Date.parse(stored.until) > until - DAY_MS) return
  await putCounter(db, { key, points: 0, until: new Date(until).toISOString() })
}
