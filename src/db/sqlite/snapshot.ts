import { setImmediate as turn } from 'node:timers/promises'
import type BetterSqlite from 'better-sqlite3'
import {
  BATCH,
  CARRIED_NAMES,
  carriedColumns,
  COUNTING,
  selectOf,
  SITE_SQL,
  type Part,
  type Snapshot,
  type TableShape,
  type Value,
} from '../carried.js'
import { openSqlite } from './binding.js'
import { explained } from './errors.js'

/**
 * One read transaction of a connection of its own. Writers go on: what they write stays in the WAL until it ends. Unlike
 * `VACUUM INTO` it needs no room for a second copy, and reads an older schema or a damaged index as it is.
 */
export function fileSnapshot(file: string): Snapshot {
  let database: BetterSqlite.Database | undefined
  try {
    database = openSqlite(file)
    return snapshotOf(database, file)
  } catch (error) {
    database?.close()
    throw explained(error, file)
  }
}

function snapshotOf(database: BetterSqlite.Database, file: string): Snapshot {
  database.exec('pragma busy_timeout = 5000; pragma query_only = on; pragma temp_store = file; begin')
  const all = <Row>(sql: string, ...values: unknown[]) => database.prepare(sql).all(...values) as Row[]
  const there = new Set(
    all<{ name: string }>(`select name from sqlite_master where type = 'table'`).map(({ name }) => name),
  )
  const columnsOf = (table: string) =>
    all<{ name: string; pk: number }>('select name, pk from pragma_table_info(?)', table)
  const tables = CARRIED_NAMES.filter((name) => there.has(name)).map((name) => ({
    name,
    columns: carriedColumns(
      name,
      columnsOf(name).map((column) => column.name),
    ),
  }))
  const sequences = there.has('sqlite_sequence')
    ? all<{ name: string; seq: number }>('select * from sqlite_sequence')
    : []
  const newest = there.has('kysely_migration')
    ? all<{ name: string | null }>('select max(name) as name from kysely_migration')
    : []
  async function* query(sql: string): AsyncGenerator<Value[][]> {
    let batch: Value[][] = []
    try {
      for (const row of database.prepare(sql).raw().iterate()) {
        if (batch.push(row as Value[]) < BATCH) continue
        yield batch
        batch = []
        await turn() // a server that makes its own backup answers requests between
      }
    } catch (error) {
      throw explained(error, file)
    }
    if (batch.length > 0) yield batch
  }
  return {
    engine: 'sqlite',
    schema: newest[0]?.name ?? undefined,
    site: (there.has('roles') && all<{ id: string | null }>(SITE_SQL)[0]?.id) || undefined,
    tables,
    sequences: Object.fromEntries(
      COUNTING.filter((name) => there.has(name)).map((name) => [
        name,
        sequences.find((each) => each.name === name)?.seq ?? 0,
      ]),
    ),
    async *rows(table: TableShape, part?: Part) {
      const key = columnsOf(table.name)
        .filter(({ pk }) => pk > 0)
        .toSorted((one, other) => one.pk - other.pk)
        .map(({ name }) => name)
      yield* query(selectOf(table, key, part))
    },
    query,
    close: async () => void database.close(),
  }
}
