import closeWithGrace from 'close-with-grace'
import type { Command } from 'commander'
import type { Daemon, Log } from '../daemon.js'
import * as site from '../service/site.js'
import { assertHere, type Cli } from './session.js'
import { hasColor, type Terminal } from './terminal.js'

export function register(command: Command, cli: Cli): void {
  command
    .option('--migrate', 'bring a PostgreSQL schema up to date first')
    .addHelpText('before', `Examples:\n  $ feedbackctl serve\n  $ feedbackctl serve --listen 0.0.0.0:8000\n`)
    .action(async () => {
      const { migrate = false, color } = command.optsWithGlobals<{ migrate?: boolean; color?: boolean }>()
      const config = await cli.config()
      assertHere(config, 'serve')
      const seconds = Number.parseInt(config.get('shutdown.timeout') ?? '25', 10)
      const running: { daemon?: Daemon } = {}
      const stopped = untilStopped(seconds, async (reason) => {
        running.daemon?.log.info({ reason }, 'stopping')
        await running.daemon?.stop(seconds)
        await cli.close()
        running.daemon?.log.info('stopped')
      })
      const app = await cli.open({ migrating: migrate })
      const [{ listenAddress, localCall }, { startDaemon }] = await Promise.all([import('../app.js'), import('../daemon.js')])
      const daemon = (running.daemon = await startDaemon(app, listenAddress(config), await logTo(cli.terminal, config.get('log.level') ?? 'info', color)))
      const { is_setup } = await localCall(app)(site.status, {})
      if (!is_setup) daemon.log.warn('this site has no owner yet: run "feedbackctl setup" (or POST /api/v1/auth/setup)')
      if (!app.base.mail) daemon.log.warn('mail is not configured: set mail.url (feedbackctl help mail)')
      await stopped
    })
}

/** Seconds beyond the time that requests have, for the rest of the stop. */
const GRACE = 5

/** Watches from now on for SIGTERM, SIGINT or a crash, and then stops in good order; a second signal, or a stop that takes too long, ends it at once. */
export async function untilStopped(seconds: number, stop: (reason: string) => Promise<void>): Promise<never> {
  closeWithGrace({ delay: (seconds + GRACE) * 1000, logger: false, skip: ['beforeExit'] }, async ({ signal, err }) =>
    stop(err ? String(err.stack) : String(signal)),
  )
  return new Promise<never>(() => {})
}

/** Lines for people on a terminal, JSON lines otherwise; always on stderr. */
async function logTo(terminal: Terminal, level: string, color: boolean | undefined): Promise<Log> {
  if (!terminal.stderr.isTTY) return { level, stream: { write: together((lines) => void terminal.stderr.write(lines)) } }
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

/** Writes the lines of one turn of the event loop at once: each by itself takes as long as to answer what has been answered before. */
function together(write: (lines: string) => void): (line: string) => void {
  let lines = ''
  const flush = () => {
    if (lines !== '') write(lines)
    lines = ''
  }
  process.once('exit', flush)
  return (line) => {
    if (lines === '') setImmediate(flush)
    lines += line
  }
}
