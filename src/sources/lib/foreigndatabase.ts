import { readFileSync } from 'node:fs'
import pg from 'pg'
import { AppError } from '../../core/errors.js'
import { isAddress, type Given, type Source, type SourceRecord } from '../source.js'
import type { Json } from './values.js'

/** Rows that are read at a time. */
const BATCH = 1000
/** Milliseconds. */
const CONNECT = 10_000

/** The PostgreSQL database of another product, as it is at one moment. It is only read. */
export class ForeignDatabase {
  readonly #client: pg.Client

  private constructor(client: pg.Client) {
    this.#client = client
  }

  /**
   * `from` is an address, postgres://…, or a file that has one, so that other users of the machine do not see the
   * password. Throws USAGE where the database cannot be opened.
   */
  static async open(from: string): Promise<ForeignDatabase> {
    const connectionString = isAddress(from) ? from : readFileSync(from, 'utf8').trim()
    if (!isAddress(connectionString))
      throw new AppError('USAGE', 'Name the address of its database, postgres://USER@HOST/NAME, or a file that has it.')
    const client = new pg.Client({
      connectionString,
      connectionTimeoutMillis: CONNECT,
      application_name: 'feedbackctl import',
    })
    client.on('error', () => {}) // the next query says it
    try {
      await client.connect()
      await client.query('begin transaction isolation level repeatable read, read only')
    } catch (error) {
      await client.end().catch(() => undefined)
      throw new AppError('USAGE', `The database cannot be opened: ${(error as Error).message}.`, { cause: error })
    }
    return new ForeignDatabase(client)
  }

  /** The columns of a table; none where there is no such table. */
  async columns(table: string): Promise<ReadonlySet<string>> {
    const { rows } = await this.#client.query<{ name: string }>(
      `select attname as name from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
      [`"${table}"`],
    )
    return new Set(rows.map(({ name }) => name))
  }

  async *rows(sql: string): AsyncGenerator<Json> {
    await this.#client.query(`declare import_rows no scroll cursor for ${sql}`)
    for (;;) {
      const { rows } = await this.#client.query<Record<string, unknown>>(`fetch ${BATCH} from import_rows`)
      if (rows.length === 0) break
      for (const row of rows) yield row
    }
    await this.#client.query('close import_rows')
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => undefined)
  }
}

/** Opens the database for a source, and closes it when its records end. */
export const fromDatabase = (
  records: (database: ForeignDatabase, note: Given['note']) => AsyncIterable<SourceRecord>,
): Source['read'] =>
  async function* ({ from, note }) {
    const database = await ForeignDatabase.open(from)
    try {
      yield* records(database, note)
    } finally {
      await database.close()
    }
  }
