// What the programs of src/core/images that run in processes of their own have in common.
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type SharpModule from 'sharp'

/** Milliseconds after which it ends though the server is gone. */
const MAX_MS = 20_000

/** Reads its whole input. */
export async function begin(): Promise<Buffer> {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), MAX_MS).unref()
  yieldMemory()
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** Where memory runs out, Linux ends this process and not the server. */
function yieldMemory(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // Other systems have no such file
  }
}

/** The library with these decoders alone, of all that it has; undefined where it is not installed. */
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
