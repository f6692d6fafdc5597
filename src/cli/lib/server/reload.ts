import type { Logger } from 'pino'
import type { Config } from '../../../config.js'
import { AppError } from '../../../core/errors.js'
import type { Rates } from '../../../core/limits.js'
import { keys, needsRestart, settings, type Key } from '../../../core/settings.js'
import type { Log } from '../../../serve.js'
import { hasTerminal } from './shutdown.js'

/** The settings that a running server can change. */
export interface Reloaded {
  level: string
  rates: Rates
}

interface Options {
  config: Config
  /** Reads the settings again. Throws if they are invalid. */
  load(this: void): Promise<Config>
  log: Logger
  use(this: void, reloaded: Reloaded, changed: ReadonlyMap<Key, string | undefined>): void
}

/**
 * Reloads the settings on SIGHUP. On a terminal SIGHUP ends the server instead, because a terminal sends it when it is
 * closed.
 */
export function reloadOnHangup({ config, load, log, use }: Options): void {
  if (hasTerminal()) return
  const inUse = new Map<Key, string | undefined>(keys.map((key) => [key, config.get(key)]))
  const reload = async () => {
    const [next, { ratesOf }] = await Promise.all([load(), import('../../../config.js')])
    const differing = keys.filter((key) => needsRestart(key) && next.get(key) !== inUse.get(key))
    const changed = new Map(
      differing.filter((key) => settings[key].reloads).map((key) => [key, next.get(key)] as const),
    )
    for (const [key, value] of changed) inUse.set(key, value)
    const needRestart = differing.filter((key) => !changed.has(key))
    const tell = () => log.info({ changed: [...changed.keys()], needRestart }, RELOADED)
    const isTold = log.isLevelEnabled('info') // log it at the more verbose of the two levels
    if (isTold) tell()
    use({ level: next.get('log.level') ?? 'info', rates: ratesOf(next) }, changed)
    if (!isTold) tell()
  }
  const refuse = (error: unknown) => log.error(error instanceof AppError ? { reason: error.message } : { err: error }, NOT_RELOADED) // prettier-ignore
  let last = Promise.resolve()
  process.on('SIGHUP', () => void (last = last.then(reload).catch(refuse)))
}

const RELOADED = 'reloaded the settings'
const NOT_RELOADED = 'cannot reload the settings; the previous ones stay in effect'

/** Sets the level of the logs, and changes the rates in place, because the limits hold the same object. */
export function useReloaded(
  { level, rates }: Reloaded,
  { logs, current }: { logs: (Pick<Log, 'level'> | undefined)[]; current: Rates },
): void {
  for (const log of logs) if (log) log.level = level
  const { requests } = current // its counters in memory need a restart
  for (const name of Object.keys(current) as (keyof Rates)[]) delete current[name]
  Object.assign(current, rates, { requests })
}
