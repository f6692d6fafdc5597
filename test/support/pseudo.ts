import { catalogues } from '../../src/core/catalogue.js'
import { LANGUAGES } from '../../src/core/language.js'

/** A language that nobody speaks: right to left, each text longer and in brackets, so that a test sees what is ours. */
export const PSEUDO = 'ar-XB'

const OPEN = '⟦'
const CLOSE = '⟧'
const INNERMOST = new RegExp(`${OPEN}[^${OPEN}${CLOSE}]*${CLOSE}`, 'g')

/** German and Finnish are about this much longer than English. */
const MORE = 0.4

const pseudo = (text: string): string => `${OPEN}${text} ${'~'.repeat(Math.ceil(text.length * MORE))}${CLOSE}`

/** Adds the language to those of this process. */
export function addPseudoLanguage(): void {
  const english = catalogues.get('en')
  if (!english) throw new Error('There is no English.')
  const entries = Object.entries(english).map(([key, entry]) => [
    key,
    typeof entry === 'string'
      ? pseudo(entry)
      : Object.fromEntries(Object.entries(entry).map(([form, text]) => [form, pseudo(text)])),
  ])
  catalogues.set(PSEUDO, Object.fromEntries(entries) as typeof english)
  LANGUAGES.push(PSEUDO)
}

/** What is left of a text without what comes from the catalogue. */
export function withoutCatalogue(text: string): string {
  const rest = text.replaceAll(INNERMOST, ' ')
  return rest === text ? text.trim() : withoutCatalogue(rest)
}
