import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Everything that a run writes and nobody needs after it. */
export const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-bench-'))

const running = new Set<ChildProcess>()

// Whatever ends the run, a failure and Ctrl-C too, ends what it has started.
process.on('exit', () => {
  endAll()
  rmSync(folder, { recursive: true, force: true })
})
for (const [signal, code] of Object.entries({ SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }))
  process.on(signal, () => process.exit(code))

/** Ends what a case that failed has left running. */
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

export interface Usage {
  /** Milliseconds of all threads; the kernel counts in hundredths of a second. */
  cpu: number
  /** The most that was resident at any time, in MB. */
  memory: number
}

/** What a process and its children have used until now. */
export function usageOf(pid: number): Usage {
  const used = [pid, ...childrenOf(pid)].map((one) => {
    const fields = readFileSync(`/proc/${one}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return { cpu: (Number(fields[11]) + Number(fields[12])) * 10, memory: peakOf(one) }
  })
  return { cpu: sum(used.map(({ cpu }) => cpu)), memory: sum(used.map(({ memory }) => memory)) }
}

/** The most that a process has held until now, in MB; nothing is known of one that has ended. */
export function peakOf(pid: number): number {
  const status = `/proc/${pid}/status`
  const kilobytes = existsSync(status) ? /VmHWM:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1] : undefined
  return Number(kilobytes ?? 0) / 1024
}

function childrenOf(pid: number): number[] {
  const direct = readdirSync(`/proc/${pid}/task`).flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number)) // prettier-ignore
  return direct.flatMap((child) => [child, ...childrenOf(child)])
}

export const sum = (numbers: number[]): number => numbers.reduce((all, one) => all + one, 0)
