/** Full transactions in a row before the size grows. Each transaction that takes too long doubles it. */
const CALM = 8
const MOST_CALM = 64

/** Sizes the transactions of an import: smaller after one that took too long, then slowly larger again. */
export class Pace {
  readonly #full: number
  #most: number
  #calm = CALM / 2
  #inRow = 0

  constructor(full: number) {
    this.#full = full
    this.#most = full
  }

  get most(): number {
    return this.#most
  }

  /** Call after a transaction of `count` records took too long. */
  tooLong(count: number): void {
    this.#most = Math.max(1, Math.ceil(Math.min(count, this.#most) / 2))
    this.#calm = Math.min(MOST_CALM, this.#calm * 2)
    this.#inRow = 0
  }

  /** Call after a transaction of `count` records. One that is not full says nothing about a larger one. */
  done(count: number): void {
    if (count < this.#most || this.#most === this.#full) return
    this.#inRow += 1
    if (this.#inRow < this.#calm) return
    this.#most = Math.min(this.#full, this.#most * 2)
    this.#inRow = 0
  }
}
