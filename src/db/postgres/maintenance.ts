import { sql } from 'kysely'
import { AppError } from '../../core/errors.js'
import type { Db } from '../tables.js'
import { connectAlone } from './snapshot.js'

/** An advisory lock with two keys: this number, which is ours, and a hash of the schema. */
const KEY = 1_717_921_124

const REQUESTED = `select exists (select from pg_locks where locktype = 'advisory' and objsubid = 2 and granted
  and database = (select oid from pg_database where datname = current_database())
  and classid = ${KEY} and objid::bigint = (hashtext(current_schema())::bigint & 4294967295)) as requested`

/**
 * Holds a lock until it is released, or until this process ends. It is one of a transaction, because a pooler may give
 * each transaction another session. Throws DATABASE_IN_USE.
 */
export async function requestMaintenance(url: string): Promise<() => Promise<void>> {
  const client = await connectAlone(url)
  try {
    await client.query('begin')
    await client.query('set local idle_in_transaction_session_timeout = 0')
    const { rows } = await client.query<{ locked: boolean }>(
      `select pg_try_advisory_xact_lock(${KEY}, hashtext(current_schema())) as locked`,
    )
    if (!rows[0]?.locked)
      throw new AppError('DATABASE_IN_USE', 'Another restore of this database is under way. Nothing was changed.')
  } catch (error) {
    await client.end()
    throw error
  }
  return () => client.end()
}

/** Asks over the connections of a server. */
export async function isMaintenanceRequested(db: Db): Promise<boolean> {
  const { rows } = await sql<{ requested: boolean }>`${sql.raw(REQUESTED)}`.execute(db)
  return rows[0]?.requested ?? false
}

/** Asks over a connection of its own, while the server has closed the database. */
export async function isStillRequested(url: string): Promise<boolean> {
  const client = await connectAlone(url)
  try {
    const { rows } = await client.query<{ requested: boolean }>(REQUESTED)
    return rows[0]?.requested ?? false
  } finally {
    await client.end()
  }
}
