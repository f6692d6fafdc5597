/** How long a slug may be, in characters. */
export const SLUG_MAX = 50

/**
 * A lower-case slug of a text, or '' when it holds neither letter nor digit. Latin, Cyrillic, Arabic and the like are
 * transliterated; a text in a script that cannot be (Chinese, Japanese) keeps its own letters.
 */
export async function slugOf(text: string): Promise<string> {
  const { default: slugify } = await import('@sindresorhus/slugify') // its tables take 10 ms to load, and no reading command needs them
  const options = { decamelize: false }
  return shorten(slugify(text, options) || slugify(text, { ...options, transliterate: false }), SLUG_MAX)
}

/** The slug with a suffix, still within bounds. */
export const withSuffix = (slug: string, suffix: string): string => `${shorten(slug, SLUG_MAX - suffix.length - 1)}-${suffix}`

const shorten = (slug: string, length: number): string => [...slug].slice(0, length).join('').replace(/-+$/, '')
