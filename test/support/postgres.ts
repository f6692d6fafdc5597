import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'

/** The databases live for a test: nothing must survive a crash or be vacuumed, and the log stays small, as it may be in memory. */
const FLAGS = ['-c', 'full_page_writes=off', '-c', 'autovacuum=off', '-c', 'max_wal_size=256MB']

export function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

/** Starts a PostgreSQL of its own, or uses the one that FEEDBACKCTL_TEST_POSTGRES names. */
export async function startPostgres(): Promise<{ url: string; stop(): Promise<void> }> {
  const given = process.env.FEEDBACKCTL_TEST_POSTGRES
  if (given) return { url: given, stop: async () => {} }
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

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })
