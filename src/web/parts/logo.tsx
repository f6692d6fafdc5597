import { imageAt } from '../../core/images/address.js'
import type { Settings } from '../../service/settings.js'

const HEIGHT = 28

/** The size on the page, so that nothing moves when the image loads. The width of an image on another host is unknown. */
function sizeOf(address: string): { width?: number; height: number } {
  const image = imageAt(address)
  return { ...(image && { width: Math.round((HEIGHT * image.width) / image.height) }), height: HEIGHT }
}

/** The logo beside the title, which says the same. In dark mode it may be another one. */
export function Logo({ settings: { logo, logoDark } }: { settings: Pick<Settings, 'logo' | 'logoDark'> }) {
  if (!logo) return null
  const image = <img src={logo} alt="" {...sizeOf(logo)} />
  if (!logoDark || logoDark === logo) return image
  return (
    <picture>
      <source srcset={logoDark} media="(prefers-color-scheme: dark)" {...sizeOf(logoDark)} />
      {image}
    </picture>
  )
}
