import { hostname } from 'node:os'
import type { Command } from 'commander'
import type { Config } from '../config.js'
import { databaseFile, redactedUrl } from '../core/addresses.js'
import { AppError } from '../core/errors.js'
import { isOlder } from '../core/versions.js'
import { neighbours, type Neighbour } from '../process/neighbours.js'
import type { Call } from '../service/lib/operation.js'
import * as site from '../service/site.js'
import type { Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { formatOf, print, type OutputFlags } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import type { Column } from './lib/output/table.js'
import { say, tell } from './lib/terminal/terminal.js'
import { ago } from './lib/texts/age.js'
import { version } from './version.js'

type Overview = Awaited<ReturnType<typeof site.overview.run>>
type Facts = ReturnType<typeof factsOf>

/** Server details in camelCase, like all JSON that is not an HTTP body. Whether mail was tested is for the dashboard. */
const factsOf = ({ is_setup: isSetup, mail_waiting: mailWaiting, mail_tested: _tested, ...facts }: Overview) => ({
  ...facts,
  isSetup,
  mailWaiting,
})

/** Unknown values are null: of a server without the owner's token, or of a database with an older schema. */
interface Status extends Nullable<Facts> {
  /** The file, database or server. */
  data: string
  /** The flag, variable or file that names it, or `default`. */
  origin: string
  /** How the schema compares with what this program needs; null of a server. */
  schemaState: 'current' | 'outdated' | 'newer' | null
}

type Nullable<T> = { [Key in keyof T]: T[Key] | null }

const SCHEMA_STATES = {
  current: '',
  outdated: ', older than this program',
  newer: ', newer than this program',
} as const

const number = (value: number | null): string => (value === null ? '' : String(value))

const processOf = ({ version, workers, host, pid }: site.Server): string =>
  `version ${version}, ${workers > 1 ? `${workers} workers, ` : ''}pid ${pid} on ${host}`

const columns: Column<Status>[] = [
  { head: 'SITE', text: ({ title, isSetup }) => (isSetup === false ? 'not set up' : (title ?? '')), drop: 0 },
  { head: 'DATA', text: ({ data, origin }) => (origin === 'default' ? data : `${data} (from ${origin})`), drop: 0 },
  {
    head: 'SERVED BY',
    text: ({ servers }) =>
      (servers ?? []).map((each) => `${each.url}, since ${each.startedAt}, ${processOf(each)}`).join('\n'),
    shown: ({ servers }, _paint, now) =>
      (servers ?? [])
        .map((each) => `${each.url}, started ${ago(each.startedAt, now)}\n${processOf(each)}`)
        .join('\n') || 'nobody',
    drop: 0,
  },
  {
    head: 'SCHEMA',
    text: ({ schema, schemaState: state }) => (schema ?? '') + (state ? SCHEMA_STATES[state] : ''),
    drop: 0,
  },
  { head: 'USERS', text: ({ people }) => number(people), drop: 0 },
  { head: 'BOARDS', text: ({ boards }) => number(boards), drop: 0 },
  { head: 'POSTS', text: ({ posts }) => number(posts), drop: 0 },
  { head: 'MAIL WAITING', text: ({ mailWaiting }) => number(mailWaiting), drop: 0 },
  {
    head: 'BACKED UP',
    field: 'backups',
    text: ({ backups }) => backups?.madeAt ?? '',
    shown: ({ backups }, _paint, now) => (backups?.madeAt ? `by serve, ${ago(backups.madeAt, now)}` : ''),
    drop: 0,
  },
  {
    head: 'FAILED',
    text: ({ backups }) => (backups?.failedAt ? `${backups.failedAt} ${backups.error}` : ''),
    shown: ({ backups }, _paint, now) =>
      backups?.failedAt ? `the backup, ${ago(backups.failedAt, now)}: ${backups.error}` : '',
    drop: 0,
  },
]

export function register(command: Command, cli: Cli): void {
  explain(withFields(command, [...Object.keys(UNKNOWN), 'data', 'origin']), {
    examples: ['status', 'status --server https://feedback.example.org --json'],
  }).action(async () => {
    const flags = command.optsWithGlobals<OutputFlags>()
    const config = await cli.config()
    const remote = config.get('server')
    const { status, note } = remote === undefined ? await ofDatabase(cli, config) : await ofServer(cli, config, remote)
    await print(cli.terminal, flags, {
      body: status,
      rows: [status],
      columns: formatOf(cli.terminal, flags) === 'table' ? columns.filter((each) => isKnown(each, status)) : columns,
      id: ({ data }) => data,
      single: true,
    })
    if (note !== undefined) tell(cli.terminal, note)
  })
}

/** Programs get every column. For people, a site without a server gets a line. */
const isKnown = (column: Column<Status>, status: Status): boolean =>
  column.text(status) !== '' || (column.head === 'SERVED BY' && status.servers !== null)

const UNKNOWN = {
  title: null,
  isSetup: null,
  servers: null,
  schema: null,
  schemaState: null,
  people: null,
  boards: null,
  posts: null,
  mailWaiting: null,
  backups: null,
} as const

interface StatusReport {
  status: Status
  note?: string | undefined
}

/** Looks at the schema first, as opening the site would update it. */
async function ofDatabase(cli: Cli, config: Config): Promise<StatusReport> {
  const { schemaOf } = await import('../app/schema.js')
  const url = config.get('database.url') ?? ''
  const file = databaseFile(url)
  const there = neighbours(file)
  const { schema, state } = await schemaOf(config).catch((error: unknown) => {
    warnOf(cli, there)
    throw error
  })
  const data = redactedUrl(file ?? url)
  const origin = config.origin('database.url') === 'default' ? config.origin('data.dir') : config.origin('database.url')
  const base = { ...UNKNOWN, data, origin, schema: schema ?? null, schemaState: state }
  if (state !== 'current') {
    warnOf(
      cli,
      there.filter(({ isSame }) => isSame === false),
    )
    return { status: base, note: state === 'outdated' ? outdatedNote(file) : undefined }
  }
  const overview = await (await cli.connect())(site.overview, {})
  const servers = overview.servers.filter(isRunning)
  const isOurs = ({ pid, isSame }: Neighbour) =>
    isSame ?? servers.some((server) => server.host === hostname() && server.pid === pid)
  // Users with a site here do not need to know about the others
  if (!overview.is_setup) warnOf(cli, there.filter((neighbour) => !isOurs(neighbour) && !isListed(neighbour, servers))) // prettier-ignore
  return { status: { ...base, ...factsOf(overview), servers }, note: nextStep(overview, servers) }
}

/** With PostgreSQL a server has no file of the site open. */
const isListed = ({ pid, database }: Neighbour, servers: readonly site.Server[]): boolean =>
  database === undefined && servers.some((server) => server.host === hostname() && server.pid === pid)

const outdatedNote = (file: string | undefined): string =>
  file === undefined
    ? 'Make a backup, then run "feedbackctl migrate".'
    : 'The next command that opens the site updates the schema. Make a backup first.'

function nextStep({ is_setup: isSetUp }: Pick<Overview, 'is_setup'>, servers: readonly site.Server[]) {
  if (!isSetUp) return 'Run "feedbackctl setup" to create the owner account.'
  if (servers.length === 0) return 'Run "feedbackctl serve" to serve the site.'
  const old = servers.find((server) => isOlder(server.version, version))
  return (
    old && `The server with pid ${old.pid} on ${old.host} runs version ${old.version}: restart it to run ${version}.`
  )
}

/** A server that was killed is in the database for some minutes more. Only its own machine can tell. */
function isRunning({ host, pid }: site.Server): boolean {
  if (host !== hostname()) return true
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM' // of another user
  }
}

/** Other servers that are listed, the most recently started first. */
const MOST_SHOWN = 4

/** Servers on this machine that serve something else: the usual reason why a command shows too little. */
function warnOf({ terminal }: Cli, others: readonly Neighbour[]): void {
  if (others.length === 0) return
  tell(terminal, 'Warning: this machine also serves other sites.')
  const newest = others.toSorted((one, other) => other.pid - one.pid).slice(0, MOST_SHOWN)
  for (const { pid, database } of newest) say(terminal, `  pid ${pid}${database === undefined ? '' : `  ${database}`}`)
  if (others.length > MOST_SHOWN) say(terminal, `  … ${others.length - MOST_SHOWN} more`)
  if (others.some(({ database }) => database !== undefined))
    tell(terminal, 'Add --data-dir with the folder of a database to run commands on that.')
}

/** A visitor sees only that there is a site. */
async function ofServer(cli: Cli, config: Config, server: string): Promise<StatusReport> {
  const call: Call = await cli.connect()
  const place = { data: server, origin: config.origin('server') }
  const base = { ...UNKNOWN, ...place }
  const { is_setup: isSetup } = await call(site.status, {})
  try {
    return { status: { ...base, ...factsOf(await call(site.overview, {})), ...place } }
  } catch (error) {
    if (!(error instanceof AppError) || error.exit !== 4) throw error
    return {
      status: { ...base, isSetup },
      note: `${error.message} Only the owner sees more.`,
    }
  }
}
