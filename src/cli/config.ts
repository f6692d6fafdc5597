import type { Command } from 'commander'
import { AppError } from '../core/errors.js'
import { keys } from '../core/settings.js'
import type { Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { print, type OutputFlags } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import type { Column } from './lib/output/table.js'
import { redacted } from './lib/settings/redacted.js'

interface Row {
  key: string
  value: string
  origin: string
}

export function register(group: Command, cli: Cli): void {
  explain(withFields(group.command('list'), ['key', 'value', 'origin']), { examples: ['config list --show-origin'] })
    .alias('ls')
    .description('List the settings and their values')
    .option('--show-origin', 'show where each value comes from')
    .action(async (_flags: unknown, command: Command) => {
      const flags = command.optsWithGlobals<OutputFlags & { showOrigin?: boolean }>()
      const config = await cli.config({ lenient: true })
      const rows: Row[] = keys
        .filter((key) => config.get(key) !== undefined)
        .map((key) => ({ key, value: redacted(config, key), origin: config.origin(key) }))
      if (config.contexts.size > 0)
        rows.push({ key: 'contexts', value: [...config.contexts.keys()].join(', '), origin: '' })
      if (config.ignored.length > 0) rows.push({ key: 'ignored', value: config.ignored.join(' '), origin: '' })
      const columns: Column<Row>[] = [
        { head: 'KEY', text: (row) => row.key, drop: 0 },
        { head: 'VALUE', text: (row) => row.value, drop: 0 },
        ...(flags.showOrigin ? [{ head: 'ORIGIN', text: (row: Row) => row.origin, drop: 0 }] : []),
      ]
      const body = Object.fromEntries(
        rows.map(({ key, value, origin }) => [key, flags.showOrigin ? { value, origin } : value]),
      )
      await print(cli.terminal, flags, { body, rows, columns, id: (row) => row.key, single: false })
      if (config.problems.length > 0)
        throw new AppError('CONFIG_INVALID', config.problems.map((each) => each.message).join(' '))
    })
}
