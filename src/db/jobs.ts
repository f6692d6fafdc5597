import type { Db } from './tables.js'

interface Lease {
  /** The job. */
  name: string
  holder: string
  until: string
}

/** Whether nobody holds a lease: a read, so that waiting for one does not take the lock that writers need. */
export async function isJobLeaseFree(db: Db, name: string, now: string): Promise<boolean> {
  const row = await db
    .selectFrom('job_leases')
    .select('name')
    .where('name', '=', name)
    .where('until', '>', now)
    .executeTakeFirst()
  return row === undefined
}

/** Takes a lease that is free or has run out; false when another holder has it. */
export async function acquireJobLease(db: Db, { now, ...lease }: Lease & { now: string }): Promise<boolean> {
  const row = await db
    .insertInto('job_leases')
    .values(lease)
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ holder: lease.holder, until: lease.until })
        .where('job_leases.until', '<=', now),
    )
    .returning('holder')
    .executeTakeFirst()
  return row !== undefined
}

/** False when the lease was lost to another holder. */
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
