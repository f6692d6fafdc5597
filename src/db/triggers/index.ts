import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { isPostgres, triggerStatements, type Trigger } from '../dialect.js'
import type { Db } from '../tables.js'
import { countingTriggers } from './counted.js'
import { loggingTriggers } from './logged.js'
import { usingTriggers } from './used.js'

/** Every trigger of the newest schema. */
export const triggersOf = (engine: 'sqlite' | 'postgres'): readonly Trigger[] => [
  ...loggingTriggers,
  ...countingTriggers(engine),
  ...usingTriggers,
]

/** Identifies the text of all triggers. */
export const fingerprintOf = (engine: 'sqlite' | 'postgres'): string =>
  createHash('sha256')
    .update(JSON.stringify(triggersOf(engine).map((trigger) => triggerStatements(engine, trigger))))
    .digest('hex')
    .slice(0, 16)

/**
 * Drops the triggers that this program or another version created, and creates those of this one. Triggers of others
 * stay. Run it in a transaction.
 */
export async function createTriggers(db: Db): Promise<void> {
  const engine = isPostgres(db) ? 'postgres' : 'sqlite'
  const triggers = triggersOf(engine)
  const names = triggers.map(({ name }) => name)
  const stored = await db.selectFrom('schema_triggers').select('names').execute()
  const all = new Set([...names, ...stored.flatMap((row) => JSON.parse(row.names) as string[])])
  for (const name of all)
    await (
      engine === 'postgres'
        ? sql`drop function if exists ${sql.id(name)}() cascade` // with its trigger
        : sql`drop trigger if exists ${sql.id(name)}`
    ).execute(db)
  for (const trigger of triggers)
    for (const statement of triggerStatements(engine, trigger)) await sql.raw(statement).execute(db)
  await db.deleteFrom('schema_triggers').execute()
  await db
    .insertInto('schema_triggers')
    .values({ fingerprint: fingerprintOf(engine), names: JSON.stringify(names) })
    .execute()
}
