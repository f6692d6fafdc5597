import { availableParallelism } from 'node:os'
import type { Context } from './context.js'

/** Who waits: the address of the client, and the account it is about. */
export interface Asker {
  client?: Context['client'] | undefined
  account?: string
}

interface Waiting {
  /** How much of the same account and address, and of the address, came before it and had not ended. */
  account: number
  address: number
  start(this: void): void
}

/** Threads of libuv, which also serve files and look-ups of names. */
const THREADS = 4
/** One thread stays free, and one core for requests: at two, hashes would slow each other down, and reading. */
const MOST = Math.max(1, Math.min(THREADS, availableParallelism()) - 1)

/**
 * Runs long work on few threads. Addresses take turns, and the accounts at an address: whoever has work that waits or
 * runs lets others go first.
 */
export class Queue {
  readonly #unfinished = new Map<string, number>()
  readonly #waiting: Waiting[] = []
  #running = 0

  async run<T>({ client, account = '' }: Asker, work: () => Promise<T>): Promise<T> {
    const ofAddress = `address ${client?.address}`
    const ofAccount = `${ofAddress} ${account}` // a stranger does not delay its owner
    const before = { account: this.#enter(ofAccount), address: this.#enter(ofAddress) }
    try {
      if (this.#running >= MOST) await new Promise<void>((start) => this.#waiting.push({ ...before, start }))
      else this.#running++
      return await work()
    } finally {
      this.#leave(ofAccount)
      this.#leave(ofAddress)
      this.#next()
    }
  }

  /** Hands the thread on. */
  #next(): void {
    const next = this.#waiting.reduce<Waiting | undefined>(
      (first, each) => (first && !isBefore(each, first) ? first : each),
      undefined,
    )
    if (!next) return void this.#running--
    this.#waiting.splice(this.#waiting.indexOf(next), 1)
    next.start()
  }

  #enter(name: string): number {
    const before = this.#unfinished.get(name) ?? 0
    this.#unfinished.set(name, before + 1)
    return before
  }

  #leave(name: string): void {
    const left = (this.#unfinished.get(name) ?? 1) - 1
    if (left > 0) this.#unfinished.set(name, left)
    else this.#unfinished.delete(name)
  }
}

const isBefore = (one: Waiting, other: Waiting): boolean =>
  one.account < other.account || (one.account === other.account && one.address < other.address)
