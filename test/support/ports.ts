import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Ports below those that the system gives to whoever asks for any: other servers and connections of the tests would take
 * one of these between a look and its use. Each worker has ports of its own.
 */
const [FIRST, OF_WORKER, WORKERS] = [10_000, 300, 56]
const first = FIRST + (Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS) * OF_WORKER

/** Begins anywhere, as another run on this machine has the same ports. */
let next = Math.floor(Math.random() * OF_WORKER)

/** A port that nobody listens on, and that nobody gets by chance. */
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
