import type { Command } from 'commander'
import type { Config } from '../config.js'
import { AppError } from '../core/errors.js'
import { guess } from '../core/guesses.js'
import { quoted } from '../core/text.js'
import { savedToken } from './lib/connection/credentials.js'
import { placeIn } from './lib/connection/protection.js'
import { setFixes } from './lib/errors/fixes.js'
import { setCompleted } from './lib/flags/completed.js'
import type { Column } from './lib/output/table.js'
import { redacted } from './lib/settings/redacted.js'

/** A context as commands print it. */
export interface Row {
  name: string
  /** Whether commands use it where nothing else says which site is meant. */
  current: boolean
  server: string | null
  dataDir: string | null
  protected: boolean
  /** Whether a token for its server is saved. A data folder needs none. */
  signedIn: boolean
  file: string
}

export const FIELDS = ['name', 'current', 'server', 'dataDir', 'protected', 'signedIn', 'file']

const yes = (value: boolean): string => (value ? 'yes' : '')

export const columns: Column<Row>[] = [
  { head: 'NAME', field: 'name', text: (row) => row.name, drop: 0 },
  { head: 'CURRENT', field: 'current', text: (row) => yes(row.current), drop: 0 },
  { head: 'SITE', text: (row) => row.server ?? row.dataDir ?? '', drop: 0, whole: true },
  { head: 'PROTECTED', field: 'protected', text: (row) => yes(row.protected), drop: 1 },
  { head: 'SIGNED IN', field: 'signedIn', text: (row) => (row.server === null ? '' : row.signedIn ? 'yes' : 'no'), drop: 2 }, // prettier-ignore
  { head: 'FILE', field: 'file', text: (row) => row.file, drop: 3 },
]

export const one = (row: Row) => ({ body: row, rows: [row], columns, id: ({ name }: Row) => name, single: true })

export function rowOf(config: Config, name: string): Row {
  const context = config.contexts.get(name)
  if (!context) throw unknown(config, name)
  const { settings, isProtected, file } = context
  const place = placeIn(settings)
  const server = place?.key === 'server' ? place.value : null
  return {
    name,
    current: config.get('context') === name,
    server,
    dataDir: place && server === null ? redacted({ get: () => place.value }, place.key) : null,
    protected: isProtected,
    signedIn: server !== null && (settings.has('token') || savedToken(config, server) !== undefined),
    file,
  }
}

function unknown({ contexts }: Config, name: string): AppError {
  const names = [...contexts.keys()]
  return new AppError('NOT_FOUND', names.length === 0 ? 'There is no context yet.' : `There is no context ${quoted(name)}.${guess(name, names)} There are: ${names.join(', ')}.`) // prettier-ignore
}

/** A command whose argument is the name of a context. */
export function naming(command: Command): Command {
  setCompleted(command.registeredArguments[0], { context: true })
  setFixes(command, { NOT_FOUND: ['context list'] })
  return command
}
