import pg from 'pg'
import {
  BATCH,
  CARRIED_NAMES,
  COUNTING,
  selectOf,
  SITE_SQL,
  type Part,
  type Snapshot,
  type TableShape,
  type Value,
} from '../carried.js'
import { TYPES } from './driver.js'
import { connectFailed } from './errors.js'

const quoted = (name: string): string => `"${name}"`

/** Connects as nothing else of this program does, so that a restore can tell itself from a server. */
export async function connectAlone(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'feedbackctl backup', types: TYPES })
  client.on('error', () => {}) // the next query fails
  try {
    await client.connect()
    return client
  } catch (error) {
    throw connectFailed(error, url)
  }
}

/** One read-only transaction, in which every statement sees what the first saw. */
export async function postgresSnapshot(url: string): Promise<Snapshot> {
  const client = await connectAlone(url)
  try {
    return await snapshotOf(client)
  } catch (error) {
    await client.end()
    throw error
  }
}

async function snapshotOf(client: pg.Client): Promise<Snapshot> {
  const all = async <Row>(sql: string, ...values: unknown[]) => (await client.query(sql, values)).rows as Row[]
  await client.query('begin isolation level repeatable read, read only')
  const columns = await all<{ table: string; column: string }>(
    `select table_name as "table", column_name as "column" from information_schema.columns
      join information_schema.tables using (table_schema, table_name)
      where table_schema = current_schema() and table_type = 'BASE TABLE'`,
  )
  const there = new Set(columns.map(({ table }) => table))
  const keys = await all<{ table: string; columns: string[] }>(
    `select t.relname::text as "table", array_agg(a.attname::text order by k.position) as columns
      from pg_index i join pg_class t on t.oid = i.indrelid
      cross join lateral unnest(i.indkey) with ordinality as k(number, position)
      join pg_attribute a on a.attrelid = t.oid and a.attnum = k.number
      where i.indisprimary and t.relnamespace = current_schema()::regnamespace group by t.relname`,
  )
  const newest = there.has('kysely_migration')
    ? await all<{ name: string | null }>('select max(name collate "C") as name from kysely_migration')
    : []
  const sequences: Record<string, number> = {}
  for (const name of COUNTING.filter((each) => there.has(each))) {
    // What a transaction that was rolled back has taken is a gap here, and would be a loss on SQLite
    const [row] = await all<{ last: number }>(`select coalesce(max(id), 0) as last from ${quoted(name)}`)
    sequences[name] = row?.last ?? 0
  }
  const site = there.has('roles') ? await all<{ id: string | null }>(SITE_SQL) : []
  async function* query(sql: string): AsyncGenerator<Value[][]> {
    await client.query(`declare backup no scroll cursor for ${sql}`)
    for (;;) {
      const { rows } = await client.query<Value[]>({ text: `fetch ${BATCH} from backup`, rowMode: 'array' })
      if (rows.length === 0) break
      yield rows
    }
    await client.query('close backup')
  }
  return {
    engine: 'postgres',
    schema: newest[0]?.name ?? undefined,
    site: site[0]?.id ?? undefined,
    tables: CARRIED_NAMES.filter((name) => there.has(name)).map((name) => ({
      name,
      columns: columns
        .filter(({ table }) => table === name)
        .map(({ column }) => column)
        .toSorted(),
    })),
    sequences,
    async *rows(table: TableShape, part?: Part) {
      const key = keys.find((each) => each.table === table.name)?.columns ?? []
      yield* query(selectOf(table, key, part))
    },
    query,
    close: () => client.end(),
  }
}
