import type { Command } from 'commander'
import type { Config } from '../config.js'
import { AppError } from '../core/errors.js'
import { quoted } from '../core/text.js'
import { registerChanges } from './contextchanges.js'
import { columns, FIELDS, naming, one, rowOf } from './contextrows.js'
import type { Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { print, type OutputFlags } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import { tell } from './lib/terminal/terminal.js'
import { readable } from './lib/connection/ownfile.js'

export function register(group: Command, cli: Cli): void {
  registerList(group, cli)
  registerShow(group, cli)
  registerChanges(group, cli)
}

function registerList(group: Command, cli: Cli): void {
  explain(withFields(group.command('list'), FIELDS), {
    examples: ['context list', 'context list --json'],
    notes: ['A context is the table [contexts.NAME] of a configuration file. CURRENT is the one that commands use.'],
  })
    .alias('ls')
    .description('List the sites that have a name')
    .action(async (_flags: unknown, command: Command) => {
      const config = await readable(cli)
      const rows = [...config.contexts.keys()].map((name) => rowOf(config, name))
      await print(cli.terminal, command.optsWithGlobals<OutputFlags>(), {
        body: { contexts: rows },
        rows,
        columns,
        id: ({ name }) => name,
        single: false,
      })
      if (rows.length === 0) tell(cli.terminal, 'No site has a name. To add one: feedbackctl context add NAME --server URL') // prettier-ignore
      tellLost(cli, config)
    })
}

/** Where the current context was removed by hand, every other command fails. */
function tellLost({ terminal }: Cli, config: Config): void {
  const current = config.get('context')
  if (current !== undefined && !config.contexts.has(current))
    tell(terminal, `The current context ${quoted(current)}, from ${config.origin('context')}, does not exist. Choose another with "feedbackctl context use NAME", or none with "feedbackctl context use --none".`) // prettier-ignore
}

function registerShow(group: Command, cli: Cli): void {
  const command = naming(group.command('show [name]').description('Show a context, or the current one'))
  explain(withFields(command, FIELDS), { examples: ['context show', 'context show prod --fields server'] }).action(
    async (given: string | undefined) => {
      const config = await readable(cli)
      const name = given ?? config.get('context')
      if (name === undefined) throw new AppError('NOT_FOUND', 'There is no current context. Commands use the site of the other settings.') // prettier-ignore
      await print(cli.terminal, command.optsWithGlobals<OutputFlags>(), one(rowOf(config, name)))
    },
  )
}
