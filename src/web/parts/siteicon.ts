import { IMAGES, imageAt } from '../../core/images/address.js'
import { squareIcon } from '../kit/assets.js'
import type { View } from '../kit/page.js'

export interface SiteIcon {
  /** A path of this host. */
  src: string
  type: string
  sizes: string
}

/**
 * The picture of the site on a home screen: its logo where this host serves it, or else ours. A logo elsewhere is none:
 * whoever installs the site would ask another host for it.
 */
export function siteIcon({ settings: { logo }, href, absolute }: View): SiteIcon {
  const image = logo?.startsWith(absolute(`${IMAGES}/`)) ? imageAt(logo) : undefined
  return logo !== null && image
    ? { src: new URL(logo).pathname, type: 'image/webp', sizes: `${image.width}x${image.height}` }
    : { src: href(squareIcon.path), type: 'image/png', sizes: '512x512' }
}
