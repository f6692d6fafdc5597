import { AppError, type ErrorCode } from '../../core/errors.js'
import { invalidField } from '../../core/fields.js'
import { isId, randomWord } from '../../core/ids.js'
import { slugOf, withSuffix } from '../../core/slugs.js'

/** The noun whose urls are made: boards and roadmaps have theirs by the same rules. */
export interface Urls {
  /** What it is called; also the url of a name without a letter. */
  noun: string
  /** Words that are routes of the API beside `/boards/:url`. */
  reserved: ReadonlySet<string>
  /** The item code of a url that is none. */
  missing: string
  exists: ErrorCode
}

/** No url may look like a route, or like the id of another row. */
export const isReserved = ({ reserved }: Urls, slug: string): boolean => reserved.has(slug) || isId(slug)

/** The slug of a name: to be inserted as it is, and with a short suffix only when it is taken. */
export async function slugOfName(urls: Urls, name: string): Promise<string> {
  const slug = (await slugOf(name)) || urls.noun
  return isReserved(urls, slug) ? withSuffix(slug, randomWord(4)) : slug
}

/** Inserts with the slug, or with a suffix while another row has it. */
export async function insertWithFreeUrl<T>(slug: string, insert: (url: string) => Promise<T | undefined>): Promise<T> {
  let url = slug
  for (;;) {
    const row = await insert(url)
    if (row) return row
    url = withSuffix(slug, randomWord(4))
  }
}

/** The slug of a url that somebody chose; refused if nothing is left of it, or if it is reserved. */
export async function slugFrom(urls: Urls, text: string): Promise<string> {
  const slug = await slugOf(text)
  const rule = 'text with a letter or a digit'
  if (slug === '')
    throw invalidField({
      code: urls.missing,
      message: `url must be ${rule}; ${JSON.stringify(text)} is not.`,
      field: 'url',
      rule,
      value: text,
    })
  if (isReserved(urls, slug)) throw new AppError(urls.exists, `The url "${slug}" belongs to the API. Choose another.`)
  return slug
}

/** The error that says which row has the url, where whoever asks may know that row. */
export function urlTaken(
  { noun, exists }: Urls,
  slug: string,
  holder: { name: string; since: string } | undefined,
): AppError {
  const why = holder && `${noun} "${holder.name}" has had it since ${holder.since.slice(0, 10)}`
  return new AppError(exists, `The url "${slug}" is taken. Choose another.`, { why })
}
