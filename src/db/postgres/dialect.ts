import { PostgresDialect } from 'kysely'
import pg from 'pg'
import { AppError } from '../../core/errors.js'

/** A pool of up to ten connections. Whole numbers of eight bytes come back as numbers, as from SQLite. */
export function postgresDialect(url: string): PostgresDialect {
  const types: pg.CustomTypesConfig = {
    getTypeParser: (oid: Parameters<typeof pg.types.getTypeParser>[0], format?: 'text' | 'binary') =>
      oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
  }
  const pool = new pg.Pool({
    connectionString: url,
    types,
    max: 10,
    connectionTimeoutMillis: 5000,
    application_name: 'feedbackctl',
  })
  pool.on('error', () => {}) // an idle connection was cut; the next query opens another, or fails with its own error
  return new PostgresDialect({
    pool: {
      connect: () => pool.connect().catch((error: unknown) => Promise.reject(explained(error, url))),
      end: () => pool.end(),
    },
  })
}

function explained(error: unknown, url: string): AppError {
  const { code = '', message } = error as { code?: string; message: string }
  const { host, pathname } = new URL(url)
  const reason = {
    '28P01': 'it refused the user name or password',
    '28000': 'it refused the user',
    '3D000': `it has no database "${pathname.slice(1)}"`,
  }[code]
  return new AppError(
    'DATABASE_UNREACHABLE',
    `Cannot reach PostgreSQL at ${host || 'its socket'}: ${reason ?? (message || code)}. Check database.url and that the server runs.`,
    { cause: error },
  )
}
