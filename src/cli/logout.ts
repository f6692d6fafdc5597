import type { Command } from 'commander'
import { AppError } from '../core/errors.js'
import * as sessions from '../service/sessions.js'
import { removeToken, savedToken } from './lib/connection/credentials.js'
import type { Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { print, type OutputFlags } from './lib/output/output.js'
import { serverMissing } from './lib/prompts/inputs.js'
import { tell } from './lib/terminal/terminal.js'

/** Errors of a server for a session that has ended already. */
const ENDED = ['INVALID_TOKEN', 'USER_NOT_FOUND', 'USER_BLOCK', 'ACCESS_DENIED', 'SESSION_NOT_FOUND']

export function register(command: Command, cli: Cli): void {
  explain(command, { examples: ['logout --server https://feedback.example.org'] }).action(async () => {
    const flags = command.optsWithGlobals<OutputFlags>()
    const config = await cli.config()
    const server = config.get('server')
    if (server === undefined) throw serverMissing('sign out of')
    if (config.get('token') !== undefined)
      throw new AppError(
        'USAGE',
        `The token comes from ${config.origin('token')}. Unset it there, to sign out of what "feedbackctl login" saved.`,
      )
    const isSaved = savedToken(config, server) !== undefined
    if (isSaved) {
      await (await cli.connect())(sessions.revoke, { sessionId: 'current' }).catch(unlessEnded)
      removeToken(config, server)
    }
    const body = { server, signedOut: isSaved }
    await print(cli.terminal, flags, { body, rows: [], columns: [], id: String, single: true })
    tell(cli.terminal, isSaved ? `Signed out of ${server}. The session has ended.` : `Not signed in to ${server}.`)
  })
}

function unlessEnded(error: unknown): void {
  if (!(error instanceof AppError) || !ENDED.includes(error.code)) throw error
}
