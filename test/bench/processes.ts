import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** For temporary files; deleted when the run ends. */
export const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-bench-'))

const running = new Set<ChildProcess>()

// However the run ends, after Ctrl-C too, it ends what it has started.
process.on('exit', () => {
  endAll()
  rmSync(folder, { recursive: true, force: true })
})
for (const [signal, code] of Object.entries({ SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }))
  process.on(signal, () => process.exit(code))

/** Ends all processes that still run: a case that failed may have left some. */
export function endAll(): void {
  for (const child of running) child.kill('SIGKILL')
}

/** A home of its own, so that no configuration of this machine is read. */
export const environment = (): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: folder,
  XDG_CONFIG_HOME: folder,
  XDG_DATA_HOME: folder,
  XDG_CACHE_HOME: folder,
})

export function start(program: string, args: string[], options: SpawnOptions = {}): ChildProcess {
  const child = spawn(program, args, { cwd: folder, ...options, env: { ...environment(), ...options.env } })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

export function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode)
  return new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve))
}

/** Milliseconds of CPU that each process has used until now, of all its threads. */
export type CpuTimes = ReadonlyMap<number, number>

/**
 * Of these processes and their children. `schedstat` counts nanoseconds; `stat` counts hundredths of a second, which is
 * too coarse for a hundred requests.
 */
export const cpuTimes = (pids: readonly number[]): CpuTimes =>
  new Map(
    pids
      .flatMap((pid) => [pid, ...childrenOf(pid)])
      .map((pid) => [
        pid,
        sum(threadsOf(pid).map((thread) => Number(textOf(`${thread}/schedstat`).split(' ')[0]) / 1e6)),
      ]),
  )

/** Milliseconds used from `before` to `after`. A process that ended in between does not count. */
export const cpuBetween = (before: CpuTimes, after: CpuTimes): number =>
  sum([...after].map(([pid, time]) => time - (before.get(pid) ?? 0)))

/** The same with its children. */
export const peakOfAll = (pid: number): number => sum([pid, ...childrenOf(pid)].map(peakOf))

/** Peak memory of a process since its start, in MB; 0 if it has ended. */
export function peakOf(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0) / 1024
}

function childrenOf(pid: number): number[] {
  const direct = threadsOf(pid).flatMap((thread) => textOf(`${thread}/children`).split(' ').filter(Boolean).map(Number))
  return direct.flatMap((child) => [child, ...childrenOf(child)])
}

function threadsOf(pid: number): string[] {
  const folder = `/proc/${pid}/task`
  return existsSync(folder) ? readdirSync(folder).map((thread) => `${folder}/${thread}`) : []
}

/** Empty if the process has ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

export const sum = (numbers: number[]): number => numbers.reduce((all, one) => all + one, 0)
