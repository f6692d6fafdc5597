/** An escape in CSS, which stands for any character: `\75rl(` is `url(`. At the end of a line it stands for nothing. */
const ESCAPE = /\\(?:([0-9a-f]{1,6})\s?|\n|([^]))/giu

const unescaped = (css: string): string =>
  css.replaceAll(ESCAPE, (_, hex?: string, character?: string) => {
    if (hex === undefined) return character ?? ''
    const code = Number.parseInt(hex, 16)
    return code > 0x10_ff_ff ? '' : String.fromCodePoint(code)
  })

/** What loads something by an address, or may in some browser. `url()` may have what is in the page or the text itself. */
const LOADING = /@import|(?:image-set|image|src)\(|url\((?!\s*["']?(?:data:image\/|#))|expression\(|<\/style/i

export const STYLE_RULE = 'CSS that loads nothing: no @import or image-set(), and url() with data:image/… or #… only'

/** The first part of CSS that could load something from another host, as it is after escapes; undefined for none. */
export function loadingIn(css: string): string | undefined {
  const plain = unescaped(css)
  const at = plain.search(LOADING)
  return at < 0 ? undefined : plain.slice(at, at + 60).toWellFormed()
}
