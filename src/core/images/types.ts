/** The media types of images that people may upload. What is stored is WebP, whatever it was. */
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif'] as const
export type ImageType = (typeof IMAGE_TYPES)[number]

/** Bytes of an upload at most. */
export const MAX_IMAGE_BYTES = 5_000_000
/** Pixels of an image at most; of an animation, all frames together. */
export const MAX_PIXELS = 40_000_000

/** Brands of the ISO container that are AVIF. */
const AVIF = /^(?:avif|avis|mif1|msf1)$/

/** The media type of an image by its first bytes; undefined for anything else. */
export function imageTypeOf(bytes: Buffer): ImageType | undefined {
  const at = (from: number, to: number) => bytes.toString('latin1', from, to)
  if (at(0, 8) === '\x89PNG\r\n\x1A\n') return 'image/png'
  if (at(0, 3) === '\xFF\xD8\xFF') return 'image/jpeg'
  if (at(0, 6) === 'GIF87a' || at(0, 6) === 'GIF89a') return 'image/gif'
  if (at(0, 4) === 'RIFF' && at(8, 12) === 'WEBP') return 'image/webp'
  return at(4, 8) === 'ftyp' && AVIF.test(at(8, 12)) ? 'image/avif' : undefined
}
