/** The languages of pages and mails, by their code of BCP 47. The first is the default of the setting site.language. */
export const LANGUAGES: [string, ...string[]] = ['en', 'de', 'es', 'fr', 'pt', 'ja', 'ar']

/** No language of an account: pages are in that of the browser, mails in that of the site. */
export const AUTO = 'auto'

export const isLanguage = (code: string): boolean => LANGUAGES.includes(code)

const names = new Map<string, string>()

/** The name of a language in that language. */
export function languageName(code: string): string {
  let name = names.get(code)
  if (name === undefined) names.set(code, (name = new Intl.DisplayNames([code], { type: 'language' }).of(code) ?? code))
  return name
}

const chosen = new Map<string, string>()
const MAX_CHOSEN = 1000
/** Longer headers are read anew each time. Browsers send less. */
const MAX_REMEMBERED = 200

/** The best of our languages for the header Accept-Language, or `other` where it asks for none of them. */
export function languageFor(header: string | undefined, other = LANGUAGES[0]): string {
  if (header === undefined) return other
  if (header.length > MAX_REMEMBERED) return choose(header) ?? other
  let found = chosen.get(header)
  if (found === undefined) {
    if (chosen.size >= MAX_CHOSEN) chosen.clear()
    chosen.set(header, (found = choose(header) ?? NONE))
  }
  return found === NONE ? other : found
}

const NONE = ''

function choose(header: string): string | undefined {
  const asked = header
    .slice(0, 500)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.split(';').map((each) => each.trim())
      const quality = Number(parameters.find((each) => each.startsWith('q='))?.slice(2) ?? 1)
      return { tag: tag.toLowerCase(), quality: Number.isNaN(quality) ? 0 : quality }
    })
    .filter(({ quality }) => quality > 0)
    .toSorted((one, other) => other.quality - one.quality)
  for (const { tag } of asked) {
    const ours = LANGUAGES.find((code) => code.toLowerCase() === tag) ?? LANGUAGES.find((code) => code === tag.split('-')[0]) // prettier-ignore
    if (ours !== undefined) return ours
  }
  return undefined
}
