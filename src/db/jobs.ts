import type { Selectable } from 'kysely'
import type { Db, Tables } from './tables.js'

interface Lease {
  name: string
  holder: string
  until: string
}

/** ISO times. No lease ends after `limit`, unless the clock went back since. */
interface Moment {
  now: string
  limit: string
}

/** Only reads, so that processes that wait for the lease do not block writers. */
export async function isJobLeaseFree(db: Db, name: string, { now, limit }: Moment): Promise<boolean> {
  const row = await db
    .selectFrom('job_leases')
    .select('name')
    .where('name', '=', name)
    .where('until', '>', now)
    .where('until', '<=', limit)
    .executeTakeFirst()
  return row === undefined
}

/** Acquires a lease that is free or has expired. Returns false if another process holds it. */
export async function acquireJobLease(db: Db, { now, limit, ...lease }: Lease & Moment): Promise<boolean> {
  const row = await db
    .insertInto('job_leases')
    .values(lease)
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ holder: lease.holder, until: lease.until })
        .where((eb) => eb.or([eb('job_leases.until', '<=', now), eb('job_leases.until', '>', limit)])),
    )
    .returning('holder')
    .executeTakeFirst()
  return row !== undefined
}

/** Returns false if another process has taken the lease. */
export async function renewJobLease(db: Db, { name, holder, until }: Lease): Promise<boolean> {
  const row = await db
    .updateTable('job_leases')
    .set({ until })
    .where('name', '=', name)
    .where('holder', '=', holder)
    .returning('name')
    .executeTakeFirst()
  return row !== undefined
}

export const releaseJobLease = (db: Db, { name, holder }: Pick<Lease, 'name' | 'holder'>) =>
  db.deleteFrom('job_leases').where('name', '=', name).where('holder', '=', holder).execute()

/** The name of the job that makes backups. */
export const BACKUPS = 'backups'

type JobRun = Selectable<Tables['job_runs']>

export const readJobRun = (db: Db, name: string): Promise<JobRun | undefined> =>
  db.selectFrom('job_runs').selectAll().where('name', '=', name).executeTakeFirst()

/** Notes a success, or beside the last success a failure. */
export const putJobRun = (db: Db, { name, ...run }: { name: string } & Partial<JobRun>) =>
  db
    .insertInto('job_runs')
    .values({ name, done_at: null, failed_at: null, error: null, ...run })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(run))
    .execute()
