import { imageTypeOf, MAX_FRAMES, type ImageType } from './types.js'

/** The size of an image in pixels, and its number of frames, as its header states them. Counting stops above MAX_FRAMES. */
export interface Header {
  width: number
  height: number
  frames: number
}

/**
 * Reads the header of an image without decoding it, in linear time. A header can lie, so the decoder checks again.
 * Returns undefined for a header that it cannot read; the decoder refuses those.
 */
export function headerOf(bytes: Buffer): Header | undefined {
  const type = imageTypeOf(bytes)
  try {
    return type && READERS[type](bytes)
  } catch (error) {
    if (error instanceof RangeError) return undefined // it ends too early
    throw error
  }
}

const READERS: Readonly<Record<ImageType, (bytes: Buffer) => Header | undefined>> = {
  'image/png': (bytes) => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), frames: 1 }),
  'image/jpeg': ofJpeg,
  'image/gif': ofGif,
  'image/webp': ofWebp,
  'image/avif': ofAvif,
}

/** Segments of a JPEG before its frame, at most: a large colour profile has 255. */
const MAX_SEGMENTS = 5000

/** The first segment that begins a frame: SOF0 to SOF15, but for the tables that lie between them. */
function ofJpeg(bytes: Buffer): Header | undefined {
  let at = 2
  for (let count = 0; count < MAX_SEGMENTS && bytes.readUInt8(at) === 0xff; count++) {
    const marker = bytes.readUInt8(at + 1)
    if (marker === 0xff) at++
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7), frames: 1 }
    else {
      const length = bytes.readUInt16BE(at + 2)
      if (length < 2) return undefined
      at += 2 + length
    }
  }
  return undefined
}

/** Each image of a GIF is a frame. Between them are extensions; both are followed by blocks with a length. */
function ofGif(bytes: Buffer): Header {
  const header = { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8), frames: 0 }
  const tableAt = (at: number) => {
    const flags = bytes.readUInt8(at)
    return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0
  }
  let at = 13 + tableAt(10)
  while (header.frames <= MAX_FRAMES) {
    const kind = bytes[at]
    if (kind === 0x2c) {
      header.frames++
      header.width = Math.max(header.width, bytes.readUInt16LE(at + 5))
      header.height = Math.max(header.height, bytes.readUInt16LE(at + 7))
      at += 11 + tableAt(at + 9)
    } else if (kind === 0x21) at += 2
    else break
    for (let length = bytes[at]; length; length = bytes[at]) at += 1 + length
    at++
  }
  return { ...header, frames: Math.max(1, header.frames) }
}

const codeOf = (name: string): number => Buffer.from(name, 'latin1').readUInt32BE()
const [VP8, VP8X, VP8L, ANMF] = ['VP8 ', 'VP8X', 'VP8L', 'ANMF'].map(codeOf)

/** Chunks of RIFF: VP8X has the size of an animation, and each ANMF is a frame. */
function ofWebp(bytes: Buffer): Header | undefined {
  let header: Header | undefined
  let frames = 0
  for (let at = 12; at + 8 <= bytes.length && frames <= MAX_FRAMES;) {
    const name = bytes.readUInt32BE(at)
    const data = at + 8
    if (name === VP8X)
      header = { width: bytes.readUIntLE(data + 4, 3) + 1, height: bytes.readUIntLE(data + 7, 3) + 1, frames: 1 } // prettier-ignore
    else if (name === VP8)
      header ??= { width: bytes.readUInt16LE(data + 6) & 0x3f_ff, height: bytes.readUInt16LE(data + 8) & 0x3f_ff, frames: 1 } // prettier-ignore
    else if (name === VP8L) {
      const bits = bytes.readUInt32LE(data + 1)
      header ??= { width: (bits & 0x3f_ff) + 1, height: ((bits >>> 14) & 0x3f_ff) + 1, frames: 1 }
    } else if (name === ANMF) frames++
    const length = bytes.readUInt32LE(at + 4)
    at = data + length + (length % 2)
  }
  return header && { ...header, frames: Math.max(1, frames) }
}

/** The boxes that lead to the sizes of the images of an AVIF file, of which the largest counts. */
function ofAvif(bytes: Buffer): Header | undefined {
  const sizes = boxesOf(bytes, 'meta', 4)
    .flatMap((meta) => boxesOf(meta, 'iprp'))
    .flatMap((properties) => boxesOf(properties, 'ipco'))
    .flatMap((container) => boxesOf(container, 'ispe', 4))
    .map((size) => ({ width: size.readUInt32BE(0), height: size.readUInt32BE(4), frames: 1 }))
  return sizes.toSorted((a, b) => b.width * b.height - a.width * a.height)[0]
}

/** The contents of the boxes of this name; of a "full" box, without its first `skip` bytes. */
function boxesOf(bytes: Buffer, name: string, skip = 0): Buffer[] {
  const found: Buffer[] = []
  const code = codeOf(name)
  for (let at = 0; at + 8 <= bytes.length;) {
    const length = bytes.readUInt32BE(at)
    const end = length === 0 ? bytes.length : at + length
    if (end < at + 8) break // 1: a length of 64 bits, as no image of 5 MB has
    if (bytes.readUInt32BE(at + 4) === code) found.push(bytes.subarray(at + 8 + skip, end))
    at = end
  }
  return found
}
