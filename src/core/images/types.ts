/** The media types of images that people may upload. What is stored is WebP, whatever it was. */
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif'] as const
export type ImageType = (typeof IMAGE_TYPES)[number]

/** The most bytes of an upload. */
export const MAX_IMAGE_BYTES = 5_000_000
/** The most pixels of an image. For an animation, this is the sum of its frames. */
export const MAX_PIXELS = 40_000_000

/** The most pixels of an AVIF image: its decoder needs five times as much memory as the others. */
export const MAX_AVIF_PIXELS = 12_000_000

/** The most frames of an animation: a minute of 30 a second has 1,800, and needs no second for each. */
export const MAX_FRAMES = 2000

/** Brands of an ISO media file (its `ftyp` box) that mean AVIF. */
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

/** The most pixels of this image. */
export const pixelsFor = (bytes: Buffer): number => (imageTypeOf(bytes) === 'image/avif' ? MAX_AVIF_PIXELS : MAX_PIXELS)

/** Size of the preview image of a post in pixels, the usual one for Open Graph (https://ogp.me). */
export const [CARD_WIDTH, CARD_HEIGHT] = [1200, 630]
