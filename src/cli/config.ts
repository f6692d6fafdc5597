import type { Command } from 'commander'
import { AppError } from '../core/errors.js'
import type { Config } from '../config.js'
import { keys } from '../core/settings.js'
import { registerChanges, settingNamed } from './configchanges.js'
import type { Cli } from './lib/connection/session.js'
import { setFixes } from './lib/errors/fixes.js'
import { setCompleted } from './lib/flags/completed.js'
import { explain } from './lib/flags/helptext.js'
import { isMachineReadable, print, type OutputFlags } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import type { Column } from './lib/output/table.js'
import { redacted } from './lib/settings/redacted.js'

interface Row {
  key: string
  value: string
  origin: string
}

const columns: Column<Row>[] = [
  { head: 'KEY', text: (row) => row.key, drop: 0 },
  { head: 'VALUE', text: (row) => row.value, drop: 0 },
  { head: 'ORIGIN', text: (row) => row.origin, drop: 0 },
]

export function register(group: Command, cli: Cli): void {
  registerList(group, cli)
  registerGet(group, cli)
  registerChanges(group, cli)
  registerValidate(group, cli)
}

function registerList(group: Command, cli: Cli): void {
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
      const body = Object.fromEntries(
        rows.map(({ key, value, origin }) => [key, flags.showOrigin ? { value, origin } : value]),
      )
      await print(cli.terminal, flags, {
        body,
        rows,
        columns: flags.showOrigin ? columns : columns.slice(0, 2),
        id: (row) => row.key,
        single: false,
      })
      assertValid(config)
    })
}

function registerGet(group: Command, cli: Cli): void {
  const command = group.command('get <key>').description('Print the value of a setting, without passwords')
  setFixes(command, { NOT_FOUND: ['config list'] })
  setCompleted(command.registeredArguments[0], { words: keys })
  explain(withFields(command, ['key', 'value', 'origin']), {
    examples: ['config get site.url', 'config get listen --fields origin'],
  }).action(async (name: string) => {
    const flags = command.optsWithGlobals<OutputFlags>()
    const key = settingNamed(name, cli.terminal)
    const config = await cli.config({ lenient: true })
    if (config.get(key) === undefined) throw new AppError('NOT_FOUND', `${key} is not set.`)
    const row: Row = { key, value: redacted(config, key), origin: config.origin(key) }
    const plain = isMachineReadable(flags) ? flags : { ...flags, output: flags.output ?? 'name' }
    await print(cli.terminal, plain, { body: row, rows: [row], columns, id: ({ value }) => value, single: true })
  })
}

function registerValidate(group: Command, cli: Cli): void {
  explain(withFields(group.command('validate'), ['file', 'valid']), {
    examples: ['config validate', 'config validate --config /etc/feedbackctl/config.toml'],
    notes: ['It exits with 2 if a file, a variable or a flag has a value that no command would accept.'],
  })
    .description('Check the configuration files and variables')
    .action(async (_flags: unknown, command: Command) => {
      const flags = command.optsWithGlobals<OutputFlags>()
      const config = await cli.config({ lenient: true })
      assertValid(config)
      const row = { file: config.file, valid: true }
      const shown: Column<typeof row>[] = [
        { head: 'FILE', text: ({ file }) => file, drop: 0, whole: true },
        { head: 'VALID', text: () => 'yes', drop: 0 },
      ]
      await print(cli.terminal, flags, { body: row, rows: [row], columns: shown, id: ({ file }) => file, single: true })
    })
}

/** Throws all problems that were found. */
function assertValid({ problems }: Config): void {
  const [first, ...others] = problems
  if (first === undefined) return
  const message = problems.map((each) => each.message).join(' ')
  throw new AppError('CONFIG_INVALID', message, { place: others.length === 0 ? first.place : undefined })
}
