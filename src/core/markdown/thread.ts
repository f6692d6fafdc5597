import { Worker } from 'node:worker_threads'
import { builtText } from '../built.js'
import { givenUp, type Work } from './work.js'

/** Milliseconds that one text may take. An ordinary one of the greatest length takes a hundredth of it: a busy machine must not change what is stored. */
const MAX_MS = 10_000
/** Maximum number of texts waiting to be rendered for display. Further ones are shown as plain text. */
const MAX_WAITING = 100
/** Milliseconds without work after which the thread ends, to free its memory. */
const IDLE_MS = 30_000
const MAX_MEMORY_MB = 128

interface Job {
  work: Work
  resolve(this: void, result: Result): void
}

interface Result {
  text: string
  /** Whether others were in its way: next time it may not be. */
  isSkipped: boolean
}

/** Runs jobs in a thread, one at a time. Jobs whose result is stored come first and are never dropped. */
class Thread {
  readonly #toStore: Job[] = []
  readonly #toShow: Job[] = []
  #current: Job | undefined
  #worker: Worker | undefined
  #timer: NodeJS.Timeout | undefined

  run(work: Work): Promise<Result> {
    const waiting = 'render' in work ? this.#toShow : this.#toStore
    if (waiting === this.#toShow && waiting.length >= MAX_WAITING)
      return Promise.resolve({ text: givenUp(work), isSkipped: true })
    return new Promise((resolve) => {
      waiting.push({ work, resolve })
      if (!this.#current) this.#next()
    })
  }

  #next(): void {
    clearTimeout(this.#timer)
    this.#current = this.#toStore.shift() ?? this.#toShow.shift()
    if (!this.#current) {
      this.#worker?.unref() // so that a command may end
      this.#timer = setTimeout(() => this.#end(), IDLE_MS).unref()
      return
    }
    const worker = (this.#worker ??= this.#start())
    worker.ref()
    this.#timer = setTimeout(() => this.#giveUp(), MAX_MS)
    worker.postMessage(this.#current.work)
  }

  #start(): Worker {
    const worker = new Worker(builtText('threads/markdown.js'), {
      eval: true,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
    })
    worker.on('message', (text: string) => this.#settle(worker, { text, isSkipped: false }))
    worker.on('error', () => worker === this.#worker && this.#giveUp())
    return worker
  }

  #giveUp(): void {
    const worker = this.#worker
    if (this.#current && worker) {
      const text = givenUp(this.#current.work)
      this.#end()
      this.#settle(worker, { text, isSkipped: false })
    } else this.#end()
  }

  #settle(worker: Worker, result: Result): void {
    if (this.#worker !== undefined && worker !== this.#worker) return // it was given up meanwhile
    this.#current?.resolve(result)
    this.#next()
  }

  #end(): void {
    void this.#worker?.terminate()
    this.#worker = undefined
  }
}

const thread = new Thread()

export const inThread = (work: Work): Promise<Result> => thread.run(work)
