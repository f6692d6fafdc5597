import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../core/errors.js'
import type { Database } from '../db/connect.js'
import type { Jobs } from '../jobs/runner.js'
import type { SiteNumbers } from '../service/lib/numbers.js'
import { counter, gauge, type Family, type Sample } from './family.js'

/** Milliseconds that the database may take. Without it, the rest is shown. */
const ANSWER_WITHIN_MS = 2000

/** An open site, and what runs there. */
export interface Measured {
  database: Pick<Database, 'ping' | 'measure' | 'cache'>
  numbers: SiteNumbers
  limits: { refused: ReadonlyMap<string, number>; failed: ReadonlyMap<string, number> }
  requests: { refused: number } | undefined
  jobs: Jobs
}

const labelled = (label: string, values: Iterable<readonly [string, number]>): Sample[] =>
  [...values].map(([name, value]) => ({ labels: { [label]: name }, value }))

const seconds = (time: Date): number => time.getTime() / 1000

/** Measures a site and its database. */
export async function measureSite(measured: Measured): Promise<Family[]> {
  const numbers = await numbersOf(measured)
  return [
    gauge('feedbackctl_database_up', 'Whether the database answers, and takes writes.', numbers ? 1 : 0, 'min'),
    ...(numbers ?? []),
    ...measureDatabase(measured.database),
    ...measureJobs(measured.jobs),
    counter('feedbackctl_sign_in_failures_total', 'Sign-ins with a wrong password or code, or to no account.', measured.limits.failed.get('sign-in') ?? 0), // prettier-ignore
    counter('feedbackctl_limits_hit_total', 'Requests that one of the limits refused.', labelled('limit', [...measured.limits.refused, ...(measured.requests ? [['requests', measured.requests.refused] as const] : [])])), // prettier-ignore
  ]
}

/** Undefined where the database does not answer. */
async function numbersOf({ database, numbers }: Measured): Promise<Family[] | undefined> {
  const tooLate = Symbol('too late')
  const read = async () => {
    const isThere = await database.ping().then(() => true, () => false) // prettier-ignore
    return isThere ? numbers.read() : tooLate
  }
  const found = await Promise.race([read(), sleep(ANSWER_WITHIN_MS, tooLate, { ref: false })]).catch(
    (error: unknown) => {
      if (error instanceof AppError) return tooLate
      throw error
    },
  )
  if (typeof found === 'symbol') return undefined
  const { people, posts, votes, mail, backup } = found
  return [
    gauge('feedbackctl_people', 'Accounts.', people, 'max'),
    gauge('feedbackctl_posts', 'Posts, with hidden ones.', posts, 'max'),
    gauge('feedbackctl_votes', 'Votes for all posts, with those of imports, as of five minutes ago at most.', votes, 'max'), // prettier-ignore
    gauge('feedbackctl_mail_queue_length', 'Mails that are still to be sent.', mail.waiting, 'max'),
    gauge('feedbackctl_mail_queue_oldest_age_seconds', 'How long the oldest of them has waited.', mail.longest, 'max'),
    gauge('feedbackctl_backup_newest_timestamp_seconds', 'When the newest backup was made, as Unix time; 0 without any. As of five minutes ago at most.', backup.newestAt ? seconds(backup.newestAt) : 0, 'max'), // prettier-ignore
    gauge('feedbackctl_backup_failing', 'Whether the last scheduled backup failed.', backup.isFailing ? 1 : 0, 'max'),
  ]
}

function measureDatabase({ measure, cache }: Measured['database']): Family[] {
  const { commits, logBytes, connections } = measure()
  return [
    counter('feedbackctl_database_commits_total', 'Transactions that were committed. On SQLite several small writes share one; on PostgreSQL a statement by itself is none.', commits), // prettier-ignore
    ...(logBytes === undefined ? [] : [gauge('feedbackctl_database_wal_bytes', 'Size of the write-ahead log of SQLite.', logBytes, 'max')]), // prettier-ignore
    ...(connections
      ? [
          gauge('feedbackctl_database_connections', 'Connections to PostgreSQL, by state.', labelled('state', [['busy', connections.busy], ['idle', connections.idle]]), 'sum'), // prettier-ignore
          gauge('feedbackctl_database_connections_waiting', 'Queries that wait for a connection.', connections.waiting, 'sum'), // prettier-ignore
        ]
      : []),
    counter('feedbackctl_query_cache_reads_total', 'Queries that the query cache answered, or had to run.', labelled('result', [['hit', cache.hits], ['miss', cache.misses]])), // prettier-ignore
  ]
}

const measureJobs = ({ successes, failures }: Jobs): Family[] => [
  gauge('feedbackctl_job_last_success_timestamp_seconds', 'When a background job last ended well or had nothing to do, as Unix time.', labelled('job_name', [...successes].map(([job, at]) => [job, seconds(at)] as const)), 'max'), // prettier-ignore
  counter('feedbackctl_job_failures_total', 'Runs of background jobs that failed.', labelled('job_name', failures)),
]
