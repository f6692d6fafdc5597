import { spawn } from 'node:child_process'
import { builtText } from '../built.js'
import { AppError } from '../errors.js'
import { sizeText } from '../text.js'
import { imageTypeOf, MAX_IMAGE_BYTES, MAX_PIXELS } from './types.js'

export interface Encoded {
  about: { width: number; height: number }
  /** WebP, upright, without what a camera wrote into it. */
  bytes: Buffer
}

/** Why an image is refused. `unavailable`: the package that decodes images is not installed. */
export type Refusal = 'pixels' | 'bytes' | 'unreadable' | 'unavailable'

/** Processes that decode at a time, and images that may wait for one. */
const MOST = 2
const MOST_WAITING = 20
/** Milliseconds that one image may take. An ordinary one takes half a second. */
const MAX_MS = 20_000

let running = 0
const waiting: (() => void)[] = []

/**
 * Decodes an image and encodes it anew, in a process of its own. Throws IMAGE_REFUSED for what is no image or too large, and
 * SERVER_BUSY where too many wait.
 */
export async function encodeImage(bytes: Buffer): Promise<Encoded> {
  if (bytes.length > MAX_IMAGE_BYTES) throw refused('bytes')
  if (imageTypeOf(bytes) === undefined) throw refused('unreadable')
  if (running >= MOST) {
    if (waiting.length >= MOST_WAITING)
      throw new AppError('SERVER_BUSY', 'Too many images are being uploaded.', { retryAfter: 5 })
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  running++
  try {
    return await inProcess(bytes)
  } finally {
    running--
    waiting.shift()?.()
  }
}

async function inProcess(bytes: Buffer): Promise<Encoded> {
  const output = await run(bytes)
  const end = output.indexOf('\n')
  if (end < 0) throw refused('unreadable')
  const about = JSON.parse(output.toString('utf8', 0, end)) as Encoded['about'] & { refusal?: Refusal }
  if (about.refusal) throw refused(about.refusal)
  return { about, bytes: output.subarray(end + 1) }
}

/** Its output; nothing where it fails or takes too long. The process gets no variable that may be a secret. */
function run(bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      ['--input-type=commonjs', '--eval', builtText('threads/images.js'), import.meta.filename],
      { env: { VIPS_BLOCK_UNTRUSTED: '1' }, stdio: ['pipe', 'pipe', 'ignore'], timeout: MAX_MS, killSignal: 'SIGKILL' },
    )
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.stdin.on('error', () => {}) // it may end before it has read all
    child.once('error', () => resolve(Buffer.alloc(0)))
    child.once('close', (code) => resolve(code === 0 ? Buffer.concat(chunks) : Buffer.alloc(0)))
    child.stdin.end(bytes)
  })
}

const MESSAGES: Record<Exclude<Refusal, 'unavailable'>, string> = {
  bytes: `The image is larger than ${sizeText(MAX_IMAGE_BYTES)}. Make it smaller.`,
  pixels: `The image has more than ${MAX_PIXELS / 1_000_000} million pixels. Make it smaller.`,
  unreadable: 'This is no image, or it is damaged. Choose a PNG, JPEG, WebP, GIF or AVIF file.',
}

const refused = (refusal: Refusal): AppError =>
  refusal === 'unavailable'
    ? new AppError('IMAGES_UNAVAILABLE', 'This server cannot take images: the package "sharp" is not installed.')
    : new AppError('IMAGE_REFUSED', MESSAGES[refusal], { reason: `image-${refusal}` })
