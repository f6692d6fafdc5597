import type { Worker } from 'node:worker_threads'
import { builtText } from '../../core/built.js'
import { addonForThread } from './binding.js'
import type { CheckpointData } from './checkpointthread.js'

/**
 * Pages in the WAL after which a commit checkpoints. A checkpoint blocks the process: about 50 ms for the minimum, up to
 * 200 ms for the maximum on a busy disk. Commits that many writers share have more pages, so they checkpoint less often.
 */
export const MIN_PAGES = 500
const MAX_PAGES = 4000
const PAGES_PER_WRITER = 64
/** WAL size in bytes from which a thread checkpoints it. Only a long read of another program lets it grow so far. */
export const MAX_LOG = 16 * 1024 * 1024
/** Milliseconds between attempts while a reader is in the way. */
const RETRY_MS = 1000
/** Milliseconds that the end of a checkpoint may hold writers up. */
const PATIENCE = 100

/**
 * Decides when SQLite checkpoints the WAL. A large WAL takes seconds to copy, so a thread checkpoints and truncates it
 * while reads and writes continue. The thread ends when the WAL is empty.
 */
export class Checkpointer {
  readonly #file: string
  /** Sets after how many pages the handle that writes copies them; 0: never. */
  readonly #setAutomatic: (pages: number) => void
  #isRunning = false
  #isClosed = false
  #worker: Worker | undefined
  /** Moving average of the writers that share a commit. */
  #writers = 1
  #pages = MIN_PAGES

  constructor(file: string, setAutomatic: (pages: number) => void) {
    this.#file = file
    this.#setAutomatic = setAutomatic
  }

  /** Call it after each commit, with the number of writers that shared it. */
  count(writers: number): void {
    this.#writers += (writers - this.#writers) / 8
    const pages = Math.min(MAX_PAGES, Math.max(MIN_PAGES, Math.round(this.#writers) * PAGES_PER_WRITER))
    if (pages === this.#pages || this.#isRunning) return
    this.#pages = pages
    this.#setAutomatic(pages)
  }

  /** Call it with the size of the WAL in bytes from time to time. */
  watch(log: number): void {
    if (log > MAX_LOG && !this.#isRunning && !this.#isClosed) void this.#start()
  }

  /** Ends the thread. The next call of `watch` may start it again. */
  async stop(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    this.#isRunning = false
    if (!worker) return
    this.#pages = MIN_PAGES
    if (!this.#isClosed) this.#setAutomatic(MIN_PAGES)
    await worker.terminate()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.stop()
  }

  async #start(): Promise<void> {
    this.#isRunning = true
    const { Worker } = await import('node:worker_threads')
    if (!this.#isRunning || this.#isClosed) return
    this.#setAutomatic(0)
    const workerData: CheckpointData = { file: this.#file, ...addonForThread(), retry: RETRY_MS, patience: PATIENCE }
    const worker = new Worker(builtText('threads/checkpoint.js'), {
      eval: true,
      execArgv: [],
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 },
    })
    this.#worker = worker
    worker.unref()
    worker.on('error', () => {}) // it exits then, and is started again
    worker.on('exit', () => this.#worker === worker && void this.stop())
  }
}
