import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { AppError } from '../../../core/errors.js'

/** Milliseconds between attempts to reach the database. */
const RETRY_DELAY_MS = 1000

/**
 * Retries until the database can be reached, because PostgreSQL may start after the server. Throws CONFIG_INVALID if the
 * database refuses the connection, for example because of a wrong password.
 */
export async function onceThere<T>(log: Logger, work: () => Promise<T>, waits = () => {}): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'DATABASE_UNREACHABLE') throw error
      if (error.reason === 'database-refuses') throw new AppError('CONFIG_INVALID', error.message, { cause: error })
      if (attempt === 1) {
        log.warn(`waiting for the database: ${error.message}`)
        waits()
      }
    }
    await sleep(RETRY_DELAY_MS)
  }
}
