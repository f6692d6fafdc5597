import { existsSync } from 'node:fs'
import { databaseFile, redactedUrl } from '../../../core/addresses.js'
import { AppError } from '../../../core/errors.js'
import { counted, printable } from '../../../core/text.js'
import * as boards from '../../../service/boards.js'
import * as site from '../../../service/site.js'
import type { Cli } from './session.js'

/** The state of the site in one line. It never creates a database. */
export async function statusLine(cli: Cli): Promise<string> {
  try {
    const config = await cli.config()
    const where = config.get('server') ?? redactedUrl(config.get('database.url') ?? '')
    const file = databaseFile(where)
    if (file !== undefined && !existsSync(file))
      return 'Status: no site here yet. Run "feedbackctl setup" to create one, or "feedbackctl demo" to try one.'
    const call = await cli.connect()
    if (!(await call(site.status, {})).is_setup) return `Status: ${where} has no owner yet. Run "feedbackctl setup".`
    const { total_count: count } = await call(boards.list, { limit: 1, visibility: ['public', 'private'] })
    return `Status: ${where} is set up, with ${counted(count, 'board')}.`
  } catch (error) {
    if (error instanceof AppError) return `Status: ${printable(error.message)}`
    throw error
  }
}
