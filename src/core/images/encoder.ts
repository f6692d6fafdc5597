// What a process of its own runs: it reads an image on stdin, and writes a line of JSON and the image on stdout. A fault of
// the decoder ends this process, not the server, and its memory goes with it.
import type SharpModule from 'sharp'
import { begin, load } from './child.js'
import { pixelsFor } from './types.js'
import type { Encoded, Refusal } from './encoding.js'

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
  const input = await begin()
  const sharp = load(DECODERS)
  const result = sharp ? await encode(sharp, input).catch(refusalOf) : 'unavailable'
  if (typeof result === 'string') process.stdout.write(`${JSON.stringify({ refusal: result })}\n`)
  else {
    process.stdout.write(`${JSON.stringify(result.about)}\n`)
    process.stdout.write(result.bytes)
  }
}

/** The library says in words what is wrong. */
const refusalOf = (error: Error): Refusal => (/pixel limit/i.test(error.message) ? 'pixels' : 'unreadable')

void main()
