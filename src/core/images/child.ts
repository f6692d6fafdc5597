// Shared by the programs of src/core/images that run in their own processes.
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type SharpModule from 'sharp'

/** Milliseconds after which the process ends itself, in case its server is gone. */
const MAX_MS = 20_000

/** Prepares the process, and reads all of stdin. */
export async function begin(): Promise<Buffer> {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), MAX_MS).unref()
  yieldMemory()
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** If memory runs out, Linux kills this process and not the server. */
function yieldMemory(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // Other systems have no such file
  }
}

/** Loads sharp with only these decoders enabled. Returns undefined if sharp is not installed. */
export function load(decoders: readonly string[]): typeof SharpModule | undefined {
  try {
    const sharp = createRequire(process.argv[1] ?? '')('sharp') as typeof SharpModule
    sharp.cache(false)
    sharp.concurrency(1)
    sharp.block({ operation: ['VipsForeignLoad'] })
    if (decoders.length > 0) sharp.unblock({ operation: decoders.map((name) => `VipsForeignLoad${name}`) })
    return sharp
  } catch {
    return undefined
  }
}
