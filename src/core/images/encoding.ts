import { AppError } from '../errors.js'
import { sizeText } from '../text.js'
import { headerOf } from './header.js'
import { hasSharp, inProcess, Turns } from './process.js'
import { imageTypeOf, MAX_AVIF_PIXELS, MAX_FRAMES, MAX_IMAGE_BYTES, MAX_PIXELS, pixelsFor } from './types.js'

export interface Encoded {
  about: { width: number; height: number }
  /** WebP, upright, without what a camera wrote into it. */
  bytes: Buffer
}

/** Why an image is refused. `time`: decoding takes too long. `unavailable`: the package that decodes is not installed. */
export type Refusal = 'pixels' | 'frames' | 'bytes' | 'time' | 'unreadable' | 'unavailable'

/** How many images of one person may be in work, waiting ones included. */
const MOST_OWN = 2
/** How long an image may wait for its turn, in milliseconds. */
const PATIENCE_MS = 10_000
/** How long decoding may take, in milliseconds. An ordinary image takes half a second. */
const MAX_MS = 8000

const owned = new Map<string, number>()

/**
 * Decodes an image and encodes it anew, in a process of its own. Throws IMAGE_REFUSED for what is no image or too large, and
 * SERVER_BUSY where too many others wait, or of the same person.
 */
export async function encodeImage(bytes: Buffer, owner: string): Promise<Encoded> {
  if (bytes.length > MAX_IMAGE_BYTES) throw refused('bytes')
  if (imageTypeOf(bytes) === undefined) throw refused('unreadable')
  // What says that it is too large needs no process that finds out
  const { width, height, frames } = headerOf(bytes) ?? { width: 0, height: 0, frames: 1 }
  if (frames > MAX_FRAMES) throw refused('frames')
  if (width * height * frames > pixelsFor(bytes)) throw refused('pixels')
  const own = owned.get(owner) ?? 0
  if (own >= MOST_OWN) throw busy()
  owned.set(owner, own + 1)
  try {
    return await turns.run(() => encode(bytes))
  } finally {
    const left = (owned.get(owner) ?? 1) - 1
    if (left > 0) owned.set(owner, left)
    else owned.delete(owner)
  }
}

/** Whether the same image may be decoded at another time, or by another process. */
export const isPassing = ({ status, reason }: AppError): boolean => status >= 500 || reason === TOO_SLOW

const TOO_SLOW = 'image-time' satisfies `image-${Refusal}`

const busy = () =>
  new AppError('SERVER_BUSY', 'Too many images are being uploaded. Try again in a moment.', { retryAfter: 5 })

const turns = new Turns({ patienceMs: PATIENCE_MS }, busy)

async function encode(bytes: Buffer): Promise<Encoded> {
  const output = await inProcess('threads/images.js', bytes, { maxMs: MAX_MS })
  if (output === undefined) throw refused('time')
  const end = output.indexOf('\n')
  if (end < 0) throw refused('unreadable')
  const about = JSON.parse(output.toString('utf8', 0, end)) as Encoded['about'] & { refusal?: Refusal }
  if (about.refusal) throw refused(about.refusal)
  return { about, bytes: output.subarray(end + 1) }
}

const MESSAGES: Record<Exclude<Refusal, 'unavailable'>, string> = {
  bytes: `The image is larger than ${sizeText(MAX_IMAGE_BYTES)}. Make it smaller.`,
  pixels: `The image has more than ${MAX_PIXELS / 1e6} million pixels, or as AVIF more than ${MAX_AVIF_PIXELS / 1e6} million. Make it smaller.`,
  frames: `The animation has more than ${MAX_FRAMES.toLocaleString('en')} frames. Make it shorter.`,
  time: 'Decoding the image takes too long. Make it smaller.',
  unreadable: 'This is no image, or it is damaged. Choose a PNG, JPEG, WebP, GIF or AVIF file.',
}

function refused(refusal: Refusal): AppError {
  if (refusal !== 'unavailable') return new AppError('IMAGE_REFUSED', MESSAGES[refusal], { reason: `image-${refusal}` })
  return hasSharp
    ? new AppError('SERVER_BUSY', 'The program is being installed anew, so no image can be read. Try again in a minute.', { retryAfter: 60 }) // prettier-ignore
    : new AppError('IMAGES_UNAVAILABLE', 'This server cannot take images: the package "sharp" is not installed.')
}
