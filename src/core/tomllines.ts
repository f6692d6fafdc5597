/**
 * The line that sets a key, as `site.url` or `contexts.staging.server`; undefined where none does in the usual form. The
 * parser tells no places.
 */
export function lineOfKey(text: string, key: string): number | undefined {
  let table = ''
  for (const [index, line] of text.split('\n').entries()) {
    const [, header] = /^\s*\[([^[\]]+)\]\s*(?:#.*)?$/.exec(line) ?? []
    if (header !== undefined) table = `${named(header)}.`
    const [, name] = /^\s*([^=#[]+?)\s*=/.exec(line) ?? []
    if (name === undefined) continue
    const full = table + named(name)
    if (full === key || key.startsWith(`${full}.`)) return index + 1 // an inline table has the rest
  }
  return undefined
}

/** A dotted key without quotation marks and spaces. */
const named = (key: string): string => key.replaceAll(/["'\s]/g, '')

export type Table = Record<string, unknown>

export const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
