import ar from './catalogue/ar.json' with { type: 'json' }
import de from './catalogue/de.json' with { type: 'json' }
import en from './catalogue/en.json' with { type: 'json' }
import es from './catalogue/es.json' with { type: 'json' }
import fr from './catalogue/fr.json' with { type: 'json' }
import ja from './catalogue/ja.json' with { type: 'json' }
import pt from './catalogue/pt.json' with { type: 'json' }
import { LANGUAGES } from './language.js'

/** A text with `{placeholders}`, or one for each plural form of `{count}`. */
type Entry = string | Partial<Record<Intl.LDMLPluralRule, string>>

export type Key = keyof typeof en
type Catalogue = Record<Key, Entry>

/** The texts of each of `LANGUAGES`. */
export const catalogues = new Map<string, Catalogue>([
  ['en', en],
  ['de', de],
  ['es', es],
  ['fr', fr],
  ['pt', pt],
  ['ja', ja],
  ['ar', ar],
])

/** The texts of one language, and its forms of dates and numbers. */
export interface Words {
  /** The code of BCP 47. */
  language: string
  direction: 'ltr' | 'rtl'
  t(this: void, key: Key, values?: Values): string
  has(this: void, key: string): key is Key
  /** A day, as people write it. `iso` is a time of the API. */
  date(this: void, iso: string): string
  /** A day and the time of day. */
  time(this: void, iso: string): string
  number(this: void, value: number): string
  /** The size of a file, such as `5 MB`, or `5 Mo` in French. */
  size(this: void, bytes: number): string
  /** Short parts, with what the language puts between them. */
  list(parts: readonly string[]): string
  /** A label and its value, such as `Board: Ideas`. */
  labelled(label: string, value: string): string
  /** A count where there is little room: `10K` from ten thousand on. */
  compact(this: void, value: number): string
}

type Values = Record<string, string | number>

const known = new Map<string, Words>()

/** The texts of a language; those of the first where there are none. */
export function wordsOf(asked: string): Words {
  const language = catalogues.has(asked) ? asked : LANGUAGES[0]
  let words = known.get(language)
  if (!words) known.set(language, (words = read(language)))
  return words
}

function read(language: string): Words {
  const catalogue = catalogues.get(language) ?? en
  const locale = `${language}-u-nu-latn` // scripts of the pages count in these digits
  const plurals = new Intl.PluralRules(language)
  const numbers = new Intl.NumberFormat(locale)
  const compact = new Intl.NumberFormat(locale, { notation: 'compact' })
  const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
  const lists = new Intl.ListFormat(locale, { type: 'unit', style: 'short' })
  const times = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
  const shown = (value: string | number = '') => (typeof value === 'number' ? numbers.format(value) : value)
  const t: Words['t'] = (key, values = {}) => {
    const entry = catalogue[key]
    const text = typeof entry === 'string' ? entry : pluralOf(entry, plurals.select(Number(values.count)))
    return text.includes('{') ? text.replaceAll(/\{(\w+)\}/g, (_, name: string) => shown(values[name])) : text
  }
  return {
    language,
    direction: RIGHT_TO_LEFT.test(language) ? 'rtl' : 'ltr',
    t,
    has: (key): key is Key => Object.hasOwn(catalogue, key),
    date: (iso) => dates.format(new Date(iso)),
    time: (iso) => `${times.format(new Date(iso))} UTC`,
    list: (parts) => lists.format(parts),
    labelled: (label, value) => t('layout.labelled', { label, value }),
    number: (value) => numbers.format(value),
    size: (bytes) => {
      const [unit, one] = UNITS.find(([, least]) => bytes >= least) ?? SMALLEST
      const style = { style: 'unit', unit, maximumFractionDigits: 1 } as const
      return new Intl.NumberFormat(locale, style).format(bytes / one)
    },
    compact: (value) => (value < MIN_COMPACT ? numbers : compact).format(value),
  }
}

const SMALLEST = ['kilobyte', 1e3] as const
const UNITS = [['gigabyte', 1e9], ['megabyte', 1e6], SMALLEST] as const // prettier-ignore

/** Up to here each vote is seen in the number. */
const MIN_COMPACT = 10_000

const pluralOf = (forms: Exclude<Entry, string>, form: Intl.LDMLPluralRule): string => forms[form] ?? forms.other ?? ''

const RIGHT_TO_LEFT = /^(ar|dv|fa|he|ku|ps|ug|ur|yi)\b/
