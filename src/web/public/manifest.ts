import { isColor } from '../../core/colors.js'
import { icon } from '../kit/assets.js'
import type { Document } from '../kit/routes.js'
import { siteIcon } from '../parts/siteicon.js'

/** What a browser needs to install the site: https://www.w3.org/TR/appmanifest/ */
export const manifest: Document = {
  type: 'application/manifest+json; charset=utf-8',
  cache: 'visitor',
  async make(view) {
    const { settings, href } = view
    const own = siteIcon(view)
    const isOurs = own.type === 'image/png'
    return `${JSON.stringify({
      id: href('/'),
      name: settings.title,
      description: settings.description || undefined,
      start_url: href('/'),
      scope: href('/'),
      display: 'minimal-ui', // the pages have no way back of their own
      theme_color: isColor(settings.accentColor) ? `#${settings.accentColor.toLowerCase()}` : undefined,
      icons: [
        own,
        ...(isOurs ? [{ ...own, purpose: 'maskable' }] : []),
        { src: href(icon.path), type: 'image/svg+xml', sizes: 'any' }, // also beside a logo, which may be deleted
      ],
    })}\n`
  },
}
