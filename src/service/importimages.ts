import { AppError } from '../core/errors.js'
import { invalidField } from '../core/fields.js'
import { imageAt } from '../core/images/address.js'
import { encodeImage, isPassing, type Encoded } from '../core/images/encoding.js'
import { newId, randomWord } from '../core/ids.js'
import { imagesAmong, insertImage } from '../db/images.js'
import { toImage } from './images.js'
import type { Context } from './lib/context.js'
import { PRETENDED, pretended, type Known } from './lib/importedrows.js'
import type { Fields } from './lib/importrecords.js'

/** Markdown of an image that the import brings, with its sourceId. */
const REFERENCE = /!\[([^\][]{0,200})\]\(import-image:([^()\s]{1,800})\)/g
/** Markdown of an image at an address. */
const LINK = /!\[[^\][]{0,500}\]\(<?(https?:\/\/[^\s<>()]{1,2000})/gi
/** Maximum number of images in one text, as for texts written here. */
const MOST_IN_TEXT = 50
/** Ids in one query. */
const MOST_IDS = 2000
/** How often an image waits while uploads keep the decoder busy, up to ten seconds each time. */
const TRIES = 30

/** Decodes and stores the images of an import. Decoding is slow, so it happens before the transaction. */
export class ImportedImages {
  readonly #known: Known
  readonly #owner = randomWord(20)
  #made = new Map<string, Encoded | AppError>()
  /** Those that are refused for what they are: no later import brings them. */
  readonly #refused = new Set<string>()

  constructor(known: Known) {
    this.#known = known
  }

  /** Decodes the images that are not imported yet. Call it outside a transaction. */
  async prepare(ctx: Context, images: readonly Fields<'image'>[], mayGoOn: () => Promise<void>): Promise<void> {
    this.#made = new Map()
    const before = await this.present(ctx, images.map(({ sourceId }) => sourceId)) // prettier-ignore
    for (const { sourceId, data } of images) {
      if (before.has(sourceId) || this.#made.has(sourceId)) continue
      await mayGoOn()
      const made = await this.#encoded(Buffer.from(data, 'base64'), mayGoOn)
      if (made instanceof AppError && !isPassing(made)) this.#refused.add(sourceId)
      this.#made.set(sourceId, made)
    }
  }

  /** The imported images that still exist. An image that no text shows is deleted after a day, and is then imported again. */
  async present(ctx: Context, ids: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.#known.rows(ctx, 'image', ids)
    const there = new Set((await imagesAmong(ctx.db, [...rows.values()])).map(({ imageId }) => imageId))
    return new Map([...rows].filter(([, imageId]) => there.has(imageId) || imageId.startsWith(PRETENDED)))
  }

  async #encoded(data: Buffer, mayGoOn: () => Promise<void>): Promise<Encoded | AppError> {
    for (let tries = 1; ; tries += 1)
      try {
        return await encodeImage(data, this.#owner)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        if (error.code === 'SERVER_BUSY' && tries < TRIES) {
          await mayGoOn()
          continue
        }
        if (error.code === 'SERVER_BUSY') throw error
        return error // the import goes on, also without sharp
      }
  }

  /** Stores a prepared image and returns its id. Throws the reason if the image was refused. */
  async store(ctx: Context, sourceId: string, userId: string | null): Promise<string> {
    const made = this.#made.get(sourceId)
    if (made === undefined) throw new Error('An image of an import was not prepared.')
    if (made instanceof AppError)
      throw isPassing(made) ? new AppError('IMAGE_REFUSED', `${made.message} Import again: the next import tries it again.`) : made // prettier-ignore
    if (ctx.dryRun) return pretended()
    const imageId = newId()
    // The present time, because an image that no text shows is deleted a day later
    const createdAt = ctx.now().toISOString()
    const image = { imageId, userId, mediaType: 'image/webp', ...made.about, bytes: made.bytes.length, createdAt }
    await insertImage(ctx.db, image, made.bytes)
    return imageId
  }

  /**
   * Replaces references in texts: by the stored image, or by the description if there is none. If `only` is given, images
   * that it lacks count as missing.
   */
  async shownIn(
    ctx: Context,
    texts: readonly (string | null | undefined)[],
  ): Promise<(text: string, only?: readonly string[]) => Shown> {
    const named = [...new Set(texts.flatMap((text) => referencesIn(text ?? '')))]
    const urls = new Map<string, { imageId: string; url: string }>()
    for (let at = 0; at < named.length; at += MOST_IDS) {
      const rows = await this.#known.rows(ctx, 'image', named.slice(at, at + MOST_IDS))
      const there = new Map((await imagesAmong(ctx.db, [...rows.values()])).map((image) => [image.imageId, image]))
      for (const [name, imageId] of rows) {
        const image = there.get(imageId)
        if (imageId.startsWith(PRETENDED)) urls.set(name, { imageId, url: 'import-image:new' })
        if (image) urls.set(name, { imageId, url: toImage(ctx, image).url })
      }
    }
    return (text, only) => {
      const imageIds = new Set<string>()
      const own = new Set(referencesIn(text))
      const written = text.replaceAll(REFERENCE, (_all, alt: string, reference: string) => {
        const name = nameOf(reference)
        const found = own.has(name) ? urls.get(name) : undefined
        if (!found || only?.includes(found.imageId) === false) return alt
        imageIds.add(found.imageId)
        return `![${alt}](${found.url})`
      })
      const missing = [...own].filter((name) => !urls.has(name) && !this.#refused.has(name))
      return { text: written, imageIds: [...imageIds], missing }
    }
  }
}

interface Shown {
  text: string
  /** The images of this site in it. */
  imageIds: readonly string[]
  /** The images that it lacks, and that a later import may bring. */
  missing: readonly string[]
}

function referencesIn(text: string): string[] {
  if (!text.includes('(import-image:')) return []
  const names = new Set(Array.from(text.matchAll(REFERENCE), ([, , reference = '']) => nameOf(reference)))
  return [...names].slice(0, MOST_IN_TEXT)
}

function nameOf(reference: string): string {
  try {
    return decodeURIComponent(reference)
  } catch {
    return reference
  }
}

/** The addresses of images on other hosts in a text. They stay links; nothing is fetched. */
export const linkedImagesIn = (text: string): string[] => [
  ...new Set(
    Array.from(text.matchAll(LINK), ([, url = '']) => url).filter((url) => imageAt(url.split(/[?#]/, 1)[0] ?? '') === undefined), // prettier-ignore
  ),
]

/** Throws VALIDATION_ERROR for what is not base64. */
export function assertBase64(data: string): void {
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data))
    throw invalidField({ code: 'INVALID_VALUE', message: 'data must be base64.', field: 'data', rule: 'base64' })
}

/** Counts images that imported texts name, by address or by the name of a missing one, and lists the first of them. */
export class NamedImages {
  #count = 0
  readonly #texts = new Set<string>() // a text may come twice in one file
  readonly #images: object[] = []
  readonly #key: 'url' | 'name'

  constructor(key: 'url' | 'name') {
    this.#key = key
  }

  add(type: string, sourceId: string, named: readonly string[]): void {
    const text = `${type} ${sourceId}`
    if (named.length === 0 || this.#texts.has(text)) return
    this.#texts.add(text)
    this.#count += named.length
    for (const each of named)
      if (this.#images.length < MOST_LINKS) this.#images.push({ type, sourceId, [this.#key]: each })
  }

  /** Undefined if there are none. */
  get told(): { count: number; images: readonly object[] } | undefined {
    return this.#count === 0 ? undefined : { count: this.#count, images: this.#images }
  }
}

/** Maximum number of listed images. */
const MOST_LINKS = 1000
