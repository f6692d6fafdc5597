import { API_ROOT } from '../wire.js'

/** The path of images. It is below that of the API, because a proxy may send all other paths to another web client. */
export const IMAGES = `${API_ROOT}/images`

/** A file name with the size of the image: a page reserves the space before the image is loaded. */
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

/** The image at a path; undefined for any other path. The path may begin with that of the site. */
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
