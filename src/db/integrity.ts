import { sql } from 'kysely'
import { isPostgres } from './dialect.js'
import type { Db } from './tables.js'

/** Sentences at most: a damaged file has thousands. */
const MOST = 5

/**
 * What is damaged in the database, as sentences: at most some. On SQLite all of the file is read, which takes seconds for
 * each GB. PostgreSQL checks its pages itself; what it says of indexes and constraints is read.
 */
export async function damageOf(db: Db): Promise<string[]> {
  return isPostgres(db) ? ofPostgres(db) : ofFile(db)
}

async function ofFile(db: Db): Promise<string[]> {
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check(${sql.lit(MOST)})`.execute(db)
  const found = rows
    .map((row) => row.integrity_check)
    .filter((line) => line !== 'ok')
    .map((line) => `SQLite: ${line.trim().replaceAll(/\s+/g, ' ')}`)
  if (found.length > 0) return found // what is broken cannot be read
  const { rows: orphans } = await sql<{ table: string; parent: string }>`pragma foreign_key_check`.execute(db)
  const counts = new Map<string, number>()
  for (const { table, parent } of orphans) {
    const what = `Rows of ${table} that name rows of ${parent} which do not exist`
    counts.set(what, (counts.get(what) ?? 0) + 1)
  }
  return [...counts].map(([what, count]) => `${what}: ${count}.`).slice(0, MOST)
}

async function ofPostgres(db: Db): Promise<string[]> {
  const { rows } = await sql<{ sentence: string }>`
    select 'The index ' || c.relname || ' is not valid.' as sentence
      from pg_index i join pg_class c on c.oid = i.indexrelid
      where not i.indisvalid and c.relnamespace = current_schema()::regnamespace
    union all
    select 'The constraint ' || conname || ' was never checked.'
      from pg_constraint
      where not convalidated and connamespace = current_schema()::regnamespace
    union all
    select 'The trigger ' || t.tgname || ' of ' || c.relname || ' is switched off.'
      from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where t.tgenabled = 'D' and c.relnamespace = current_schema()::regnamespace
    limit ${sql.lit(MOST)}`.execute(db)
  return rows.map(({ sentence }) => sentence)
}
