import type { Rate } from '../core/limits.js'

/** How many deliveries may leave in a time: a window that slides. */
export class RateWindow {
  readonly #rate: Rate | null
  /** The times at which deliveries left, oldest first, Unix ms. */
  #left: number[] = []

  constructor(rate: Rate | null) {
    this.#rate = rate
  }

  /** When the window begins. */
  beginning(now: Date): Date {
    return new Date(now.getTime() - (this.#rate?.seconds ?? 0) * 1000)
  }

  /** Whether the limit is reached, with those that are under way. */
  isFull(now: Date, underWay = 0): boolean {
    if (!this.#rate) return false
    const begin = this.beginning(now).getTime()
    // Times in the future were counted before the clock was set back
    this.#left = this.#left.filter((at) => at > begin && at <= now.getTime())
    return this.#left.length + underWay >= this.#rate.points
  }

  count(at: Date): void {
    if (this.#rate) this.#left.push(at.getTime())
  }

  /** Whether it needs to know what left before this process began. */
  get isBounded(): boolean {
    return this.#rate !== null
  }
}
