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
 * The icon of the site on a home screen: its logo, if this host serves it, or the icon of feedbackctl. A logo on another
 * host is not used, because installing the site would send a request to that host.
 */
export function siteIcon({ settings: { logo }, href, absolute }: View): SiteIcon {
  const image = logo?.startsWith(absolute(`${IMAGES}/`)) ? imageAt(logo) : undefined
  return logo !== null && image
    ? { src: new URL(logo).pathname, type: 'image/webp', sizes: `${image.width}x${image.height}` }
    : { src: href(squareIcon.path), type: 'image/png', sizes: '512x512' }
}
