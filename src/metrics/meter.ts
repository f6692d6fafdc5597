import { Traffic } from '../http/lib/traffic.js'
import { counter, gauge, isCounted, type Family } from './family.js'
import { watchProcess } from './process.js'
import { measureTraffic } from './traffic.js'

type Measure = () => Promise<Family[]>

/** Measures a process that serves. */
export class Meter {
  readonly traffic = new Traffic()
  readonly #process = watchProcess()
  #measure: Measure | undefined
  /** The counters of sites that were closed. */
  #closed: Family[] = []
  #queries = 0
  #milliseconds = 0

  /** Counts a statement. */
  readonly trace = (_statement: string, ms: number): void => {
    this.#queries++
    this.#milliseconds += ms
  }

  /** Measures the open site from now on. */
  open(measure: Measure): void {
    this.#measure = measure
  }

  /** Called before the site is closed for a restore. What it has counted stays. */
  async close(): Promise<void> {
    const measured = await this.#site()
    this.#measure = undefined
    this.#closed = measured.filter(isCounted)
  }

  readonly read = async (): Promise<Family[]> => [
    gauge('feedbackctl_serving_processes', 'Processes that serve requests.', 1, 'sum'),
    ...(await this.#process()),
    ...measureTraffic(this.traffic),
    counter('feedbackctl_database_queries_total', 'Statements that ran.', this.#queries),
    counter('feedbackctl_database_query_seconds_total', 'How long they took, with the time that writes waited for others.', this.#milliseconds / 1000), // prettier-ignore
    ...(await this.#site()),
  ]

  async #site(): Promise<Family[]> {
    if (!this.#measure) return [DOWN, ...this.#closed]
    const open = await this.#measure()
    return this.#closed.length === 0 ? open : open.map((family) => added(family, this.#closed))
  }
}

/** What is shown before the site is open, and during a restore. */
const DOWN = gauge('feedbackctl_database_up', 'Whether the database answers, and takes writes.', 0, 'min')

/** The family with the values of the same one, where it is counted. */
function added(family: Family, closed: readonly Family[]): Family {
  const other = closed.find(({ name }) => name === family.name)
  if (!other) return family
  const keyOf = ({ labels, metricName }: Family['values'][number]) => JSON.stringify([metricName, labels])
  const values = new Map(other.values.map((sample) => [keyOf(sample), sample]))
  for (const sample of family.values) {
    const before = values.get(keyOf(sample))
    values.set(keyOf(sample), before ? { ...sample, value: sample.value + before.value } : sample)
  }
  return { ...family, values: [...values.values()] }
}
