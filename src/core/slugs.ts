/** How long a slug may be, in characters. */
export const SLUG_MAX = 50
const POST_SLUG_MAX = 150
/** How many letters and digits the id at the end of a post's slug has. */
export const SLUG_ID = 20

/**
 * A lower-case slug of a text, or '' when it holds neither letter nor digit. Latin, Cyrillic, Arabic and the like are
 * transliterated; a text in a script that cannot be (Chinese, Hindi) keeps its own letters.
 */
export async function slugOf(text: string): Promise<string> {
  const { default: slugify } = await import('@sindresorhus/slugify') // its tables take 10 ms to load, and no reading command needs them
  return shorten(slugify(text, { decamelize: false }) || inOwnScript(text), SLUG_MAX)
}

/** The slug of a post: its title in its own script, then the id that makes it unique and never changes. */
export const postSlug = (title: string, slugId: string): string =>
  [slugStart(title), slugId].filter((part) => part !== '').join('-')

/** What the slugs of posts with this title start with; of a part of it, as far as that goes. */
export const slugStart = (title: string): string => shorten(inOwnScript(title), POST_SLUG_MAX - SLUG_ID - 1)

/** The id at the end of a post's slug, by which it is found whatever its title was when the link was made. */
export const slugIdOf = (slug: string): string | undefined => /(?:^|-)([0-9a-z]{20})$/.exec(slug)?.[1]

/** The slug with a suffix, still within bounds. */
export const withSuffix = (slug: string, suffix: string): string =>
  `${shorten(slug, SLUG_MAX - suffix.length - 1)}-${suffix}`

/** Letters with their marks and digits, of any script; slugify takes words of Indian scripts apart at the marks. */
const inOwnScript = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/['’]/g, '')
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')

const shorten = (slug: string, length: number): string => [...slug].slice(0, length).join('').replace(/-+$/, '')
