import type { Settings } from '../../service/settings.js'

/** The logo beside the title, which says the same. In dark mode it may be another one. */
export function Logo({ settings: { logo, logoDark } }: { settings: Pick<Settings, 'logo' | 'logoDark'> }) {
  if (!logo) return null
  const image = <img src={logo} alt="" height={28} />
  if (!logoDark || logoDark === logo) return image
  return (
    <picture>
      <source srcset={logoDark} media="(prefers-color-scheme: dark)" />
      {image}
    </picture>
  )
}
