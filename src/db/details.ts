import { sql } from 'kysely'
import type { DetailedNoun, Recorded } from '../core/details.js'
import { NOUNS, type NounWithRows } from '../core/nouns.js'
import { isPostgres } from './dialect.js'
import type { Db, Tables } from './tables.js'

type Nouns = typeof NOUNS
type NounOfTable = DetailedNoun & NounWithRows

/** Each recorded field is a column, or this does not compile. */
const RECORDED: {
  [N in NounOfTable]: {
    table: keyof Tables
    id: string
    details: Partial<Record<keyof Tables[Nouns[N]['table']], string>>
  }
} = NOUNS

/** The recorded fields of a row, which is locked until the transaction ends. Undefined where it is gone. */
export async function stateBefore<N extends NounOfTable>(
  db: Db,
  noun: N,
  rowId: string,
): Promise<Recorded<N> | undefined> {
  const { table, id, details } = RECORDED[noun]
  const columns = sql.join(Object.keys(details).map((column) => sql.ref(column)))
  const { rows } = await sql<Recorded<N>>`
    select ${columns} from ${sql.table(table)} where ${sql.ref(id)} = ${rowId} ${isPostgres(db) ? sql`for update` : sql``}`.execute(
    db,
  )
  return rows[0]
}
