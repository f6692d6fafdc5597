import { API_ROOT } from '../wire.js'

/** Where images are, below the address of the site. A proxy may send everything but the API to another web client. */
export const IMAGES = `${API_ROOT}/images`

/** How an address tells the size of an image, so that a page leaves room for it. */
const FILE = String.raw`([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(\d{1,5})x(\d{1,5})\.webp`
const AT_END = new RegExp(`${IMAGES}/${FILE}$`)
const ANYWHERE = new RegExp(`${IMAGES}/${FILE}`, 'g')

export interface ImageAddress {
  imageId: string
  width: number
  height: number
}

/** The path of an image below the address of the site. */
export const imagePath = ({ imageId, width, height }: ImageAddress): string =>
  `${IMAGES}/${imageId}-${width}x${height}.webp`

/** The image at a path; undefined if it is none of ours. A site may be below a path. */
export function imageAt(path: string): ImageAddress | undefined {
  const [, imageId, width, height] = AT_END.exec(path) ?? []
  return imageId === undefined ? undefined : { imageId, width: Number(width), height: Number(height) }
}

/** The first image whose address a text has. */
export function firstImageIn(markdown: string): ImageAddress | undefined {
  const [path] = new RegExp(ANYWHERE.source).exec(markdown) ?? []
  return path === undefined ? undefined : imageAt(path)
}

/** The ids of the images that a text may show, each once. */
export const imagesIn = (markdown: string): string[] => [
  ...new Set(Array.from(markdown.matchAll(ANYWHERE), ([, imageId]) => imageId ?? '')),
]
