/**
 * The key that names are searched by. Ignores case, compatibility forms, and symbols before the first letter or digit,
 * so that "mob" finds "📱 Mobile app". A name without letters or digits is unchanged.
 */
export function searchKey(text: string): string {
  const key = folded(text)
  return key.replace(/^[^\p{L}\p{N}]+(?=.)/u, '') || key
}

/** The text in lower case and in its NFKC form. Unlike `searchKey`, it keeps symbols at the start. */
export const folded = (text: string): string => text.normalize('NFKC').toLowerCase()

/** What can control a terminal or reorder its text: control characters, direction marks, separators of lines. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

/** Replaces control characters and direction marks by spaces, so that untrusted text cannot control a terminal. */
export const printable = (text: string): string => text.replaceAll(CONTROLS, ' ')

/** The same, and joins the lines. */
export const printableLine = (text: string): string => printable(text).replaceAll(/\s+/g, ' ').trim()

/** The same as `printable`, but keeps line breaks. */
export const printableLines = (text: string): string => text.split(/\r?\n/).map(printable).join('\n')

/** Replaces control characters and direction marks by their escapes in JSON: in JSON text it is the same data. */
export const escaped = (text: string): string =>
  text.replaceAll(CONTROLS, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Formats a count: `1 post`, `2 posts`. */
export const counted = (count: number | string, noun: string): string =>
  `${count} ${noun}${Number(count) === 1 ? '' : 's'}`

/** What there is, without what there is none of: `2 posts and 1 vote`. Empty where there is nothing. */
export const listed = (counts: Readonly<Record<string, number | string>>, uncounted: readonly string[] = []): string =>
  new Intl.ListFormat('en').format([
    ...uncounted,
    ...Object.entries(counts).flatMap(([noun, count]) => (Number(count) === 0 ? [] : [counted(count, noun)])),
  ])

/** Untrusted text in quotation marks, for a message. At most 100 characters. */
export const quoted = (text: string): string => JSON.stringify(text.slice(0, 100).toWellFormed())

/**
 * Returns text on one line, without invisible characters. Control characters and line separators become a space.
 * Direction marks and zero-width characters are removed. A zero-width joiner stays after a letter, mark, digit or emoji,
 * because many scripts and emoji need it. Text of which nothing can be seen is empty.
 */
export function plainText(text: string): string {
  const plain = text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll(/[\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu, '')
    .replaceAll(/(?<![\p{L}\p{M}\p{N}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200c\u200d]+/gu, '')
  return SEEN.test(plain) ? plain : ''
}

/**
 * Text without control characters other than tabs and line breaks: they show nothing, and each is six bytes in JSON. Word
 * writes a line break as a vertical tab, so that one, a form feed and a C1 line break stay line breaks.
 */
export const withoutControls = (text: string): string =>
  text.replaceAll(/[\v\f\u0085]/g, '\n').replaceAll(/[^\P{Cc}\t\n\r]+/gu, '')

/** A character that shows something: fillers and the empty Braille pattern do not. */
const SEEN = /[^\s\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/u

/** Bytes as people say them: 1.2 MB. */
export function sizeText(bytes: number): string {
  const power = Math.min(4, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  return power === 0 ? `${bytes} B` : `${(bytes / 1000 ** power).toFixed(1)} ${' kMGT'[power]}B`
}

/**
 * A copy for what outlives the string that it was cut from, such as a key of a cache: V8 makes a slice by pointing into
 * that string, and so keeps all of it in memory.
 */
export const detached = (slice: string): string => Buffer.from(slice).toString()

/** A stored text as its author wrote it: the `<` of HTML is stored escaped. Saved again it is escaped again. */
export const unescaped = (text: string): string => text.replaceAll('&lt;', '<')
