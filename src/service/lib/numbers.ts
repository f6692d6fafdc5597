import { userTotal } from '../../db/users.js'
import { lastNumber } from '../../db/counters.js'
import { waitingDeliveries } from '../../db/deliveries.js'
import { BACKUPS, readJobRun } from '../../db/jobs.js'
import { countPosts, votesBetween } from '../../db/posts/count.js'
import type { Context } from './context.js'

/** Milliseconds that the numbers of backups and of votes are kept. */
const KEPT_MS = 5 * 60_000
/** Posts whose votes are added up in one statement, so that none takes long. */
const STEP = 500

interface Numbers {
  people: number
  posts: number
  votes: number
  /** How long the oldest has waited, in seconds. */
  mail: { waiting: number; longest: number }
  backup: { newestAt: Date | undefined; isFailing: boolean }
}

/**
 * How much a site has, for the metrics. People and posts are read from counts that the database keeps. Votes have none: they
 * are added up post by post, in steps, and now and then.
 */
export class SiteNumbers {
  readonly #site: Pick<Context, 'db' | 'now' | 'backups'>
  readonly #votes = memoized(() => this.#addVotes())
  readonly #newest = memoized(() => this.#newestBackup())

  constructor(site: Pick<Context, 'db' | 'now' | 'backups'>) {
    this.#site = site
  }

  async read(): Promise<Numbers> {
    const { db, now } = this.#site
    const everything = { boards: [], roadmaps: undefined, author: undefined, hidden: true } as const
    const { waiting, oldest } = await waitingDeliveries(db, 'mail')
    const run = await readJobRun(db, BACKUPS)
    return {
      people: await userTotal(db),
      posts: (await countPosts(db, everything)).total,
      votes: await this.#votes(),
      mail: { waiting, longest: oldest === null ? 0 : Math.max(0, (now().getTime() - Date.parse(oldest)) / 1000) },
      backup: { newestAt: await this.#newest(), isFailing: run?.error != null },
    }
  }

  async #addVotes(): Promise<number> {
    const { db } = this.#site
    const last = await lastNumber(db)
    let sum = 0
    for (let from = 0; from < last; from += STEP) sum += await votesBetween(db, from, from + STEP)
    return sum
  }

  async #newestBackup(): Promise<Date | undefined> {
    const files = await this.#site.backups?.list().catch(() => []) // its folder is a matter of the job that makes them
    const newest = files?.find(({ redacted }) => !redacted)
    return newest && new Date(newest.createdAt)
  }
}

/** Remembers the result for some time. Who asks meanwhile waits for the same run. */
function memoized<T>(work: () => Promise<T>): () => Promise<T> {
  let last: { result: Promise<T>; until: number } | undefined
  return () => {
    if (last && performance.now() < last.until) return last.result
    const result = work()
    last = { result, until: performance.now() + KEPT_MS }
    result.catch(() => (last = undefined)) // the next caller tries again
    return result
  }
}
