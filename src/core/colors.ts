/** The accent colour of a new site. `site.css` has the colours that `accentOf` returns for it. */
export const DEFAULT_ACCENT = '2f6fed'

/** Relative luminance of a colour of six hexadecimal digits, from 0 to 1, as WCAG 2 defines it. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [0, 2, 4].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

const contrast = (one: string, other: string): number => {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

const mixed = (hex: string, into: string, share: number): string =>
  [0, 2, 4]
    .map((at) => {
      const [from, to] = [hex, into].map((each) => Number.parseInt(each.slice(at, at + 2), 16)) as [number, number]
      return Math.round(from + (to - from) * share)
        .toString(16)
        .padStart(2, '0')
    })
    .join('')

/** The colour nearest to this one that can be read on a background: at least 4.5 to 1. */
function readableOn(hex: string, background: string): string {
  const towards = luminance(background) > 0.18 ? '000000' : 'ffffff'
  for (let share = 0; share < 1; share += 0.05) {
    const color = mixed(hex, towards, share)
    if (contrast(color, background) >= 4.5) return color
  }
  return towards
}

/** The lightest surface that text stands on in light pages, and the lightest in dark ones. */
const LIGHT_SURFACE = 'f6f7f9'
const DARK_SURFACE = '262b33'

/** The accent of a site that has none. */
const ACCENT = '1f5fd6'

/** Colours derived from the accent: readable text for light and dark pages, and buttons filled with it. */
export function accentOf(hex: string | null | undefined) {
  const fill = isColor(hex) ? hex.toLowerCase() : ACCENT
  return {
    light: readableOn(fill, LIGHT_SURFACE),
    dark: readableOn(fill, DARK_SURFACE),
    fill,
    onFill: contrast(fill, 'ffffff') >= 4.5 ? 'ffffff' : '000000',
  }
}

export const isColor = (hex: string | null | undefined): hex is string => /^[0-9a-f]{6}$/i.test(hex ?? '')
