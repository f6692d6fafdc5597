/** An object of JSON that another product wrote: anything may be in it. */
export type Json = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Text, or a number as text; '' for anything else. */
export const textIn = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''

export const objectIn = (value: unknown): Json => (isObject(value) ? value : {})
export const listIn = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : [])

export const countIn = (value: unknown): number => {
  const count = Number(typeof value === 'string' ? value.replaceAll(/[,.' ]/g, '') : value)
  return Number.isSafeInteger(count) && count > 0 ? count : 0
}

/** A field where the text is not empty. */
export const given = <Key extends string>(key: Key, value: unknown): Partial<Record<Key, string>> => {
  const text = textIn(value).trim()
  return text === '' ? {} : ({ [key]: text } as Record<Key, string>)
}
