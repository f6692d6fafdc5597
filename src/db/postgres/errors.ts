import { AppError } from '../../core/errors.js'

export const READ_ONLY = '25006'
/** A statement or a wait for a lock that was ended, and a transaction that was idle for too long. */
export const TOO_SLOW = ['57014', '55P03', '25P03']

/** No connection, no resources, an operator who stops or starts the server, a failing disk. */
export const isOutage = (code: string): boolean => /^(08|53|57P|58)/.test(code)

/** What PostgreSQL refuses as long as nobody changes the settings of either side. */
const REFUSALS: Record<string, (database: string) => string> = {
  '28P01': () => 'it refused the user name or password',
  '28000': () => 'it refused the user',
  '3D000': (database) => `it has no database "${database}"`,
  '42501': (database) => `the user may not connect to the database "${database}"`,
}

/** Says why no connection could be made. The reason `database-refuses` marks what only a change of settings mends. */
export function connectFailed(error: unknown, url: string): AppError {
  const { code = '', message } = error as { code?: string; message: string }
  const { host, pathname } = new URL(url)
  const refusal = /unsupported startup parameter/.test(message)
    ? 'it is a pooler that needs database.prepare = false'
    : REFUSALS[code]?.(pathname.slice(1))
  return new AppError(
    'DATABASE_UNREACHABLE',
    `Cannot reach PostgreSQL at ${host || 'its socket'}: ${refusal ?? (message || code)}. Check database.url and that the server runs.`,
    { cause: error, ...(refusal !== undefined && { reason: 'database-refuses' }) },
  )
}
