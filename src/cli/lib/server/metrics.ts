import type { Logger } from 'pino'
import type { Config } from '../../../config.js'
import { parseListen } from '../../../core/addresses.js'
import { AppError } from '../../../core/errors.js'
import type { Family } from '../../../metrics/family.js'
import type { Meter } from '../../../metrics/meter.js'
import { isLoopback } from '../../../service/lib/clients.js'

/** Milliseconds that a scrape waits for the workers. Prometheus waits ten seconds. */
const WORKERS_MS = 4000

/** Asks all workers, and waits this many milliseconds for their answers. Undefined where none was started yet. */
type Ask = (ms: number) => Promise<ReadonlyMap<number, unknown>> | undefined

interface Settings {
  config: Config
  log: Logger
  /** Of feedbackctl. */
  version: string
}

interface Shown {
  close(this: void): void
}

/** Measures this process, if the settings ask for metrics. */
export const meterOf = async (config: Config): Promise<Meter | undefined> =>
  metricsAddress(config) && new (await import('../../../metrics/meter.js')).Meter()

/** Opens the port of the metrics of a server that is one process. */
export async function showMetrics(
  { config, log, version }: Settings,
  meter: Meter | undefined,
): Promise<Shown | undefined> {
  if (!meter) return undefined
  const { Sums } = await import('../../../metrics/sums.js')
  const sums = new Sums()
  return show(config, log, async () => sums.text([await about(version), await meter.read()]))
}

/** Opens the port of the metrics of a server with workers, which are added up. */
export async function showMetricsOfWorkers({ config, log, version }: Settings, ask: Ask): Promise<Shown | undefined> {
  if (!metricsAddress(config)) return undefined
  const [{ WorkerSums }, { watchProcess }] = await Promise.all([
    import('../../../metrics/sums.js'),
    import('../../../metrics/process.js'),
  ])
  const sums = new WorkerSums()
  const own = watchProcess()
  return show(config, log, async () => {
    const answers = ((await ask(WORKERS_MS)) ?? new Map()) as ReadonlyMap<number, Family[] | undefined> // what `Meter` reads
    return sums.text(answers, [...(await about(version)), ...(await own())])
  })
}

const metricsAddress = (config: Config) => parseListen(config.get('metrics.listen') ?? '')

async function about(version: string): Promise<Family[]> {
  const { buildInfo } = await import('../../../metrics/process.js')
  return [buildInfo(version)]
}

async function show(config: Config, log: Logger, read: () => Promise<string>): Promise<Shown> {
  const { host, port } = addressOf(config)
  const { openEndpoint } = await import('../../../metrics/endpoint.js')
  const endpoint = await openEndpoint({
    host,
    port,
    token: config.get('metrics.token'),
    read,
    failed: (err) => log.error({ err }, 'the metrics cannot be read'),
  })
  log.info(`shows its metrics at ${endpoint.url}`)
  return endpoint
}

/** Throws CONFIG_INVALID where anybody could read the metrics, or the site has the same address. */
function addressOf(config: Config): { host: string; port: number } {
  const address = metricsAddress(config) ?? { host: '127.0.0.1', port: 0 }
  const { host, port } = address
  if (config.get('metrics.token') === undefined && host !== 'localhost' && !isLoopback(host))
    throw new AppError('CONFIG_INVALID', `metrics.listen is ${config.get('metrics.listen')}, which other machines may reach: set metrics.token, or listen on 127.0.0.1.`) // prettier-ignore
  const site = parseListen(config.get('listen') ?? '')
  if (port !== 0 && site?.port === port && site.host === host)
    throw new AppError('CONFIG_INVALID', `metrics.listen and listen are the same address, ${config.get('listen')}. Choose another for one of them.`) // prettier-ignore
  return address
}
