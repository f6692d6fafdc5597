import { setTimeout } from 'node:timers/promises'
import { AppError } from '../../core/errors.js'
import { connectAlone } from './snapshot.js'

/** PostgreSQL ends the session of a process a moment after the process. Milliseconds between looks, and how many. */
const BETWEEN_MS = 100
const LOOKS = 20

/** Throws DATABASE_IN_USE while a server or a command of this program is connected to the database. Waits two seconds. */
export async function assertAlone(url: string): Promise<void> {
  const client = await connectAlone(url)
  try {
    for (let look = 0; look < LOOKS; look++) {
      const { rows } = await client.query<{ number: number }>(
        `select count(*)::int as number from pg_stat_activity where datname = current_database() and application_name = 'feedbackctl'`,
      )
      if ((rows[0]?.number ?? 0) === 0) return
      await setTimeout(BETWEEN_MS)
    }
    throw new AppError(
      'DATABASE_IN_USE',
      'A server or another command is connected to the database. Stop every "feedbackctl serve" first. Nothing was changed.',
    )
  } finally {
    await client.end()
  }
}
