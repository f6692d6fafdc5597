import type { Selectable } from 'kysely'
import type { Db, Tables } from './tables.js'

export type ServerRow = Selectable<Tables['servers']>
type ServerKey = Pick<ServerRow, 'host' | 'pid' | 'worker'>

/** How long after its last sign of life a server counts as running. */
export const SEEN_WITHIN_MS = 3 * 60_000

/** Replaces the row of an earlier process with the same number, which has ended. */
export const putServer = (db: Db, server: ServerRow) =>
  db
    .insertInto('servers')
    .values(server)
    .onConflict((conflict) => {
      const { url, version, started_at, seen_at } = server
      return conflict.columns(['host', 'pid', 'worker']).doUpdateSet({ url, version, started_at, seen_at })
    })
    .execute()

export const removeServer = (db: Db, { host, pid, worker }: ServerKey) =>
  db.deleteFrom('servers').where('host', '=', host).where('pid', '=', pid).where('worker', '=', worker).execute()

/** Removes servers that were killed: none of them was seen since. */
export const removeServersBefore = (db: Db, seen: string) =>
  db.deleteFrom('servers').where('seen_at', '<', seen).execute()

/** The servers that were seen since, in no particular order. There are few. */
export const listServers = (db: Db, since: string): Promise<ServerRow[]> =>
  db.selectFrom('servers').selectAll().where('seen_at', '>=', since).execute()
