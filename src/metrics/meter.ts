import { Traffic } from '../http/lib/traffic.js'
import { gauge, type Family } from './family.js'
import { watchProcess } from './process.js'
import { measureTraffic } from './traffic.js'

/** Measures a process that serves. */
export class Meter {
  readonly traffic = new Traffic()
  readonly #process = watchProcess()

  readonly read = async (): Promise<Family[]> => [
    gauge('feedbackctl_serving_processes', 'Processes that serve requests.', 1, 'sum'),
    ...(await this.#process()),
    ...measureTraffic(this.traffic),
  ]
}
