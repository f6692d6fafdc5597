import type { Given } from './source.js'
import { describing, referenceTo } from './lib/images.js'

interface Status {
  name: string
  kind: 'active' | 'done' | 'declined' | 'planned'
}

/** The numbers of Fider for what became of a post. 0 is open, 5 a duplicate, 6 deleted. */
export const STATUSES: Readonly<Record<number, Status>> = {
  1: { name: 'Started', kind: 'active' },
  2: { name: 'Completed', kind: 'done' },
  3: { name: 'Declined', kind: 'declined' },
  4: { name: 'Planned', kind: 'planned' },
}

/** The same by the word of its API. */
export function statusNamed(word: string): (Status & { number: number }) | undefined {
  const [number, status] = Object.entries(STATUSES).find(([, { name }]) => name.toLowerCase() === word) ?? []
  return status && { ...status, number: Number(number) }
}

/** Markdown of an image in a Fider text, with the name of its file. */
export const IMAGE = /!\[([^\][]{0,200})\]\(fider-image:([^)]{0,300})\)/g

/** Maximum length of the name of an image, in characters. */
const MOST_OF_NAME = 80

/** Texts from a file that has no images. Their images become references, which the import lists as missing. */
export class TextsAlone {
  readonly #names = new Set<string>()

  plain(text: string): string {
    return plainText(text, (alt, given) => {
      const name = given.slice(0, MOST_OF_NAME)
      if (name !== '') this.#names.add(name)
      return name === '' ? describing(alt) : referenceTo(describing(alt), name)
    })
  }

  /** Says how many images there are. */
  tell(note: Given['note']): void {
    if (this.#names.size > 0) note(`Images that texts show, but only the backup of Fider has: ${this.#names.size}.`)
  }
}

/** Turns mentions into text, and images into what `image` returns. */
export const plainText = (text: string, image: (alt: string, name: string) => string): string =>
  text
    .replaceAll(/@\{[^{}]{0,500}?"name"\s*:\s*"([^"]{1,100})"[^{}]{0,500}\}/g, '@$1')
    .replaceAll(IMAGE, (_all, alt: string, name: string) => image(alt, name.trim()))
