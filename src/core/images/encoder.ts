// What a process of its own runs: it reads an image on stdin, and writes a line of JSON and the image on stdout. A fault of
// the decoder ends this process, not the server, and its memory goes with it.
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type SharpModule from 'sharp'
import { pixelsFor } from './types.js'
import type { Encoded, Refusal } from './encoding.js'

/** Milliseconds after which it ends though the server is gone. */
const MAX_MS = 20_000
/** Pixels of a side at most: what a wide screen shows. */
const MAX_SIDE = 2048
/** Bytes of what is stored at most. The second quality is for what is larger with the first. */
const MAX_STORED = 2_000_000
const QUALITIES = [82, 60]
/** The decoders that may run, of all that the library has. */
const DECODERS = ['JpegBuffer', 'PngBuffer', 'WebpBuffer', 'NsgifBuffer', 'HeifBuffer']

async function encode(
  sharp: typeof SharpModule,
  bytes: Buffer,
): Promise<{ about: Encoded['about']; bytes: Buffer } | Refusal> {
  const most = pixelsFor(bytes)
  const open = () => sharp(bytes, { animated: true, limitInputPixels: most, failOn: 'error' })
  const { width, height } = await open().metadata() // for an animation, the height is the sum of its frames
  if (width * height > most) return 'pixels'
  for (const quality of QUALITIES) {
    // Without `keepMetadata`, what a camera wrote is left out; colours become those of the web
    const { data, info } = await open()
      .autoOrient()
      .resize({ width: MAX_SIDE, height: MAX_SIDE, fit: 'inside', withoutEnlargement: true })
      .webp({ quality, smartSubsample: true })
      .toBuffer({ resolveWithObject: true })
    if (data.length <= MAX_STORED)
      return { about: { width: info.width, height: info.pageHeight ?? info.height }, bytes: data }
  }
  return 'bytes'
}

async function main(): Promise<void> {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), MAX_MS).unref()
  yieldMemory()
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  const sharp = load()
  const result = sharp ? await encode(sharp, Buffer.concat(chunks)).catch(refusalOf) : 'unavailable'
  if (typeof result === 'string') process.stdout.write(`${JSON.stringify({ refusal: result })}\n`)
  else {
    process.stdout.write(`${JSON.stringify(result.about)}\n`)
    process.stdout.write(result.bytes)
  }
}

/** Where memory runs out, Linux ends this process and not the server. */
function yieldMemory(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // Other systems have no such file
  }
}

/** The library says in words what is wrong. */
const refusalOf = (error: Error): Refusal => (/pixel limit/i.test(error.message) ? 'pixels' : 'unreadable')

function load(): typeof SharpModule | undefined {
  try {
    const sharp = createRequire(process.argv[1] ?? '')('sharp') as typeof SharpModule
    sharp.cache(false)
    sharp.concurrency(1)
    sharp.block({ operation: ['VipsForeignLoad'] })
    sharp.unblock({ operation: DECODERS.map((name) => `VipsForeignLoad${name}`) })
    return sharp
  } catch {
    return undefined
  }
}

void main()
