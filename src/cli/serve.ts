import type { Command } from 'commander'
import type { Logger } from 'pino'
import type { App } from '../app/open.js'
import type { Config } from '../config.js'
import { rateOf } from '../core/limits.js'
import { secondsOf } from '../core/durations.js'
import { keys, settings, variableOf, type Key } from '../core/settings.js'
import { removeAtExit, type SocketFile } from '../core/socketfile.js'
import type { Meter } from '../metrics/meter.js'
import type { Exited, Workers } from '../process/workers.js'
import type { Daemon, Log, Standby } from '../serve.js'
import { assertLocal, type Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { settingOptions } from './lib/flags/options.js'
import { warnAbout } from './lib/server/firstowner.js'
import { socketsOfWorker, takeSockets, warnOfSockets } from './lib/server/inherited.js'
import { pagesOf, scheduleOf } from './lib/server/listening.js'
import { meterOf, showMetrics, showMetricsOfWorkers } from './lib/server/metrics.js'
import { loggerOf, logEnding, openLog } from './lib/server/serverlog.js'
import { SHUTDOWN_GRACE, untilStopped } from './lib/server/shutdown.js'
import { anyAlive, serviceManager, type ServiceManager } from './lib/server/servicemanager.js'
import { reloadOnHangup, useReloaded, type Reloaded } from './lib/server/reload.js'
import { onceThere } from './lib/server/starting.js'
import { watchUpgrades } from './lib/server/upgrades.js'
import type { ColorFlag } from './lib/terminal/terminal.js'
import { openSite } from './serveopening.js'
import { installedVersion, version } from './version.js'

export function register(command: Command, cli: Cli): void {
  const own = keys.filter((key) => settings[key].command === 'serve').flatMap(settingOptions)
  for (const option of own) command.addOption(option)
  explain(command, { local: true, examples: ['serve', 'serve --listen 0.0.0.0:8000 --workers 4'] })
    .option('--migrate', 'update a PostgreSQL schema first')
    .action(async () => {
      const {
        migrate = false,
        color,
        ...flags
      } = command.optsWithGlobals<{ migrate?: boolean; [flag: string]: unknown } & ColorFlag>()
      const given = own.map((option) => [option.name(), flags[option.attributeName()] as string | undefined] as const)
      const config = await cli.config({ flags: Object.fromEntries(given) })
      assertLocal(config, 'serve')
      const [{ environmentOf }, { answerPrimary, disconnectWorker, workerNumber }] = await Promise.all([
        import('../config.js'),
        import('../process/workers.js'),
      ])
      const worker = workerNumber(cli.terminal.env)
      // Child processes must not inherit secrets.
      if (worker !== undefined) for (const name of Object.keys(environmentOf(config))) delete cli.terminal.env[name]
      const sockets = takeSockets(cli.terminal.env, { isWorker: worker !== undefined })
      const count = Number(config.get('workers'))
      const single = worker === undefined && count === 1
      const options = {
        config,
        migrate,
        sockets,
        log: await openLog(cli.terminal, { level: config.get('log.level') ?? 'info', color, single }),
      }
      const logger = await loggerOf(options.log)
      const hup = { config, log: logger, load: () => cli.reload({ flags: Object.fromEntries(given) }) }
      const manager = serviceManager(cli.terminal.env, logger, { isWorker: worker !== undefined })
      const shownBy = { config, log: logger, version }
      if (worker === undefined && count > 1) {
        const running: Running = {}
        const shown = await showMetricsOfWorkers(shownBy, (ms) => running.workers?.ask('measured', ms))
        return runPrimary(cli, { ...options, logger, hup, manager, count, color, running }).finally(() =>
          shown?.close(),
        )
      }
      const meter = await meterOf(config)
      const site: Running = {}
      if (worker !== undefined) answerPrimary({ measured: meter?.read, alive: () => isAlive(site) })
      const shown = worker === undefined ? await showMetrics(shownBy, meter) : undefined
      await runServer(cli, { ...options, logger, hup, manager, worker, meter, running: site }).finally(() => {
        shown?.close()
        disconnectWorker()
      })
    })
}

interface ServeOptions {
  config: Config
  log: Log
  migrate: boolean
  logger: Logger
  /** What `reloadOnHangup` needs. */
  hup: Omit<Parameters<typeof reloadOnHangup>[0], 'use'>
  /** Descriptors that it inherits, in place of binding `listen`. */
  sockets: readonly number[]
  manager: ServiceManager
  running: Running
}

interface Running {
  isEnding?: boolean
  /** Of a primary. */
  workers?: Workers
  /** Removes the Unix socket, which a worker has named. */
  removeSocket?: () => void
  /** Of the process that serves. */
  stop?: Daemon['stop']
  log?: Daemon['log']
  /** Of its open database: absent while it stands aside for a restore. */
  ping?: App['ping'] | undefined
}

/** Whether the database answers. During a restore the server counts as alive. */
const isAlive = async ({ ping }: Running): Promise<boolean> => {
  await ping?.()
  return true
}

/** Serves in this process, alone or as one of several workers. */
async function runServer(
  cli: Cli,
  {
    config,
    log,
    migrate,
    logger,
    hup,
    sockets,
    manager,
    running,
    worker,
    meter,
  }: ServeOptions & { worker: number | undefined; meter: Meter | undefined },
): Promise<void> {
  const seconds = shutdownTimeout(config)
  const stopped = untilStopped(
    seconds,
    async () => {
      running.isEnding = true
      const told = manager.stopping()
      await running.stop?.(seconds)
      await cli.close()
      await told
      logger.info('stopped')
    },
    { isWorker: worker !== undefined, log: (ending) => logEnding(logger, ending) },
  )
  const [
    { listenAddress, ratesOf },
    { keepProgramFiles, startDaemon },
    { siteExports },
    { siteImports },
    { familyOf, hearPrimary, tellListening, tellNamed },
  ] = await Promise.all([
    import('../config.js'),
    import('../serve.js'),
    import('./lib/server/siteexports.js'),
    import('./lib/server/siteimports.js'),
    import('../process/workers.js'),
  ])
  const listening = {
    at: listenAddress(config),
    socketMode: Number.parseInt(config.get('socket.mode') ?? '600', 8),
    shared: familyOf(cli.terminal.env),
    handOver: tellNamed(worker),
    sockets,
    trustProxy: config.get('trust-proxy'),
    corsOrigins: config.get('cors.origins'),
    pages: pagesOf(config),
    rates: ratesOf(config),
    schedule: await scheduleOf(config, version),
    mailRate: rateOf(config.get('mail.rate') ?? 'off') ?? null,
    backupWork: (await import('../backup/work.js')).backupWork(config, cli.terminal.env),
    version,
    worker,
    traffic: meter?.traffic,
  }
  const use = (reloaded: Reloaded) =>
    useReloaded(reloaded, { logs: [log, logger, running.log], current: listening.rates })
  if (worker === undefined) reloadOnHangup({ ...hup, use })
  else hearPrimary((reloaded) => use(reloaded as Reloaded)) // the primary loads them
  let listener: Daemon['listener'] | undefined
  let standby: Standby | undefined
  for (let round = 1; !running.isEnding; round++) {
    const app = await onceThere(
      logger,
      () => openSite(cli, { config, logger, migrate, meter, isFirst: worker === undefined && round === 1 }),
      () => manager.waits(WAITS),
    )
    const daemon = await onceThere(logger, () =>
      startDaemon(
        app,
        { ...listening, listener, exports: siteExports(app, config), imports: siteImports(app, config) },
        log,
      ),
    )
    running.ping = app.ping
    running.log = daemon.log
    if (round === 1) {
      if (worker !== undefined) tellListening()
      warnOfSockets(sockets, { config, log: logger, at: daemon.url })
      manager.ready(`serves ${daemon.url}`, () => isAlive(running))
    }
    meter?.open(daemon.measure)
    running.stop = daemon.stop
    standby?.stop()
    if (round === 1) void keepProgramFiles().then(() => logger.debug(KEPT), (err: unknown) => logger.warn({ err }, NOT_KEPT)) // prettier-ignore
    if (worker === undefined && round === 1) {
      void watchUpgrades(logger, { version, installed: installedVersion })
      void onceThere(logger, async () => warnAbout(app, config, logger, { env: cli.terminal.env, at: daemon.url, isInherited: sockets.length > 0 })).catch((err: unknown) => logger.warn({ err }, UNWARNED)) // prettier-ignore
    }
    await daemon.maintenanceRequested
    if (running.isEnding) break
    logger.info(MAINTENANCE)
    listener = daemon.listener
    standby = await daemon.beginMaintenance(seconds)
    running.ping = undefined
    await meter?.close()
    await cli.close()
    running.stop = async () => listener?.close()
    await standby.over
  }
  await stopped
}

const MAINTENANCE = 'stands aside for a restore'
const KEPT = 'needs the files of the program no more, except to read images'
const NOT_KEPT = 'cannot read the files of the program: restart after an upgrade'

const LOST = 'a worker exited and is not restarted, as another version is installed: restart the server'
const SOCKETS_LOST =
  'the inherited sockets are closed with the last worker: the server ends, to be started with them again'
const WAITS = 'waits for the database'
const OTHER_VERSION = 'starts the workers of the version that is installed now'

/** Starts several worker processes and restarts those that exit. */
async function runPrimary(
  cli: Cli,
  {
    config,
    logger,
    hup,
    migrate,
    sockets,
    manager,
    running,
    count,
    color,
  }: ServeOptions & ColorFlag & { count: number },
): Promise<void> {
  const [{ startWorkers }, { environmentOf }] = await Promise.all([
    import('../process/workers.js'),
    import('../config.js'),
  ])
  const seconds = shutdownTimeout(config) + SHUTDOWN_GRACE
  const stopped = untilStopped(
    seconds,
    async () => {
      running.isEnding = true
      const told = manager.stopping()
      running.removeSocket?.()
      const graceful = (await running.workers?.stop(seconds)) ?? true
      await told
      logger.info(graceful ? 'stopped' : 'stopped; some workers had to be killed')
      if (!graceful) throw new Error('Some workers had to be killed.') // makes the exit code 1
    },
    { log: (ending) => logEnding(logger, ending) },
  )
  await onceThere(
    logger,
    async () =>
      warnAbout(await openSite(cli, { config, logger, migrate, isFirst: true }), config, logger, {
        env: cli.terminal.env,
        isInherited: sockets.length > 0,
      }),
    () => manager.waits(WAITS),
  )
  await cli.close()
  const env = {
    ...environmentOf(config),
    ...socketsOfWorker(sockets),
    ...((color === false || color === 'never') && { NO_COLOR: '1' }),
    ...(color === 'always' && { FORCE_COLOR: '1' }),
  }
  const use = (reloaded: Reloaded, changed: ReadonlyMap<Key, string | undefined>) => {
    useReloaded(reloaded, { logs: [logger], current: {} })
    for (const [key, value] of changed) Object.assign(env, { [variableOf(key)]: value }) // of workers that start later
    running.workers?.tell(reloaded)
  }
  reloadOnHangup({ ...hup, use })
  void watchUpgrades(logger, { version, installed: installedVersion })
  while (!running.isEnding) {
    const current = await installedVersion()
    if (current !== undefined && current !== version) logger.warn({ version, installed: current }, OTHER_VERSION)
    let onAllLost: (exited: Exited & { code: number | undefined }) => void = () => {}
    const lost = new Promise<Parameters<typeof onAllLost>[0]>((resolve) => (onAllLost = resolve))
    const started = await startWorkers({
      count,
      env,
      inherits: sockets.length > 0,
      mayRestart: async () => (await installedVersion()) === current,
      onRestart: (exited) => logger.warn(exited, 'a worker exited and is restarted'),
      onNamed(named) {
        running.removeSocket?.() // the one before is replaced, so this only forgets it
        running.removeSocket = removeAtExit(named as SocketFile).remove
      },
      onLost: (exited) => logger.error(exited, LOST),
      onAllLost,
    })
    if (typeof started === 'number') {
      logger.error({ exitCode: started }, 'the first worker cannot start, and has printed why')
      return void (process.exitCode = started)
    }
    running.workers = started
    manager.ready(`serves with ${count} workers`, () => anyAlive(running.workers))
    const last = await lost
    if (sockets.length > 0 && !running.isEnding) {
      logger.fatal(last, SOCKETS_LOST)
      return void (process.exitCode = last.code || 1)
    }
  }
  await stopped
}

/** A database that goes away just after the start ends no server. */
const UNWARNED = 'cannot warn about the site, as the database has gone away'

const shutdownTimeout = (config: Config): number => secondsOf(config.get('shutdown.timeout') ?? '25s')
