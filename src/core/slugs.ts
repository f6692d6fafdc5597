export const SLUG_MAX = 50
const POST_SLUG_MAX = 150
/** The length of the id at the end of a post's slug. */
export const SLUG_ID = 20

/**
 * A lower-case slug, or '' if the text contains no letter or digit. Latin, Cyrillic, Arabic and similar scripts are
 * transliterated. Scripts that cannot be (Chinese, Hindi) keep their own letters.
 */
export async function slugOf(text: string): Promise<string> {
  // Its tables take 10 ms to load, and only writes need them.
  const { default: slugify } = await import('@sindresorhus/slugify')
  return shorten(slugify(text, { decamelize: false }) || inOwnScript(text), SLUG_MAX)
}

/** The slug of a post: the title in its own script, and a unique id that never changes. */
export const postSlug = (title: string, slugId: string): string =>
  [slugStart(title), slugId].filter((part) => part !== '').join('-')

/** The start of the slugs of posts with this title, or with a title that starts so. */
const slugStart = (title: string): string => shorten(inOwnScript(title), POST_SLUG_MAX - SLUG_ID - 1)

/** The id at the end of a post's slug. A link finds its post by this id, even after the title has changed. */
export const slugIdOf = (slug: string): string | undefined => /(?:^|-)([0-9a-z]{20})$/.exec(slug)?.[1]

/** The slug with a suffix, shortened to SLUG_MAX. */
export const withSuffix = (slug: string, suffix: string): string =>
  `${shorten(slug, SLUG_MAX - suffix.length - 1)}-${suffix}`

/** Letters, marks and digits of any script. slugify would split words of Indian scripts at the marks. */
const inOwnScript = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/['’]/g, '')
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')

const shorten = (slug: string, length: number): string => [...slug].slice(0, length).join('').replace(/-+$/, '')
