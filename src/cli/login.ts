import type { Command } from 'commander'
import { AppError } from '../core/errors.js'
import { fieldsOf } from '../core/fields.js'
import * as auth from '../service/auth.js'
import { saveToken } from './lib/connection/credentials.js'
import { settingFlags, type Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { optionsOf, type Source } from './lib/flags/options.js'
import { isMachineReadable, print, type OutputFlags } from './lib/output/output.js'
import { PERSON } from './lib/output/person.js'
import { inputMissing, readSource, readsStdin, serverMissing } from './lib/prompts/inputs.js'
import { withPrompts } from './lib/prompts/prompts.js'
import { canPrompt, tell, write, type Terminal } from './lib/terminal/terminal.js'

interface Flags extends OutputFlags {
  password?: Source
  code?: Source
  input?: boolean
}

export function register(command: Command, cli: Cli): void {
  const fields = fieldsOf(auth.login.input).filter(({ name }) => name !== 'passwordToken') // the command keeps the password
  for (const option of optionsOf(fields, {})) command.addOption(option)
  explain(command, {
    examples: ['login --server https://feedback.example.org', 'boards list --server https://feedback.example.org'],
    required: ['--server'],
  }).action(async () => {
    const flags = command.optsWithGlobals<Flags>()
    const config = await cli.config({ flags: settingFlags(command), newFile: false })
    const server = config.get('server')
    if (server === undefined) throw serverMissing('sign in to')
    const password = flags.password ? await readSource(cli.terminal, flags.password) : config.get('setup.password')
    const credentials = await gather(cli.terminal, flags, config.get('setup.email'), password)
    const call = await cli.connect()
    const code = flags.code && (await readSource(cli.terminal, { ...flags.code, secret: false })) // a code works once
    const answer = await call(auth.login, { ...credentials, ...(code !== undefined && { code }) }).catch(
      async (error: unknown) => {
        if (!(error instanceof AppError) || error.code !== 'TOTP_REQUIRED') throw error
        if (!canPrompt(cli.terminal, { input: flags.input !== false && !readsStdin(flags.password) })) throw error
        const typed = await withPrompts(cli.terminal, (prompts, streams) =>
          prompts.input({ message: 'Code of the authenticator app', required: true }, streams),
        )
        return call(auth.login, { ...credentials, code: typed })
      },
    )
    if (answer.user.totpNeeded) tell(cli.terminal, 'A role of yours counts only with a second factor. Set one up with "feedbackctl totp begin".') // prettier-ignore
    const file = saveToken(config, server, answer.user.authToken)
    if (isMachineReadable(flags))
      return print(cli.terminal, flags, {
        body: answer,
        rows: [answer.user],
        columns: PERSON,
        id: (user) => user.userId,
        single: true,
      })
    await write(
      cli.terminal,
      `Signed in to ${server} as ${answer.user.email}.\nThe session lasts two days.\n  token  ${file}\n`,
    )
  })
}

async function gather(terminal: Terminal, flags: Flags, email: string | undefined, password: string | undefined) {
  if (email !== undefined && password !== undefined) return { email, password }
  if (!canPrompt(terminal, { input: flags.input !== false && !readsStdin(flags.password) }))
    throw inputMissing(terminal, [
      ...(email === undefined ? [{ field: 'email', rule: '--email <text>' }] : []),
      ...(password === undefined ? [{ field: 'password', rule: '--password-stdin       or --password-file' }] : []),
    ])
  return {
    email:
      email ??
      (await withPrompts(terminal, (prompts, streams) =>
        prompts.input({ message: 'E-mail address', required: true }, streams),
      )),
    password:
      password ??
      (await withPrompts(terminal, (prompts, streams) =>
        prompts.password({ message: 'Password', mask: false }, streams),
      )),
  }
}
