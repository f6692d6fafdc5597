import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A range below the ephemeral ports. An ephemeral port that is free now can be assigned to another server or connection
 * before a test listens on it. Each worker has its own part of the range.
 */
const [FIRST, OF_WORKER, WORKERS] = [10_000, 300, 56]
const first = FIRST + (Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS) * OF_WORKER

/** Starts at a random port, because another run on this machine uses the same range. */
let next = Math.floor(Math.random() * OF_WORKER)

/** Returns a port that is free and that the system assigns to nobody. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < OF_WORKER; tried++) {
    const port = first + (next++ % OF_WORKER)
    if (await isFree(port)) return port
  }
  throw new Error(`All ports from ${first} to ${first + OF_WORKER - 1} are taken`)
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer()
  const listening = once(probe, 'listening').then(
    () => true,
    () => false,
  )
  probe.listen(port, '127.0.0.1')
  if (!(await listening)) return false
  probe.close()
  await once(probe, 'close')
  return true
}
