import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { setPriority } from 'node:os'
import { builtText, type BuiltFile } from '../built.js'
import type { AppError } from '../errors.js'

/** Whether the package that decodes and draws was there when this process began. */
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
 * Runs a program of ours in a process of its own: a fault of the library ends that process, not the server. Resolves with
 * its output: nothing where it fails, undefined where it takes longer than `maxMs` milliseconds. It gets no variable of
 * ours, which may be a secret.
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
    child.stdin.on('error', () => {}) // it may end before it has read all
    child.once('error', () => resolve(Buffer.alloc(0)))
    child.once('close', (code, signal) =>
      resolve(code === 0 ? Buffer.concat(chunks) : signal === 'SIGKILL' ? undefined : Buffer.alloc(0)),
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

/** Runs one job at a time: one may need hundreds of megabytes. */
export class Turns {
  #isTaken = false
  readonly #waiting = new Set<() => void>()

  /**
   * A job waits for `patienceMs` milliseconds at most, and only where fewer than `most` wait. `busy` is the error of others.
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

  /** Hands the turn to the job that waits longest, so a new one cannot overtake it. */
  #next(): void {
    const [begin] = this.#waiting
    if (begin) begin()
    else this.#isTaken = false
  }
}
