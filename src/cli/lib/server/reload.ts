import type { Logger } from 'pino'
import type { Config } from '../../../config.js'
import { AppError } from '../../../core/errors.js'
import type { Rates } from '../../../core/limits.js'
import { keys, needsRestart, settings, type Key } from '../../../core/settings.js'
import type { Log } from '../../../serve.js'
import { hasTerminal } from './shutdown.js'

/** What a running server can change. */
export interface Reloaded {
  level: string
  rates: Rates
}

interface Options {
  config: Config
  /** Reads the settings again. Throws where they are not valid. */
  load(this: void): Promise<Config>
  log: Logger
  use(this: void, reloaded: Reloaded, changed: ReadonlyMap<Key, string | undefined>): void
}

/**
 * Reads the settings again at each SIGHUP, and uses those that no restart is needed for. Where a terminal may send the
 * signal, as it is closed, it ends the server instead.
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
    const isTold = log.isLevelEnabled('info') // by the level before or after
    if (isTold) tell()
    use({ level: next.get('log.level') ?? 'info', rates: ratesOf(next) }, changed)
    if (!isTold) tell()
  }
  const refuse = (error: unknown) => log.error(error instanceof AppError ? { reason: error.message } : { err: error }, NOT_RELOADED) // prettier-ignore
  let last = Promise.resolve()
  process.on('SIGHUP', () => void (last = last.then(reload).catch(refuse)))
}

const RELOADED = 'has read the settings again'
const NOT_RELOADED = 'cannot read the settings again, and goes on with those it has'

/** Changes the level of these logs, and the rates where they are: what limits the requests looks them up there. */
export function useReloaded(
  { level, rates }: Reloaded,
  { logs, current }: { logs: (Pick<Log, 'level'> | undefined)[]; current: Rates },
): void {
  for (const log of logs) if (log) log.level = level
  const { requests } = current // counts in memory by the rate that it started with
  for (const name of Object.keys(current) as (keyof Rates)[]) delete current[name]
  Object.assign(current, rates, { requests })
}
