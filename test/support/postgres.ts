import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'

/**
 * Databases live for one test: they need no durability and no vacuum. The WAL stays small, because it may be in memory.
 */
const FLAGS = ['-c', 'full_page_writes=off', '-c', 'autovacuum=off', '-c', 'max_wal_size=256MB']

export function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

/** Starts PostgreSQL, or uses the server of FEEDBACKCTL_TEST_POSTGRES. */
export async function startPostgres(): Promise<{ url: string; stop(): Promise<void> }> {
  const url = process.env.FEEDBACKCTL_TEST_POSTGRES
  if (url) return { url, stop: async () => {} }
  const server = spawn(process.execPath, [path.join(import.meta.dirname, 'postgres-server.js'), ...FLAGS], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(server, 'exit')
  const [line] = (await Promise.race([
    once(server.stdout, 'data'),
    ended.then(() => Promise.reject(new Error('PostgreSQL did not start'))),
  ])) as [Buffer]
  return {
    url: line.toString().trim(),
    stop: async () => {
      server.stdin.end()
      await ended
    },
  }
}

/** A PostgreSQL server that one test may stop and damage. */
export interface OwnPostgres {
  url: string
  start(): Promise<void>
  /** SIGINT stops it as an operator does, SIGQUIT as a crash does. */
  stop(signal?: 'SIGINT' | 'SIGQUIT'): Promise<void>
  /** Suspends all its processes, and returns what makes them go on. */
  freeze(): () => void
  /** Starts a second server that follows this one, and returns its URL. Each commit then waits for it. */
  startStandby(): Promise<string>
  /** Lets the second server take writes. */
  promoteStandby(): Promise<void>
  /** Stops it for good, and removes its data. */
  remove(): Promise<void>
}

export async function ownPostgres({ port }: { port?: number } = {}): Promise<OwnPostgres> {
  const server = spawn(
    process.execPath,
    [path.join(import.meta.dirname, 'postgres-server.js'), ...(port === undefined ? [] : ['--port', String(port)])],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]()
  const line = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error('PostgreSQL did not start')
    return value
  }
  const ask = async (command: string) => {
    server.stdin.write(`${command}\n`)
    return line()
  }
  const tell = async (command: string) => void (await ask(command))
  return {
    url: await line(),
    start: () => tell('start'),
    stop: (signal = 'SIGINT') => tell(signal),
    startStandby: () => ask('standby'),
    promoteStandby: () => tell('promote'),
    freeze() {
      const [postmaster] = childrenOf(server.pid ?? 0)
      if (postmaster === undefined) throw new Error('PostgreSQL does not run')
      signal(postmaster, 'SIGSTOP') // first, so that it starts no more of them
      const children = childrenOf(postmaster)
      for (const pid of children) signal(pid, 'SIGSTOP')
      return () => {
        for (const pid of [postmaster, ...children]) signal(pid, 'SIGCONT')
      }
    },
    async remove() {
      const ended = once(server, 'exit')
      server.stdin.end()
      await ended
    },
  }
}

/** A process that has ended stays until its parent asks for its exit status, which a suspended parent does not. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function childrenOf(parent: number): number[] {
  const processes = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  return processes.split('\n').flatMap((line) => {
    const [pid, of] = line.trim().split(/\s+/).map(Number)
    return of === parent && pid !== undefined ? [pid] : []
  })
}
