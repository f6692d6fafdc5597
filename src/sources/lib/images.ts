import { MAX_IMAGE_BYTES } from '../../core/images/types.js'
import type { SourceRecord } from '../source.js'
import type { Archive } from './archive.js'
import { given } from './values.js'

/** The images in an archive. Each is yielded once, before the first text that shows it. */
export class ArchivedImages {
  readonly #archive: Archive
  readonly #folder: string
  readonly #came = new Map<string, boolean>()

  constructor(archive: Archive, folder: string) {
    this.#archive = archive
    this.#folder = folder
  }

  /** Yields records for the images that were not yielded before. */
  async *records(names: Iterable<string>, author: unknown): AsyncGenerator<SourceRecord> {
    for (const name of names) {
      if (this.#came.has(name)) continue
      const entry = `${this.#folder}/${name}`
      const isThere = this.#archive.has(entry) && name !== '' && name.length <= 255
      this.#came.set(name, isThere)
      if (!isThere) continue
      // One byte past the limit, so that the import refuses a larger image as too large
      const bytes = await this.#archive.firstBytes(entry, MAX_IMAGE_BYTES + 1)
      const data = (bytes ?? Buffer.alloc(0)).toString('base64')
      yield { type: 'image', sourceId: name, data: data === '' ? UNREADABLE : data, ...given('author', author) }
    }
  }

  /** Markdown of an image, or only its description if the archive does not have it. */
  shown(alt: string, name: string): string {
    const words = describing(alt)
    return this.#came.get(name) === true ? referenceTo(words, name) : words
  }

  /** Markdown of a missing image, for a text that has nothing else. The import refuses such a text, and so counts it. */
  lost(name: string): string {
    return referenceTo('', name.slice(0, MOST_OF_LOST))
  }

  /** Number of images in texts that the archive does not have. */
  get missing(): number {
    return [...this.#came.values()].filter((isThere) => !isThere).length
  }

  /** Number of files in the folder that no imported text shows. */
  get unused(): number {
    const there = this.#archive.names.filter((name) => name.startsWith(`${this.#folder}/`) && !name.endsWith('/'))
    return there.filter((name) => this.#came.get(name.slice(this.#folder.length + 1)) !== true).length
  }
}

/** A description of an image as Markdown has it: in one line, without brackets. */
export const describing = (alt: string): string => alt.replaceAll(/[[\]\s]+/g, ' ').trim()

/** Maximum length of the name of a missing image, in characters. */
const MOST_OF_LOST = 80

/** Stands for a file that cannot be unpacked. The import refuses it. */
const UNREADABLE = Buffer.from('-').toString('base64')

/** Markdown of an image that the import has or lists as missing. */
export const referenceTo = (words: string, name: string): string => `![${words}](import-image:${encoded(name)})`

const encoded = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(/[()!*']/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)
