import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'

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

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })
