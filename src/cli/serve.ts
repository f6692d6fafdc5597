import closeWithGrace from 'close-with-grace'
import type { Command } from 'commander'
import type { App } from '../app.js'
import type { Config } from '../config.js'
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
      const [{ environmentOf }, { leaveCrew, workerNumber }] = await Promise.all([
        import('../config.js'),
        import('../process/workers.js'),
      ])
      const worker = workerNumber(cli.terminal.env)
      if (worker !== undefined) for (const name of Object.keys(environmentOf(config))) delete cli.terminal.env[name] // or a program that it starts would see secrets
      const count = Number(config.get('workers'))
      const alone = worker === undefined && count === 1
      const serving = {
        config,
        migrate,
        log: await logTo(cli.terminal, { level: config.get('log.level') ?? 'info', color, alone }),
      }
      if (worker === undefined && count > 1) await lead(cli, { ...serving, count, color })
      else await work(cli, { ...serving, worker }).finally(leaveCrew)
    })
}

interface Serving {
  config: Config
  log: Log
  migrate: boolean
}

/** Serves in this process, alone or as one of several. */
async function work(
  cli: Cli,
  { config, log, migrate, worker }: Serving & { worker: number | undefined },
): Promise<void> {
  const seconds = secondsOf(config)
  const running: { daemon?: Daemon } = {}
  const stopped = untilStopped(
    seconds,
    async (reason) => {
      running.daemon?.log.info({ reason }, 'stopping')
      await running.daemon?.stop(seconds)
      await cli.close()
      running.daemon?.log.info('stopped')
    },
    { led: worker !== undefined },
  )
  const app = await cli.open({ migrating: migrate })
  const [{ listenAddress }, { startDaemon }] = await Promise.all([import('../app.js'), import('../serve.js')])
  const daemon = (running.daemon = await startDaemon(app, listenAddress(config), log))
  if (worker === undefined) await warn(app, daemon.log)
  await stopped
}

/** Has the work done by several processes. */
async function lead(
  cli: Cli,
  { config, log, migrate, count, color }: Serving & { count: number; color: boolean | undefined },
): Promise<void> {
  const [{ default: pino }, { startWorkers }, { environmentOf }] = await Promise.all([
    import('pino'),
    import('../process/workers.js'),
    import('../config.js'),
  ])
  const logger = pino({ level: log.level }, log.stream)
  const seconds = secondsOf(config) + GRACE
  const running: { workers?: Workers } = {}
  const stopped = untilStopped(seconds, async (reason) => {
    logger.info({ reason }, 'stopping')
    const inOrder = (await running.workers?.stop(seconds)) ?? true
    logger.info(inOrder ? 'stopped' : 'stopped; some worker had to be killed')
    if (!inOrder) throw new Error('Some worker had to be killed.') // so it ends with 1
  })
  await warn(await cli.open({ migrating: migrate }), logger)
  await cli.close()
  const env = { ...environmentOf(config), ...(color === false && { NO_COLOR: '1' }) }
  const started = await startWorkers({
    count,
    env,
    replacing: (ended) => logger.warn(ended, 'a worker ended, and is replaced'),
  })
  if (typeof started === 'number') return void (process.exitCode = started) // it has said why
  running.workers = started
  await stopped
}

const secondsOf = (config: Config): number => Number.parseInt(config.get('shutdown.timeout') ?? '25', 10)

async function warn(app: App, log: { warn(this: void, message: string): void } | Daemon['log']): Promise<void> {
  const { localCall } = await import('../app.js')
  const { is_setup } = await localCall(app)(site.status, {})
  if (!is_setup) log.warn('this site has no owner yet: run "feedbackctl setup" (or POST /api/v1/auth/setup)')
  if (!app.base.mail) log.warn('mail is not configured: set mail.url (feedbackctl help mail)')
}

/** Seconds beyond the time that requests have, for the rest of the stop. */
const GRACE = 5

/**
 * Watches from now on for SIGTERM, SIGINT or a crash, and then stops in good order; a second signal, or a stop that takes too long, ends
 * it at once. One that is led leaves to its leader what a terminal sends to both.
 */
export async function untilStopped(
  seconds: number,
  stop: (reason: string) => Promise<void>,
  { led = false } = {},
): Promise<never> {
  const left = led ? (['SIGINT', 'SIGHUP', 'SIGQUIT'] as const) : []
  for (const signal of left) process.on(signal, () => {})
  closeWithGrace(
    { delay: (seconds + GRACE) * 1000, logger: false, skip: ['beforeExit', ...left] },
    async ({ signal, err }) => stop(err ? String(err.stack) : String(signal)),
  )
  return new Promise<never>(() => {})
}

/** Lines for people on a terminal, JSON lines otherwise; always on stderr. */
async function logTo(
  terminal: Terminal,
  { level, color, alone }: { level: string; color: boolean | undefined; alone: boolean },
): Promise<Log> {
  if (!terminal.stderr.isTTY)
    return {
      level,
      stream: { write: together((lines) => void terminal.stderr.write(lines), alone ? ALONE : WITH_OTHERS) },
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

/** Most of what one of several processes writes at once: no more than a pipe takes whole, so that their lines do not mix. */
const WITH_OTHERS = 4000
const ALONE = 64_000

/** Writes the lines of one turn of the event loop together: each by itself takes as long as to answer what has been answered before. */
function together(write: (lines: string) => void, most: number): (line: string) => void {
  let lines = ''
  const flush = () => {
    if (lines !== '') write(lines)
    lines = ''
  }
  process.once('exit', flush)
  return (line) => {
    if (lines === '') setImmediate(flush)
    else if (lines.length + line.length > most) {
      write(lines)
      lines = ''
    }
    lines += line
  }
}
