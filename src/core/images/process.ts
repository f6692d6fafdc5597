import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { setPriority } from 'node:os'
import { builtText, type BuiltFile } from '../built.js'
import type { AppError } from '../errors.js'

/** Whether sharp was installed when this process started. */
export const hasSharp = isInstalled()

function isInstalled(): boolean {
  try {
    createRequire(import.meta.filename).resolve('sharp')
    return true
  } catch {
    return false
  }
}

/**
 * Runs a built program in a process of its own, so that a crash of the library does not end the server. Resolves with its
 * output: empty if it fails, undefined if it is killed, as after `maxMs` milliseconds. It does not inherit environment
 * variables, which may hold secrets.
 */
export function inProcess(
  program: BuiltFile,
  input: string | Buffer,
  { env = {}, maxMs, priority = 0 }: { env?: Record<string, string>; maxMs: number; priority?: number },
): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      ['--input-type=commonjs', '--eval', builtText(program), import.meta.filename],
      {
        env: { VIPS_BLOCK_UNTRUSTED: '1', ...env },
        stdio: ['pipe', 'pipe', 'ignore'],
        timeout: maxMs,
        killSignal: 'SIGKILL',
      },
    )
    if (child.pid !== undefined && priority !== 0) lower(child.pid, priority)
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.stdin.on('error', () => {}) // the process may end before it has read everything
    child.once('error', () => resolve(Buffer.alloc(0)))
    child.once('close', (code, signal) =>
      resolve(
        code === 0 ? Buffer.concat(chunks) : signal === 'SIGKILL' || signal === 'SIGTERM' ? undefined : Buffer.alloc(0),
      ),
    )
    child.stdin.end(input)
  })
}

function lower(pid: number, priority: number): void {
  try {
    setPriority(pid, priority)
  } catch {
    // It has ended already
  }
}

/** Runs one job at a time, because a job may need hundreds of megabytes. */
export class Turns {
  #isTaken = false
  readonly #waiting = new Set<() => void>()

  /**
   * A job waits at most `patienceMs` milliseconds. `busy` makes the error for a job that waits longer, or that finds `most`
   * jobs waiting.
   */
  constructor(
    private readonly bounds: { patienceMs: number; most?: number },
    private readonly busy: () => AppError,
  ) {}

  async run<T>(job: () => Promise<T>): Promise<T> {
    await this.#turn()
    try {
      return await job()
    } finally {
      this.#next()
    }
  }

  #turn(): Promise<void> {
    if (!this.#isTaken) {
      this.#isTaken = true
      return Promise.resolve()
    }
    if (this.#waiting.size >= (this.bounds.most ?? Infinity)) return Promise.reject(this.busy())
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        this.#waiting.delete(begin)
        resolve()
      }
      const timer = setTimeout(() => {
        this.#waiting.delete(begin)
        reject(this.busy())
      }, this.bounds.patienceMs)
      this.#waiting.add(begin)
    })
  }

  /** Starts the job that has waited longest. */
  #next(): void {
    const [begin] = this.#waiting
    if (begin) begin()
    else this.#isTaken = false
  }
}
