import type { Command } from 'commander'
import { printable } from '../core/text.js'
import * as profile from '../service/profile.js'
import { withAs } from './lib/command/declaration.js'
import type { Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { print, type OutputFlags } from './lib/output/output.js'
import { PERSON } from './lib/output/person.js'
import { withFields } from './lib/output/rowfields.js'
import { tell } from './lib/terminal/terminal.js'

type Own = Awaited<ReturnType<typeof profile.profile.run>>

const rows = ({ user }: Own): readonly Own['user'][] => [user]
const fields = async () =>
  (await import('./lib/output/choice.js')).fieldsOfRows(profile.profile.output, { rows, columns: PERSON })

export function register(command: Command, cli: Cli): void {
  explain(withFields(withAs(command), fields), {
    examples: ['whoami', 'whoami --server https://feedback.example.org'],
  }).action(async () => {
    const flags = command.optsWithGlobals<OutputFlags & { as?: string }>()
    const { as } = flags
    const server = (await cli.config()).get('server')
    const call = await cli.connect({ as })
    const answer = await call(profile.profile, {})
    await print(cli.terminal, flags, {
      body: answer,
      rows: rows(answer),
      columns: PERSON,
      id: (user) => user.userId,
      single: true,
    })
    tell(
      cli.terminal,
      server !== undefined
        ? `You are signed in to ${server}.`
        : as === undefined
          ? 'You are the operator of this database, with all permissions. You act as this account, unless --as names another.'
          : `Commands with --as ${printable(as)} act as this account.`,
    )
  })
}
