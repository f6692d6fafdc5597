import { AggregatorRegistry } from 'prom-client'
import { isCounted, type Family } from './family.js'

const sumOf = (measured: readonly Family[][]) => AggregatorRegistry.aggregate([...measured])

/**
 * Adds up what processes have measured. What a process counted that has ended stays in the sums: to Prometheus a counter
 * that goes down is one that began anew, and all of it would count again.
 */
export class Sums {
  #ended: Family[] = []

  /** Keeps the counters of what has ended. */
  async end(measured: readonly Family[]): Promise<void> {
    const kept = await sumOf([this.#ended, measured.filter(isCounted)]).getMetricsAsJSON()
    this.#ended = kept as unknown as Family[] // they are what was given, added up
  }

  /** All as text, in the format of Prometheus. */
  text(measured: readonly Family[][]): Promise<string> {
    return sumOf([...measured, this.#ended]).metrics()
  }
}

/**
 * What the workers of a server have measured, by their number. One that does not answer in time counts as it did last, and
 * one that has ended with what it counted until then.
 */
export class WorkerSums {
  readonly #sums = new Sums()
  readonly #last = new Map<number, Family[]>()

  /** `answers` has every worker that runs. Undefined stands for one that did not answer. */
  async text(answers: ReadonlyMap<number, Family[] | undefined>, own: Family[]): Promise<string> {
    for (const [worker, families] of this.#last) {
      if (answers.has(worker)) continue
      this.#last.delete(worker)
      await this.#sums.end(families)
    }
    for (const [worker, families] of answers) if (families) this.#last.set(worker, families)
    return this.#sums.text([own, ...this.#last.values()])
  }
}
