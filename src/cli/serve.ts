import { setTimeout as sleep } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import type { Command } from 'commander'
import type { App } from '../app.js'
import type { Config } from '../config.js'
import { AppError } from '../core/errors.js'
import type { Daemon, Log } from '../serve.js'
import * as site from '../service/site.js'
import type { Workers } from '../process/workers.js'
import { settingOptions } from './lib/options.js'
import { assertLocal, type Cli } from './lib/session.js'
import { hasColor, type Terminal } from './lib/terminal.js'

export function register(command: Command, cli: Cli): void {
  for (const option of settingOptions('workers')) command.addOption(option)
  command
    .option('--migrate', 'update a PostgreSQL schema first')
    .addHelpText(
      'before',
      `Examples:\n  $ feedbackctl serve\n  $ feedbackctl serve --listen 0.0.0.0:8000 --workers 4\n`,
    )
    .action(async () => {
      const {
        migrate = false,
        color,
        workers,
      } = command.optsWithGlobals<{ migrate?: boolean; color?: boolean; workers?: string }>()
      const config = await cli.config({ flags: { workers } })
      assertLocal(config, 'serve')
      const [{ environmentOf }, { disconnectWorker, workerNumber }] = await Promise.all([
        import('../config.js'),
        import('../process/workers.js'),
      ])
      const worker = workerNumber(cli.terminal.env)
      // Child processes must not inherit secrets.
      if (worker !== undefined) for (const name of Object.keys(environmentOf(config))) delete cli.terminal.env[name]
      const count = Number(config.get('workers'))
      const single = worker === undefined && count === 1
      const options = {
        config,
        migrate,
        log: await openLog(cli.terminal, { level: config.get('log.level') ?? 'info', color, single }),
      }
      if (worker === undefined && count > 1) await runPrimary(cli, { ...options, count, color })
      else await runServer(cli, { ...options, worker }).finally(disconnectWorker)
    })
}

interface ServeOptions {
  config: Config
  log: Log
  migrate: boolean
}

/** Serves in this process, alone or as one of several workers. */
async function runServer(
  cli: Cli,
  { config, log, migrate, worker }: ServeOptions & { worker: number | undefined },
): Promise<void> {
  const seconds = shutdownTimeout(config)
  const running: { daemon?: Daemon } = {}
  const stopped = untilStopped(
    seconds,
    async (reason) => {
      running.daemon?.log.info({ reason }, 'stopping')
      await running.daemon?.stop(seconds)
      await cli.close()
      running.daemon?.log.info('stopped')
    },
    { isWorker: worker !== undefined },
  )
  const [{ listenAddress }, { startDaemon }] = await Promise.all([import('../config.js'), import('../serve.js')])
  const daemon = (running.daemon = await onceThere(log, async () =>
    startDaemon(await cli.open({ migrating: migrate, serving: true }), listenAddress(config), log),
  ))
  if (worker === undefined) await onceThere(log, async () => warnIfIncomplete(await cli.open(), daemon.log))
  await stopped
}

/** Starts several worker processes and restarts those that exit. */
async function runPrimary(
  cli: Cli,
  { config, log, migrate, count, color }: ServeOptions & { count: number; color: boolean | undefined },
): Promise<void> {
  const [{ default: pino }, { startWorkers }, { environmentOf }] = await Promise.all([
    import('pino'),
    import('../process/workers.js'),
    import('../config.js'),
  ])
  const logger = pino({ level: log.level }, log.stream)
  const seconds = shutdownTimeout(config) + SHUTDOWN_GRACE
  const running: { workers?: Workers } = {}
  const stopped = untilStopped(seconds, async (reason) => {
    logger.info({ reason }, 'stopping')
    const graceful = (await running.workers?.stop(seconds)) ?? true
    logger.info(graceful ? 'stopped' : 'stopped; some workers had to be killed')
    if (!graceful) throw new Error('Some workers had to be killed.') // makes the exit code 1
  })
  await onceThere(log, async () => warnIfIncomplete(await cli.open({ migrating: migrate, serving: true }), logger))
  await cli.close()
  const env = { ...environmentOf(config), ...(color === false && { NO_COLOR: '1' }) }
  const started = await startWorkers({
    count,
    env,
    onRestart: (exited) => logger.warn(exited, 'a worker exited and is restarted'),
  })
  if (typeof started === 'number') return void (process.exitCode = started) // the worker has printed why
  running.workers = started
  await stopped
}

/** Milliseconds between attempts to reach the database. */
const RETRY_DELAY_MS = 1000

/**
 * Waits for a database that cannot be reached: at the start of a machine the server may come before PostgreSQL. What it
 * refuses, such as a wrong password, stops the start as a mistake in the configuration.
 */
async function onceThere<T>(log: Log, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'DATABASE_UNREACHABLE') throw error
      if (error.reason === 'database-refuses') throw new AppError('CONFIG_INVALID', error.message, { cause: error })
      if (attempt === 1) {
        const { default: pino } = await import('pino')
        pino({ level: log.level }, log.stream).warn(`waiting for the database: ${error.message}`)
      }
    }
    await sleep(RETRY_DELAY_MS)
  }
}

const shutdownTimeout = (config: Config): number => Number.parseInt(config.get('shutdown.timeout') ?? '25', 10)

async function warnIfIncomplete(
  app: App,
  log: { warn(this: void, message: string): void } | Daemon['log'],
): Promise<void> {
  const { localCall } = await import('../app.js')
  const { is_setup } = await localCall(app)(site.status, {})
  if (!is_setup) log.warn('this site has no owner yet: run "feedbackctl setup" (or POST /api/v1/auth/setup)')
  if (!app.base.mail) log.warn('mail is not configured: set mail.url (feedbackctl help mail)')
}

/** Seconds that the rest of a shutdown may take after the time for open requests. */
const SHUTDOWN_GRACE = 5

/**
 * Runs `stop` on SIGTERM, SIGINT or a crash. A second signal, or a shutdown that takes too long, ends the process at
 * once. A worker ignores the signals that a terminal sends to all processes: its primary tells it to stop.
 */
export async function untilStopped(
  seconds: number,
  stop: (reason: string) => Promise<void>,
  { isWorker = false } = {},
): Promise<never> {
  const ignored = isWorker ? (['SIGINT', 'SIGHUP', 'SIGQUIT'] as const) : []
  for (const signal of ignored) process.on(signal, () => {})
  closeWithGrace(
    { delay: (seconds + SHUTDOWN_GRACE) * 1000, logger: false, skip: ['beforeExit', ...ignored] },
    async ({ signal, err }) => stop(err ? String(err.stack) : String(signal)),
  )
  return new Promise<never>(() => {})
}

/** Opens the log on stderr: readable lines on a terminal, JSON lines otherwise. */
async function openLog(
  terminal: Terminal,
  { level, color, single }: { level: string; color: boolean | undefined; single: boolean },
): Promise<Log> {
  if (!terminal.stderr.isTTY) {
    const write = batchWrites((lines) => void terminal.stderr.write(lines), single ? BATCH_LENGTH : WORKER_BATCH_LENGTH)
    return { level, stream: { write } }
  }
  const { default: pretty } = await import('pino-pretty')
  return {
    level,
    stream: pretty({
      destination: terminal.stderr,
      colorize: hasColor(terminal, terminal.stderr, { color }),
      ignore: 'pid,hostname',
      translateTime: 'SYS:HH:MM:ss',
    }),
  }
}

const BATCH_LENGTH = 64_000
/** Below PIPE_BUF (4096 on Linux), so that writes to a pipe are atomic and lines of several processes do not mix. */
const WORKER_BATCH_LENGTH = 4000

/** Writes all lines of one turn of the event loop at once. A write per line takes as long as a cached response. */
function batchWrites(write: (lines: string) => void, maxLength: number): (line: string) => void {
  let lines = ''
  const flush = () => {
    if (lines !== '') write(lines)
    lines = ''
  }
  process.once('exit', flush)
  return (line) => {
    if (lines === '') setImmediate(flush)
    else if (lines.length + line.length > maxLength) {
      write(lines)
      lines = ''
    }
    lines += line
  }
}
