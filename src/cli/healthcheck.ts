import type { Command } from 'commander'
import { listenAddress, type Config } from '../config.js'
import { urlOf } from '../core/addresses.js'
import { wholeOf } from '../core/durations.js'
import { AppError } from '../core/errors.js'
import { HttpFailure, openHttp, readBody } from '../core/http.js'
import { printable } from '../core/text.js'
import { API_ROOT } from '../core/wire.js'
import type { Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { print, type OutputFlags } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import type { Column } from './lib/output/table.js'

interface Row {
  url: string
  status: string
}

const columns: Column<Row>[] = [
  { head: 'ADDRESS', field: 'url', text: ({ url }) => url, drop: 0, whole: true },
  { head: 'STATUS', text: ({ status }) => status, drop: 0 },
]

/** Where to ask, and the status of a server that is well. */
const PROBES = { alive: { path: 'healthz', well: 'ok' }, ready: { path: 'readyz', well: 'ready' } }

/** An answer of ours is far shorter, a message of an error too. */
const MOST_BYTES = 10_000
const MOST_CHARACTERS = 200

export function register(command: Command, cli: Cli): void {
  explain(withFields(command, ['url', 'status']), {
    examples: ['healthcheck', 'healthcheck --ready --timeout 2s', 'healthcheck --server https://feedback.example.org'],
    notes: [
      'It exits with 0 if the server answers, and with 6 if it does not. Without --server it asks the server on this machine, at the address of the setting "listen".',
    ],
  })
    .option('--ready', 'fail too while the server cannot reach its database, is being restored, or is stopping')
    .option('--timeout <time>', 'how long to wait for the answer, from 1s to 5m', '5s')
    .action(async () => {
      const flags = command.optsWithGlobals<OutputFlags & { ready?: boolean; timeout: string }>()
      const timeout = millisecondsOf(flags.timeout)
      const { path, well } = PROBES[flags.ready ? 'ready' : 'alive']
      const at = addressOf(await cli.config())
      const asked =
        'socket' in at ? { ...at, url: new URL(`http://localhost/${path}`) } : { url: new URL(path, at.url) }
      const url = 'socket' in at ? `unix:${at.socket}` : asked.url.href
      const status = await statusAt(asked, { shown: url, timeout, well })
      const row = { url, status }
      await print(cli.terminal, flags, { body: row, rows: [row], columns, id: () => status, single: true })
    })
}

function millisecondsOf(text: string): number {
  const seconds = wholeOf(text, 's') ?? 0
  if (seconds >= 1 && seconds <= 300) return seconds * 1000
  throw new AppError('USAGE', `--timeout must be a time from 1s to 5m; ${JSON.stringify(text.slice(0, 100))} is not.`)
}

/** The address of the server, with a slash at its end, or its Unix socket. */
function addressOf(config: Config): { url: string } | { socket: string } {
  const server = config.get('server')
  if (server !== undefined) {
    const root = server.replace(/\/+$/, '')
    return { url: `${root.endsWith(API_ROOT) ? root.slice(0, -API_ROOT.length) : root}/` }
  }
  const at = listenAddress(config)
  if ('socket' in at) return at
  const { host, port } = at
  if (port === 0)
    throw new AppError(
      'USAGE',
      `listen has port 0, so the system chooses the port when serve starts. It comes from ${config.origin('listen')}. Name the server with --server URL.`,
    )
  // A server that listens on every address is asked on this machine
  const asked = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  return { url: `${urlOf(asked, port)}/` }
}

/** Throws SERVER_UNREACHABLE, with the cause in words, unless a server that is well answers in time. */
async function statusAt(
  { url, socket }: { url: URL; socket?: string },
  { shown, timeout, well }: { shown: string; timeout: number; well: string },
): Promise<string> {
  const end = performance.now() + timeout
  const fail = (reason: string, cause?: unknown) => new AppError('SERVER_UNREACHABLE', `${shown} ${reason}.`, { cause })
  const { code, answer } = await (async () => {
    const response = await openHttp(url, {
      headers: { 'user-agent': 'feedbackctl healthcheck' },
      socketPath: socket,
      timeout,
    })
    const body = await readBody(response, { timeout: end - performance.now(), maxBytes: MOST_BYTES, beyond: 'cut' })
    return { code: response.statusCode ?? 0, answer: parsed(body.toString()) }
  })().catch((error: unknown) => {
    throw fail(reasonOf(error, timeout), error)
  })
  if (code === 200 && answer.status === well) return well
  if (code === 200) throw fail('answers, but not as feedbackctl does')
  const said = typeof answer.message === 'string' ? answer.message.slice(0, MOST_CHARACTERS).replace(/\.$/, '') : ''
  throw fail(`answers with ${code}${said === '' ? '' : `: ${printable(said)}`}`)
}

function parsed(text: string): { status?: unknown; message?: unknown } {
  try {
    return (JSON.parse(text) ?? {}) as object
  } catch {
    return {}
  }
}

function reasonOf(error: unknown, timeout: number): string {
  if (error instanceof HttpFailure) return `does not answer within ${timeout / 1000} seconds`
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ECONNREFUSED') return 'cannot be reached: nothing listens there'
  return `cannot be reached: ${code === 'EACCES' ? 'this user may not connect to it' : message || code}`
}
