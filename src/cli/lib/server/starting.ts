import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { AppError } from '../../../core/errors.js'

/** Milliseconds between attempts to reach the database. */
const RETRY_DELAY_MS = 1000

/**
 * Waits for a database that cannot be reached: at the start of a machine the server may come before PostgreSQL. What it
 * refuses, such as a wrong password, stops the start as a mistake in the configuration.
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
